// A budget: what all runs of a store may cost in a day, whichever agent and session they belong to.
import { afterEach, describe, expect, test, vi } from "vitest";
import { budget } from "../../src/doors/costs.ts";
import { Agent, type AgentOptions, memoryStore } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { calls, echo, echoing } from "../support/cast.ts";
import { onStores } from "../support/session-kinds.ts";

/** One dollar for each model call. */
const usage = { inputTokens: 1_000_000, outputTokens: 0 };
const prices = { scripted: { input: 1, output: 0 } };

/** An agent that calls its tool twice, then answers. */
function agentOf(options: Partial<AgentOptions> = {}): Agent {
  const script = ({ messages }: { messages: readonly { role: string }[] }) => {
    const done = messages.length - messages.findLastIndex(({ role }) => role === "user") - 1;
    return done < 4 ? { ...calls(echoing("a")), usage } : { text: "Done.", usage };
  };
  return new Agent({ model: scriptedModel(script), tools: [echo], prices, toolHistory: "none", ...options });
}

afterEach(() => {
  vi.useRealTimers();
});

describe("a budget", () => {
  onStores("stops a run, and refuses the next one before its first step", async ({ play, session, store }) => {
    const agent = agentOf({ stopWhen: budget(store, { perDay: 5 }) });
    expect((await play(agent, "One", { session })).outcome).toMatchObject({ status: "completed" });
    const second = await play(agent, "Two", { session: store.session("other") });
    expect(second.outcome).toMatchObject({ status: "stopped", reason: "budget", criterion: "budget" });
    expect(second.steps).toHaveLength(2);
    const third = await play(agent, "Three", { session });
    expect(third).toMatchObject({ outcome: { reason: "budget" }, steps: [], cost: 0 });
    expect((await store.numbers())[0]?.cost).toBe(5);
  });

  onStores("is exceeded by less than one step", async ({ play, session, store }) => {
    const agent = agentOf({ stopWhen: budget(store, { perDay: 1.5 }) });
    expect((await play(agent, "One", { session })).steps).toHaveLength(2);
  });

  onStores("stops subagents, whose steps count at once", async ({ play, session, store }) => {
    const child = agentOf({ name: "child" });
    const script = [{ ...calls({ name: "child", input: { prompt: "Go" }, id: "c1" }), usage }, "Done."];
    const parent = new Agent({
      model: scriptedModel(script),
      tools: [child.asTool()],
      prices,
      stopWhen: budget(store, { perDay: 1 }),
    });
    const result = await play(parent, "Go", { session });
    expect(result.outcome.reason).toBe("budget");
    expect(result.children.map(({ steps, outcome }) => [steps.length, outcome.reason])).toEqual([[1, "budget"]]);
    expect(result.cost).toBe(2);
  });

  onStores("fails a run whose model has no known price", async ({ fail, session, store }) => {
    const agent = agentOf({ stopWhen: budget(store, { perDay: 5 }), prices: {} });
    expect(await fail(agent, "One", { session })).toMatchObject({ code: "unpriced-model" });
  });

  onStores("fails a run that its store does not record", async ({ fail, store }) => {
    const agent = agentOf({ stopWhen: budget(store, { perDay: 5 }) });
    for (const session of [undefined, memoryStore().session("s")]) {
      const error = await fail(agent, "One", { session });
      expect(error).toMatchObject({ code: "invalid-argument", message: expect.stringContaining("does not record it") });
    }
  });

  test("of one namespace is not used up by another", async () => {
    const store = memoryStore();
    const [a, b] = [store.namespace("a"), store.namespace("b")];
    const runIn = (tenant: typeof a) =>
      agentOf({ stopWhen: budget(tenant, { perDay: 3 }) }).run("Go", { session: tenant.session("s") });
    expect((await runIn(a)).outcome.reason).toBe("answered");
    expect((await runIn(a)).outcome.reason).toBe("budget");
    expect((await runIn(b)).outcome.reason).toBe("answered");
  });

  onStores("of one agent counts for each namespace of its store on its own", async ({ play, store }) => {
    const agent = agentOf({ stopWhen: budget(store, { perDay: 3 }) });
    const runIn = async (name: string, runId: string) => {
      const { outcome } = await play(agent, "Go", { session: store.namespace(name).session("s"), runId });
      return outcome.reason;
    };
    // Two tenants may even use the same run id.
    expect(await runIn("a", "r1")).toBe("answered");
    expect(await runIn("b", "r1")).toBe("answered");
    expect([await runIn("a", "r2"), await runIn("b", "r2")]).toEqual(["budget", "budget"]);
    expect((await store.namespace("b").numbers())[0]?.cost).toBe(3);
    expect(await store.numbers()).toEqual([]);
  });

  onStores("of a run that is resumed counts its namespace", async ({ store }) => {
    const tenant = store.namespace("a");
    const agent = agentOf({ stopWhen: budget(store, { perDay: 3 }) });
    const { runId } = await agent.run("Go", { session: tenant.session("s"), maxSteps: 1 });
    expect((await agent.resume(runId, { store: tenant })).outcome.reason).toBe("answered");
    expect((await agent.run("Go", { session: tenant.session("s") })).outcome.reason).toBe("budget");
  });

  test("begins anew at midnight UTC", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-03-01T23:59:00Z") });
    const store = memoryStore();
    const agent = agentOf({ stopWhen: budget(store, { perDay: 3 }) });
    const reasonNow = async () => (await agent.run("Go", { session: store.session("s") })).outcome.reason;
    expect([await reasonNow(), await reasonNow()]).toEqual(["answered", "budget"]);
    vi.setSystemTime(Date.parse("2026-03-02T00:00:01Z"));
    expect([await reasonNow(), await reasonNow()]).toEqual(["answered", "budget"]);
  });

  test("counts the steps after midnight of a run that began before it", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-03-01T23:59:00Z") });
    const store = memoryStore();
    const agent = new Agent({
      model: scriptedModel(() => ({ ...calls(echoing("a")), usage })),
      tools: [echo],
      prices,
      stopWhen: budget(store, { perDay: 3 }),
      hooks: { onStepEnd: ({ step }) => void (step === 1 && vi.setSystemTime(Date.parse("2026-03-02T00:00:01Z"))) },
    });
    const { outcome, steps } = await agent.run("Go", { session: store.session("s") });
    expect([outcome.reason, steps.length]).toEqual(["budget", 4]);
  });

  test("is shared by runs at the same time: each exceeds it by at most one step", async () => {
    const store = memoryStore();
    const agent = agentOf({ stopWhen: budget(store, { perDay: 10 }) });
    const runs = Array.from({ length: 5 }, (_, n) => agent.run("Go", { session: store.session(`s${n}`) }));
    const results = await Promise.all(runs);
    const cost = results.reduce((sum, result) => sum + (result.cost ?? 0), 0);
    expect(cost).toBeGreaterThanOrEqual(10);
    expect(cost).toBeLessThanOrEqual(15);
  });

  test.for([
    [{ perDay: 0 }, '"perDay" must be'],
    [{}, '"perDay" must be'],
    [{ perMonth: 5 }, "perMonth"],
  ])("refuses other options: %s", ([options, sentence]) => {
    expect(() => budget(memoryStore(), options as { perDay: number })).toThrow(sentence as string);
  });

  test("refuses a value that is not a store", () => {
    expect(() => budget({} as never, { perDay: 1 })).toThrow("a store");
  });
});
