// A step cut off after a tool ran: agent.messages and the session's query still show what was done.
import { expect } from "vitest";
import { Agent, InMemorySession, memoryStore, sqliteStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, glance } from "../support/cast.ts";

const seen = ["user: Pay", "assistant: [pay wait]", "tool: paid 50"];

bothWays("a tool's output before a failure is the same value after the run is resumed", async ({ play }) => {
  await using store = memoryStore();
  const order = tool({
    name: "order",
    input: { type: "object", properties: { item: { type: "string" } } },
    execute: ({ item }) => ({ item, total: 3 }),
  });
  const say = tool({ name: "say", execute: () => '{"not":"a value"}' });
  const asked = calls({ name: "order", input: { item: "tea" } }, { name: "say" });
  const agent = new Agent({ model: scriptedModel([asked, new Error("cut off"), "Done."]), tools: [order, say] });
  await expect(play(agent, "Order tea", { session: store.session("s") })).rejects.toThrow("cut off");
  const [run] = await store.runs.list();
  const { steps } = await agent.resume(run?.runId ?? "", { store });
  expect(steps[0]?.toolResults).toMatchObject([
    { toolName: "order", input: { item: "tea" }, output: { item: "tea", total: 3 } },
    { toolName: "say", input: {}, output: '{"not":"a value"}' },
  ]);
});

bothWays("a tool's result before an abort is found by a query", async ({ play }) => {
  for (const open of [() => memoryStore(), () => sqliteStore({ path: ":memory:" }), undefined]) {
    await using store = open?.();
    const session = store?.session("s") ?? new InMemorySession("s");
    const aborting = new AbortController();
    const pay = tool({ name: "pay", execute: () => "paid 50" });
    const wait = tool({
      name: "wait",
      execute: async (_, { signal }) => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        aborting.abort(new Error("enough"));
        signal.throwIfAborted();
      },
    });
    const model = scriptedModel([calls({ name: "pay" }, { name: "wait" })]);
    const agent = new Agent({ model, tools: [pay, wait] });
    await expect(play(agent, "Pay", { session, signal: aborting.signal })).rejects.toThrow("enough");
    expect(glance(agent.messages.all())).toEqual(seen);
    expect(glance((await session.query()).all())).toEqual(seen);
  }
});
