// D4: totals are sums of parts. Numbers, lists, queries and exports include subagents, and agree with the results of runs.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent, memoryStore, type RunResult, type Store, sqliteStore, tool } from "../../src/index.ts";
import { compactor } from "../../src/memory/compaction/compactor.ts";
import { summarizeOlder } from "../../src/memory/compaction/strategies/index.ts";
import type { GroupNumbers } from "../../src/sessions/records/search/numbers.ts";
import { type ScriptedReply, scriptedModel } from "../../src/testing/index.ts";
import { fullOrFifth } from "../support/full-or-fifth.ts";

const prices = { small: { input: 1, output: 2, cachedInput: 0.5 }, large: { input: 10, output: 40 } };

/** An agent to run, and the subagents that it calls. */
interface Plan {
  readonly name: string;
  readonly model: string;
  readonly tokens: number;
  /** The calls of its first steps; true for one that fails. */
  readonly steps: readonly (readonly boolean[])[];
  readonly helpers: readonly Plan[];
  readonly ending: string;
}

const plan = (depth: number): fc.Arbitrary<Plan> =>
  fc.record({
    name: fc.constantFrom("desk", "guide", "scout"),
    model: fc.constantFrom("small", "small", "large", "large", "unpriced"),
    tokens: fc.integer({ min: 1, max: 4_000 }),
    steps: fc.array(fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }), { maxLength: 2 }),
    helpers: depth === 0 ? fc.constant([]) : fc.array(plan(depth - 1), { maxLength: 2 }),
    ending: fc.constantFrom("answer", "answer", "failure"),
  });
const turns = fc.array(
  fc.record({ session: fc.constantFrom("anna", "bert"), plan: plan(2), isCompacting: fc.boolean() }),
  {
    minLength: 1,
    maxLength: 6,
  },
);

const look = tool({ name: "look", execute: () => "seen" });
const broken = tool({ name: "broken", execute: () => Promise.reject(new Error("the pipe burst")) });

function agentOf({ name, model: modelId, tokens, steps, helpers, ending }: Plan, isCompacting = false): Agent {
  const usage = { inputTokens: tokens, outputTokens: tokens % 50, cachedInputTokens: tokens % 3 };
  const asked: ScriptedReply[] = steps.map((calls) => ({
    text: "I look.",
    toolCalls: calls.map((isFailing) => ({ name: isFailing ? "broken" : "look" })),
    usage,
  }));
  const helping = helpers.map((_, index) => ({ name: `helper_${index}`, input: { prompt: "help" } }));
  const replies = [
    ...asked,
    ...(helpers.length === 0 ? [] : [{ toolCalls: helping, usage }]),
    ending === "failure" ? new Error("The provider is down.") : { text: "Done.", usage },
  ];
  const summarizer = scriptedModel(() => ({ text: "Earlier.", usage: { inputTokens: 7, outputTokens: 3 } }), {
    modelId: "small",
  });
  const summarize = { threshold: 40, strategy: summarizeOlder({ summarize: summarizer }) };
  return new Agent({
    name,
    model: scriptedModel(replies, { modelId }),
    tools: [look, broken, ...helpers.map((helper, index) => agentOf(helper).asTool({ name: `helper_${index}` }))],
    prices,
    retry: { maxRetries: 0 },
    ...(isCompacting && { compaction: compactor(summarize) }),
  });
}

const stores: Record<string, () => Store> = {
  memory: () => memoryStore(),
  SQLite: () => sqliteStore({ path: ":memory:" }),
};
const near = (n: number | undefined): number => Math.round((n ?? Number.NaN) * 1e9);
const fields = ["runs", "failures", "inputTokens", "outputTokens", "totalTokens"] as const;

function total(groups: readonly GroupNumbers[], field: (typeof fields)[number] | "cost"): number {
  return groups.reduce((sum, group) => sum + group[field], 0);
}

/** A result with those of its subagents. */
function family(result: RunResult<unknown>): RunResult<unknown>[] {
  return [result, ...result.children.flatMap(family)];
}

