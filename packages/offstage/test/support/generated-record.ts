// Stores with generated runs: answers, tools that fail, subagents, approvals that wait, two days, two models with prices and one without.
import fc from "fast-check";
import { vi } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { Store } from "../../src/sessions/store.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { tool } from "../../src/tools/tool.ts";

const kinds = ["answer", "tools", "subagent", "waiting", "waiting-subagent", "failing", "added"] as const;

/** One turn of a generated store. */
export interface GeneratedTurn {
  readonly kind: (typeof kinds)[number];
  readonly session: string;
  readonly agent: string;
  readonly model: string;
  /** The calls of the first step; true for one that fails. */
  readonly calls: readonly boolean[];
  readonly text: string;
  readonly tokens: number;
}

const turn: fc.Arbitrary<GeneratedTurn> = fc.record({
  kind: fc.constantFrom(...kinds),
  session: fc.constantFrom("anna", "bert", "cleo"),
  agent: fc.constantFrom("desk", "guide"),
  model: fc.constantFrom("gpt-5-mini", "claude-sonnet-4-5", "unpriced"),
  calls: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }),
  text: fc.constantFrom("the refund of order 17", "a Refund, please", "nothing of the kind", "REFUNDED; 100% sure"),
  tokens: fc.integer({ min: 1, max: 5_000 }),
});

/** Turns of which each kind occurs at least once, half of them on a first day and half on a second. */
export const generatedTurns: fc.Arbitrary<readonly GeneratedTurn[]> = fc
  .tuple(fc.array(turn, { minLength: kinds.length, maxLength: kinds.length }), fc.array(turn, { maxLength: 6 }))
  .map(([first, more]) => [...first.map((each, index) => ({ ...each, kind: kinds[index] ?? each.kind })), ...more]);

const days = [Date.parse("2026-03-01T22:00:00.000Z"), Date.parse("2026-03-02T09:00:00.000Z")] as const;

/** Runs the turns on a store. Each model call and each tool takes some time on a clock of its own. */
export async function runTurns(store: Store, turns: readonly GeneratedTurn[]): Promise<void> {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    for (const [index, each] of turns.entries()) {
      vi.setSystemTime(days[index % 2 === 0 ? 0 : 1] + index * 60_000);
      await runTurn(store, each);
    }
  } finally {
    vi.useRealTimers();
  }
}

async function runTurn(store: Store, { kind, session: id, text, ...asked }: GeneratedTurn): Promise<void> {
  const session = store.session(id);
  if (kind === "added") return session.addItems([{ role: "user", content: `${text} (added)` }]);
  const run = agentOf({ kind, text, ...asked }).run(`Question: ${text}`, { session });
  if (kind === "failing") await run.catch(() => undefined);
  else await run;
}

function agentOf({ kind, agent: name, model: modelId, calls, text, tokens }: Omit<GeneratedTurn, "session">): Agent {
  const usage = { inputTokens: tokens, outputTokens: tokens % 100, cachedInputTokens: tokens % 7 };
  const look = tool({ name: "look", execute: () => later(text) });
  const fetchPage = tool({ name: "fetch_page", execute: () => Promise.reject(new Error(`no page: ${text}`)) });
  const pay = tool({ name: "pay", needsApproval: true, execute: () => "paid" });
  const prompt = { prompt: text };
  const scout = new Agent({
    name: "scout",
    model: scriptedModel([{ text: "I looked.", usage }], { modelId: "claude-sonnet-4-5" }),
  });
  const delegated = kind === "waiting-subagent" ? { name: "pay" } : { name: "scout", input: prompt };
  const helper = new Agent({
    name: "helper",
    model: scriptedModel(
      [
        { toolCalls: [{ name: "fetch_page" }, delegated], usage },
        { text: "No page.", usage },
      ],
      {
        modelId: "gpt-5-mini",
      },
    ),
    tools: [fetchPage, pay, scout.asTool()],
  });
  const toolCalls = calls.map((isFailing) => ({ name: isFailing ? "fetch_page" : "look", input: { text } }));
  const asking = { text: "I ask.", toolCalls: [...toolCalls, { name: "helper", input: prompt }], usage };
  const first = {
    answer: [],
    tools: [{ toolCalls, usage }],
    subagent: [asking],
    waiting: [{ toolCalls: [...toolCalls, { name: "pay" }], usage }],
    "waiting-subagent": [asking],
    failing: [{ toolCalls, usage }, new Error(`The provider is down: ${text}`)],
    added: [],
  }[kind];
  const model = scriptedModel([...first, { text: `Answer: ${text}`, usage }], { modelId });
  const tools = [look, fetchPage, pay, helper.asTool()];
  return new Agent({ name, instructions: `You are the ${name}.`, model, tools });
}

async function later(text: string): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, 1));
  vi.setSystemTime(Date.now() + 7);
  return text;
}
