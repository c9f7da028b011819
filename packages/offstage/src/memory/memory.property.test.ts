// Properties of every list and every limit: fitting, memories and strategies.
import fc from "fast-check";
import { expect, test } from "vitest";
import { anyHistories, deepFrozen, validHistories } from "../../test/support/generated-histories.ts";
import { providerViolations } from "../../test/support/provider-violations.ts";
import { type Message, toolCallsOf } from "../messages/message.ts";
import { repairMessages } from "../messages/repair.ts";
import { tokenCounter } from "../tokens/token-counter.ts";
import type { AgentMemory } from "./agent-memory.ts";
import type { CompactionStrategy } from "./compaction/compaction-strategy.ts";
import { hybrid, importance, pruneToolResults, slidingWindow, summarizeOlder } from "./compaction/strategies/index.ts";
import type { Summarize } from "./compaction/summarize.ts";
import { contextText } from "./context-text.ts";
import { fitContext } from "./fit.ts";
import { ConversationMemory, HybridMemory, SlidingWindowMemory, SummaryMemory, VectorMemory } from "./kinds/index.ts";
import { blocksOf, questionOf, turnsOf } from "./turns.ts";

const counter = tokenCounter({ count: (text) => Math.ceil(text.length / 4) });
const summarize: Summarize = ({ messages, previous = "" }) => `${previous}${messages.length} more. `;
const limits = fc.nat(220);

// Messages with ids, some of them long, so that every limit cuts somewhere.
const histories = fc.tuple(validHistories, fc.array(fc.nat(30), { maxLength: 4 })).map(([list, long]) =>
  deepFrozen(
    list.map((message, index): Message => {
      const content =
        long.includes(index) && message.content ? `${message.content} ${"long ".repeat(60)}` : message.content;
      return { ...message, content, metadata: { id: `m${index}` } } as Message;
    }),
  ),
);

const kinds: Record<string, () => AgentMemory> = {
  ConversationMemory: () => new ConversationMemory({ tokenCounter: counter }),
  SlidingWindowMemory: () => new SlidingWindowMemory({ tokenCounter: counter, turns: 2 }),
  SummaryMemory: () => new SummaryMemory({ tokenCounter: counter, summarize }),
  HybridMemory: () => new HybridMemory({ tokenCounter: counter, summarize }),
  VectorMemory: () => new VectorMemory({ tokenCounter: counter }),
};

function expectShownOf(shown: readonly Message[], list: readonly Message[], limit: number): void {
  expect(counter.countMessages(shown)).toBeLessThanOrEqual(limit);
  expect(resultsOf(shown)).toEqual(shown.flatMap(toolCallsOf).map((call) => call.id));
  const places = shown.flatMap(({ metadata }) => (metadata?.isSummary ? [] : [Number(metadata?.id?.slice(1))]));
  expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
  const question = list[questionOf(list).start];
  if (question !== undefined && limit >= 60) expect(places).toContain(Number(question.metadata?.id?.slice(1)));
}

function resultsOf(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => (message.role === "tool" ? [message.tool_call_id] : []));
}

test.for(Object.entries(kinds))(
  "%s stays within the limit, keeps pairs, the newest turn and the order, and is deterministic",
  async ([, open]) => {
    await fc.assert(
      fc.asyncProperty(histories, fc.array(limits, { minLength: 1, maxLength: 3 }), async (list, asked) => {
        const [memory, twin] = [open(), open()];
        await memory.add(list);
        for (const message of list) await twin.add(message);
        for (const limit of asked) {
          const shown = await memory.getMessages("alpha", limit);
          expectShownOf(shown, list, limit);
          expect(await twin.getMessages("alpha", limit)).toEqual(shown);
          expect(counter.count(await memory.getContext("alpha", limit))).toBeLessThanOrEqual(limit);
        }
      }),
      { numRuns: 150 },
    );
  },
);

const strategies: readonly CompactionStrategy[] = [
  slidingWindow(),
  summarizeOlder({ summarize }),
  pruneToolResults({ keepBlocks: 1, resultTokens: 12 }),
  importance(),
  hybrid({ summarize, keepBlocks: 1, resultTokens: 12 }),
];

test.for(strategies)(
  "$name stays within the budget, and keeps pairs, the newest turn and the order",
  async ({ compact }) => {
    await fc.assert(
      fc.asyncProperty(histories, limits, async (history, budget) => {
        const list = history.filter(({ role }) => role !== "system");
        const input = { summary: [], messages: list, budget: budget + 120, counter };
        const { summary, messages } = await compact(input);
        expectShownOf([...summary, ...messages], list, budget + 120);
        const after = await compact({ ...input, summary, messages });
        expectShownOf([...after.summary, ...after.messages], list, budget + 120);
      }),
      { numRuns: 150 },
    );
  },
);

test("any list fits any limit, and the result can be repaired", () => {
  fc.assert(
    fc.property(anyHistories, limits, (given, limit) => {
      const list = given.filter((message) => isMessage(message));
      const shown = fitContext(list, { limit, counter });
      expect(counter.countMessages(shown)).toBeLessThanOrEqual(limit);
      expect(counter.count(contextText(list, { limit, counter }))).toBeLessThanOrEqual(limit);
      expect(providerViolations(repairMessages(shown))).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("turns and blocks divide a list completely, and no block separates a call from its result", () => {
  fc.assert(
    fc.property(validHistories, (list) => {
      for (const spans of [turnsOf(list), blocksOf(list)]) {
        expect(spans.flatMap(({ start, end }) => list.slice(start, end))).toEqual(list);
      }
      for (const { start, end } of blocksOf(list)) {
        const block = list.slice(start, end);
        expect(resultsOf(block)).toEqual(block.flatMap(toolCallsOf).map((call) => call.id));
      }
    }),
  );
});

// Messages that `parseMessage` accepts.
function isMessage(message: unknown): message is Message {
  const { role, content, tool_calls: calls } = (message ?? {}) as Record<string, unknown>;
  if (!["system", "user", "assistant", "tool"].includes(role as string)) return false;
  const isReadable =
    typeof content === "string" || (role === "assistant" && (content === null || content === undefined));
  const areCalls = Array.isArray(calls) && calls.every((call) => typeof call?.function?.arguments === "string");
  return isReadable && (calls === undefined || calls === null || areCalls);
}
