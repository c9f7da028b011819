// Properties of every run: any strategy, any mixture of turns, tool loops and restarts.

import fc from "fast-check";
import { expect, test } from "vitest";
import { appended, buildLoopStep, flat, idsOf } from "../../../test/support/long-conversation.ts";
import { providerViolations } from "../../../test/support/provider-violations.ts";
import { assistant, user } from "../../messages/makers.ts";
import { Messages } from "../../messages/messages.ts";
import { repairMessages } from "../../messages/repair.ts";
import { ModelInput } from "../../models/model-input.ts";
import { promptMessages } from "../../models/prompt.ts";
import { AgentState } from "../../state/agent-state.ts";
import { tokenCounter } from "../../tokens/token-counter.ts";
import type { CompactionStrategy } from "./compaction-strategy.ts";
import { compactor } from "./compactor.ts";
import { hybrid, importance, pruneToolResults, slidingWindow, summarizeOlder } from "./strategies/index.ts";
import type { Summarize } from "./summarize.ts";

const counter = tokenCounter({ count: (text) => Math.ceil(text.length / 4) });

// Fails sometimes, always at the same places.
const summarize: Summarize = ({ messages, previous = "" }) => {
  if (messages.length % 7 === 3) throw new Error("no summary today");
  return `${previous}${messages.length} more. `;
};

const strategies: readonly CompactionStrategy[] = [
  slidingWindow(),
  summarizeOlder({ summarize }),
  pruneToolResults({ keepBlocks: 2, resultTokens: 15 }),
  importance(),
  hybrid({ summarize, keepBlocks: 2, resultTokens: 15 }),
];

const step = fc.record({ kind: fc.constant("step" as const), words: fc.integer({ min: 0, max: 120 }) });
const turn = fc.record({ kind: fc.constant("turn" as const), words: fc.integer({ min: 0, max: 60 }) });
const restart = fc.record({ kind: fc.constant("restart" as const), words: fc.constant(0) });
const runs = fc.array(
  fc.oneof({ weight: 5, arbitrary: step }, { weight: 3, arbitrary: turn }, { weight: 1, arbitrary: restart }),
  {
    minLength: 5,
    maxLength: 40,
  },
);

const through = <T>(value: T): T => (value === undefined ? value : JSON.parse(JSON.stringify(value)));

test.for(strategies)("$name: every model call is within the limit, valid, and has the question", async (strategy) => {
  await fc.assert(
    fc.asyncProperty(runs, fc.integer({ min: 300, max: 900 }), fc.boolean(), async (events, threshold, isSeparated) => {
      const open = (note?: unknown) => compactor({ threshold, strategy, onError: () => {} }).open({ counter, note });
      const section = isSeparated ? AgentState.EXECUTION_BUFFER_SECTION : AgentState.DEFAULT_SECTION;
      let state = AgentState.empty().withMessages([user("q", { metadata: { id: "q.first" } })]);
      let compaction = open();
      let input = new ModelInput();
      for (const [n, { kind, words }] of events.entries()) {
        if (kind === "step") state = appended(state, buildLoopStep(`${n}`, words), section);
        if (kind === "turn") {
          const answer = assistant("word ".repeat(words + 1), { metadata: { id: `${n}.answer` } });
          state = appended(state, [answer]).withUserMessage(user("q", { metadata: { id: `q.${n}` } }));
        }
        if (kind === "restart") {
          compaction = open(through(compaction.note));
          state = AgentState.fromJSON(through(state));
          input = new ModelInput();
        }
        const before = JSON.stringify(state);
        const view = await compaction.view(state);
        expect(JSON.stringify(state)).toBe(before);
        const shown = flat(view);
        expect(counter.countMessages(shown)).toBeLessThanOrEqual(threshold);
        expect(compaction.tokens).toBe(counter.countMessages(shown));
        expect(providerViolations(shown)).toEqual([]);
        expect(idsOf(shown)).toContain(idsOf(state.messages).findLast((id) => id.startsWith("q")));
        const last = [...state.messages, ...state.executionBuffer].at(-1);
        expect(idsOf(shown)).toContain(last?.metadata?.id);
        const prompt = input.promptOf([Messages.empty(), ...view.sections]);
        expect(promptMessages(prompt)).toHaveLength(repairMessages(shown).length);
      }
    }),
    { numRuns: 60 },
  );
});
