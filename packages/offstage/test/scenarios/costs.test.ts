// What a run costs: on each step, on the result with its subagents, and for cost limits.
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { deadline } from "../../src/doors/criteria.ts";
import { Agent, AgentBuilder, type AgentOptions, AgentState, costLimit, memoryStore } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { payingAgent, payTo } from "../support/approval-cast.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echo, echoing } from "../support/cast.ts";

const usage = { inputTokens: 1000, outputTokens: 100 };
/** A call of `echo`, then an answer: 0.0045 US dollars each by the list price of Claude Sonnet 4.5. */
const script: readonly ScriptEntry[] = [
  { ...calls(echoing("a")), usage },
  { text: "Done.", usage },
];
const agentOf = (modelId: string, options: Partial<AgentOptions> = {}) =>
  new Agent({ model: scriptedModel(script, { modelId }), tools: [echo], ...options });

describe("the cost of a run", () => {
  bothWays("is the sum of its steps, by the list prices", async ({ play }) => {
    const { cost, steps } = await play(agentOf("anthropic/claude-sonnet-4.5"), "Go");
    expect(steps.map((step) => step.cost)).toEqual([0.0045, 0.0045]);
    expect(cost).toBe(0.009);
  });

  bothWays("counts cached and written tokens at their own prices", async ({ play }) => {
    const cached = { ...usage, cachedInputTokens: 600, cacheWriteTokens: 400 };
    const model = scriptedModel([{ text: "Done.", usage: cached }], { modelId: "claude-sonnet-4-5" });
    const { cost } = await play(new Agent({ model }), "Go");
    expect(cost).toBeCloseTo((600 * 0.3 + 400 * 3.75 + 100 * 15) / 1e6, 10);
  });

  bothWays("follows the prices of the agent, and the list prices for other models", async ({ play }) => {
    const prices = { "my-model": { input: 1, output: 10 } };
    expect((await play(agentOf("my-model-2", { prices }), "Go")).cost).toBe(0.004);
    expect((await play(agentOf("claude-sonnet-4-5", { prices }), "Go")).cost).toBe(0.009);
  });

  bothWays("is undefined if the model has no known price", async ({ play }) => {
    const result = await play(agentOf("unheard-of"), "Go");
    expect(result.cost).toBeUndefined();
    expect(result.steps.map((step) => "cost" in step)).toEqual([false, false]);
    expect(JSON.parse(JSON.stringify(result))).not.toHaveProperty("cost");
  });

  bothWays("is 0 if no model was called", async ({ play }) => {
    const { cost, steps } = await play(agentOf("unheard-of", { stopWhen: deadline(1) }), "Go");
    expect({ cost, steps }).toEqual({ cost: 0, steps: [] });
  });

  bothWays("is part of a failed run's result", async ({ fail }) => {
    const broken = [script[0] as ScriptEntry, new Error("no such model")];
    const model = scriptedModel(broken, { modelId: "claude-sonnet-4-5" });
    expect((await fail(new Agent({ model, tools: [echo] }), "Go")).result.cost).toBe(0.0045);
  });

  bothWays("is in the events, in JSON and in print", async ({ play, events, way }) => {
    const result = await play(agentOf("claude-sonnet-4-5"), "Go");
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({ cost: 0.009 });
    expect(inspect(result)).toContain("cost: 0.009");
    if (way === "run") return;
    const ends = events.filter(({ type }) => type === "step-end" || type === "run-end");
    expect(ends.map((event) => "result" in event && (event.result as { cost?: number }).cost)).toEqual([
      0.0045, 0.0045, 0.009,
    ]);
  });
});