async function checkRuns(store: Store, results: readonly RunResult<unknown>[]): Promise<void> {
  const listed = new Map((await store.runs.list({ subagents: true })).map((run) => [run.runId, run]));
  const all = results.flatMap(family);
  expect(listed.size).toBe(all.length);
  for (const { runId, usage, cost, steps, outcome } of all) {
    const run = listed.get(runId);
    const errors = steps.flatMap(({ toolResults }) => toolResults).filter(({ isError }) => isError).length;
    expect(run?.usage).toEqual(usage);
    expect(near(run?.cost)).toBe(near(cost));
    expect([run?.status, run?.stepCount, run?.errorCount]).toEqual([outcome.status, steps.length, errors]);
  }
}

async function checkNumbers(store: Store, results: readonly RunResult<unknown>[]): Promise<void> {
  const whole = await store.numbers();
  expect(total(whole, "runs")).toBe(results.flatMap(family).length);
  expect(total(whole, "totalTokens")).toBe(results.reduce((sum, { usage }) => sum + usage.totalTokens, 0));
  // A run with a model that has no price has no cost, but its parts have.
  if (results.every(({ cost }) => cost !== undefined))
    expect(near(total(whole, "cost"))).toBe(near(results.reduce((sum, { cost = 0 }) => sum + cost, 0)));
  const dimensions = ["day", "agent", "model", "session", "status"] as const;
  for (const by of [...dimensions, ["agent", "model"], ["session", "status"], ["day", "model", "status"]] as const) {
    const groups = await store.numbers({ by });
    for (const field of fields) expect(total(groups, field), `${field} by ${by}`).toBe(total(whole, field));
    expect(near(total(groups, "cost")), `cost by ${by}`).toBe(near(total(whole, "cost")));
  }
  const calls = results.flatMap(family).flatMap(({ steps }) => steps.flatMap(({ toolResults }) => toolResults));
  const byTool = await store.numbers({ by: "tool" });
  expect(byTool.reduce((sum, group) => sum + (group.calls ?? 0), 0)).toBe(calls.length);
  expect(total(byTool, "failures")).toBe(calls.filter(({ isError }) => isError).length);
}

async function checkQueries(store: Store, results: ReadonlyMap<string, readonly RunResult<unknown>[]>): Promise<void> {
  for (const [id, own] of results) {
    const query = await store.session(id).query();
    const stats = own.map(({ messages }) => messages.stats());
    expect(query.stats().totalMessages).toBe(stats.reduce((sum, each) => sum + each.totalMessages, 0));
    expect(query.stats().totalTokens).toBe(stats.reduce((sum, each) => sum + each.totalTokens, 0));
    const called = query.toolSummary().reduce((sum, each) => sum + each.callCount, 0);
    const made = own.flatMap(({ messages }) => messages.toolSummary()).reduce((sum, each) => sum + each.callCount, 0);
    expect(called).toBe(made);
    expect(query.runs()).toHaveLength(own.flatMap(family).length);
    expect(JSON.parse(query.export("json"))).toHaveLength(query.length);
    const found = await store.query({ session: id });
    expect(found.stats().totalTokens).toBe(query.stats().totalTokens);
    expect(found.runs().map(({ runId }) => runId)).toEqual(query.runs().map(({ runId }) => runId));
  }
}

for (const [name, open] of Object.entries(stores))
  test(`numbers, lists, queries and exports are the sums of all runs with their subagents, on ${name}`, async () => {
    const property = fc.asyncProperty(turns, async (played) => {
      await using store = open();
      const results = new Map<string, RunResult<unknown>[]>();
      for (const { session, plan: agent, isCompacting } of played) {
        const running = agentOf(agent, isCompacting).run("Question", { session: store.session(session) });
        const result = await running.catch((error) => error.result as RunResult<unknown>);
        results.set(session, [...(results.get(session) ?? []), result]);
      }
      const all = [...results.values()].flat();
      await checkRuns(store, all);
      await checkNumbers(store, all);
      await checkQueries(store, results);
    });
    await fc.assert(property, { numRuns: fullOrFifth(60) });
  }, 60_000);