describe("the cost of a run with a subagent", () => {
  const ask = { name: "helper", input: { prompt: "Help" } };
  const parentOf = (helper: Agent, options: Partial<AgentOptions> = {}) => {
    const model = scriptedModel(
      [
        { ...calls(ask), usage },
        { text: "Done.", usage },
      ],
      { modelId: "claude-sonnet-4-5" },
    );
    return new Agent({ model, tools: [helper.asTool()], ...options });
  };

  bothWays("includes the subagent, each model at its own price", async ({ play }) => {
    const result = await play(parentOf(agentOf("gpt-5-mini", { name: "helper" })), "Go");
    expect(result.children[0]?.cost).toBeCloseTo(0.0009, 10);
    expect(result.cost).toBeCloseTo(0.009 + 0.0009, 10);
    expect(result.steps.map((step) => step.cost)).toEqual([0.0045, 0.0045]);
  });

  bothWays("is undefined if the parent knows no price of the subagent's model", async ({ play }) => {
    const prices = { "my-model": { input: 1, output: 10 } };
    const helper = agentOf("my-model", { name: "helper", prices });
    const result = await play(parentOf(helper), "Go");
    expect(result.children[0]?.cost).toBe(0.004);
    expect(result.cost).toBeUndefined();
    const knowing = await play(parentOf(agentOf("my-model", { name: "helper" }), { prices }), "Go");
    expect(knowing.children[0]?.cost).toBeUndefined();
    expect(knowing.cost).toBeCloseTo(0.013, 10);
  });
});

describe("a cost limit", () => {
  const prices = { "my-model": { input: 1000, output: 10_000 } };

  bothWays("uses the prices of its agent", async ({ play }) => {
    const stopWhen = costLimit(1);
    expect((await play(agentOf("my-model", { stopWhen, prices }), "Go")).outcome.reason).toBe("cost-limit");
  });

  bothWays("fails a run whose model has no known price, and names the model", async ({ fail }) => {
    const error = await fail(agentOf("my-model", { stopWhen: costLimit(1) }), "Go");
    expect(error).toMatchObject({ code: "unpriced-model", message: expect.stringContaining('"my-model"') });
  });

  bothWays("of a parent fails a run whose subagent has no known price", async ({ play }) => {
    const child = new Agent({ name: "child", model: scriptedModel([{ text: "Hi.", usage }], { modelId: "odd" }) });
    const model = scriptedModel([calls({ name: "child", input: { prompt: "Go" } }), "Done."], { modelId: "gpt-5" });
    const failing = play(new Agent({ model, tools: [child.asTool()], stopWhen: costLimit(1) }), "Go");
    await expect(failing).rejects.toMatchObject({ code: "unpriced-model", message: expect.stringContaining('"odd"') });
  });

  bothWays("uses its own prices before those of its agent", async ({ play }) => {
    const stopWhen = costLimit(1, { prices: { "my-model": { input: 0, output: 0 } } });
    const { outcome, cost } = await play(agentOf("my-model", { stopWhen, prices }), "Go");
    expect({ reason: outcome.reason, cost }).toEqual({ reason: "answered", cost: 4 });
  });
});

describe("a resumed run", () => {
  const prices = { scripted: { input: 100, output: 1000 } };

  test("by its state has the cost of all its steps", async () => {
    const { agent } = payingAgent([calls(payTo("ann")), "Paid."], { prices });
    const waiting = await agent.run("Pay Ann");
    expect(waiting.cost).toBeCloseTo(0.006, 10);
    const state = AgentState.fromJSON(JSON.parse(JSON.stringify(waiting.state)));
    const { cost, steps } = await agent.resume(state, { approve: waiting.approvals });
    expect(cost).toBeCloseTo(0.012, 10);
    expect(steps.map((step) => step.cost)).toEqual([0.006, 0.006]);
  });

  test("by its id has the cost of all its steps", async () => {
    await using store = memoryStore();
    const { agent } = payingAgent([calls(echoing("a")), calls(payTo("ann")), "Paid."], { prices });
    const waiting = await agent.run("Pay Ann", { session: store.session("s") });
    const { cost, steps } = await agent.resume(waiting.runId, { store, approve: waiting.approvals });
    expect(cost).toBeCloseTo(0.018, 10);
    expect(steps.map((step) => step.cost)).toEqual([0.006, 0.006, 0.006]);
  });
});

test("the builder sets prices, and a later table replaces an earlier one", async () => {
  const builder = AgentBuilder.base()
    .withModel(scriptedModel(() => ({ text: "Done.", usage }), { modelId: "my-model" }))
    .withPrices({ "my-model": { input: 1, output: 10 } });
  expect((await builder.build().run("Go")).cost).toBe(0.002);
  expect(
    (
      await builder
        .withPrices({ "my-model": { input: 2, output: 20 } })
        .build()
        .run("Go")
    ).cost,
  ).toBe(0.004);
});
