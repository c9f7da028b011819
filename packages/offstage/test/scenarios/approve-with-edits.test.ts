// Approval with edits: a person changes the input of a call, the tool runs with it, and the model reads it as its own call.
import { describe, expect, test } from "vitest";
import { Agent, AgentState, type Message, memoryStore, reactDriver, tool } from "../../src/index.ts";
import { storeSource } from "../../src/sessions/store.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { payingAgent, payingFamily, payTo } from "../support/approval-cast.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, glance } from "../support/cast.ts";
import { onSessions, onStores } from "../support/session-kinds.ts";
import { rowsIn } from "../support/stored-rows.ts";

function argumentsIn(messages: readonly Message[] = []): string[] {
  return messages.flatMap((message) =>
    message.role === "assistant" ? (message.tool_calls ?? []).map((call) => call.function.arguments) : [],
  );
}

const toBen = [{ toolCallId: "ann", input: { to: "ben" } }];

describe("a call that is approved with another input", () => {
  onSessions("runs with that input, and the model reads it as its own call", async ({ play, session }) => {
    const { agent, paid, model } = payingAgent([calls(payTo("ann")), "Paid."]);
    const { runId } = await play(agent, "Pay", { session });
    const done = await agent.resume(runId, { session, approve: toBen });
    expect([done.output, paid]).toEqual(["Paid.", ["ben"]]);
    const seen = model.requests[1]?.messages;
    expect(argumentsIn(seen)).toEqual(['{"to":"ben"}']);
    expect(glance(seen ?? []).at(-1)).toBe("tool: [approved with changes] paid ben");
    expect(done.steps[0]?.toolResults[0]).toMatchObject({ input: { to: "ben" }, output: "paid ben" });
    expect(done.messages.toolSummary()[0]?.calls[0]).toMatchObject({ input: { to: "ben" }, result: "paid ben" });
  });

  bothWays("does the same through the state of the run, without a store", async ({ play }) => {
    const { agent, paid, model } = payingAgent([calls(payTo("ann")), "Paid."]);
    const { state } = await play(agent, "Pay");
    const restored = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
    await agent.resume(restored, { approve: toBen });
    expect([paid, argumentsIn(model.requests[1]?.messages)]).toEqual([["ben"], ['{"to":"ben"}']]);
  });

  onStores("is recorded with both inputs", async ({ play, session, store }) => {
    const { agent } = payingAgent([calls(payTo("ann")), "Paid."]);
    const { runId } = await play(agent, "Pay", { session });
    await agent.resume(runId, { store, approve: toBen });
    const run = await store.runs.get(runId);
    expect(argumentsIn(run?.steps[0]?.messages)).toEqual(['{"to":"ben"}']);
    const rows = await rowsIn(await store[storeSource].load());
    const stored = rows.filter(({ table }) => table === "tool_calls").map(({ row }) => row);
    expect(stored).toMatchObject([{ arguments: '{"to":"ann"}', edited_arguments: '{"to":"ben"}', status: "ok" }]);
    const input = await store.runs.input(runId, 2);
    expect(argumentsIn(input?.messages)).toEqual(['{"to":"ben"}']);
  });

  onSessions("can be two levels down", async ({ play, session }) => {
    const { agent, paid, inner } = payingFamily("ann", "bob");
    const { runId } = await play(agent, "Pay", { session });
    const approve = [...toBen, { toolCallId: "bob", input: { to: "bea" } }];
    const done = await agent.resume(runId, { session, approve });
    expect([done.output, paid]).toEqual(["All paid.", ["ben", "bea"]]);
    expect(argumentsIn(inner.requests[1]?.messages)).toEqual(['{"to":"ben"}', '{"to":"bea"}']);
  });

  onSessions("is an ordinary approval if the input is the model's own", async ({ play, session }) => {
    const { agent, model } = payingAgent([calls(payTo("ann")), "Paid."]);
    const { runId, approvals } = await play(agent, "Pay", { session });
    await agent.resume(runId, { session, approve: approvals });
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toBe("tool: paid ann");
  });

  test("is shown to a ReAct model as its own action", async () => {
    const { agent, paid, model } = payingAgent(
      ['Thought: pay\nAction: pay\nAction Input: {"to":"ann"}', "Final Answer: Paid."],
      { driver: reactDriver() },
    );
    const { state, approvals } = await agent.run("Pay");
    await agent.resume(state, { approve: [{ ...approvals[0]!, input: { to: "ben" } }] });
    expect(paid).toEqual(["ben"]);
    const seen = glance(model.requests[1]?.messages ?? []);
    expect(seen.at(-2)).toContain('Action Input: {"to":"ben"}');
    expect(seen.at(-1)).toContain("[approved with changes] paid ben");
  });

  test("keeps the value of a tool that returns an object, before and after a reload", async () => {
    const store = memoryStore();
    const price = tool({
      name: "price",
      needsApproval: true,
      input: { type: "object" },
      execute: () => ({ euros: 8 }),
    });
    const model = scriptedModel([calls({ name: "price", id: "c", input: {} }), "Eight."]);
    const agent = new Agent({ model, tools: [price] });
    const { runId } = await agent.run("How much?", { session: store.session("s") });
    const done = await agent.resume(runId, { store, approve: [{ toolCallId: "c", input: { tax: true } }] });
    expect(done.messages.toolSummary()[0]?.results).toEqual([{ euros: 8 }]);
    const reloaded = await store.session("s").query();
    expect(reloaded.toolSummary()[0]?.calls[0]).toMatchObject({ input: { tax: true }, result: { euros: 8 } });
  });
});

describe("an edit that does not fit the tool", () => {
  const wrong = [{ toolCallId: "ann", input: { to: 5 } }];

  onStores("refuses the resume before anything is written", async ({ play, session, store }) => {
    const { agent, paid } = payingAgent([calls(payTo("ann")), "Paid."]);
    const { runId, approvals } = await play(agent, "Pay", { session });
    const before = await store.runs.get(runId);
    const refused = agent.resume(runId, { store, approve: wrong });
    await expect(refused).rejects.toMatchObject({ code: "invalid-argument" });
    await expect(refused).rejects.toThrow('The changed input of tool call "ann" does not fit the tool "pay"');
    expect(await store.runs.get(runId)).toEqual(before);
    expect(paid).toEqual([]);
    await agent.resume(runId, { store, approve: approvals });
    expect(paid).toEqual(["ann"]);
  });

  onStores("refuses the resume two levels down too", async ({ play, session, store }) => {
    const { agent, paid } = payingFamily("ann");
    const { runId, state } = await play(agent, "Pay", { session });
    await expect(agent.resume(runId, { store, approve: wrong })).rejects.toThrow("does not fit the tool");
    await expect(agent.resume(state, { approve: wrong })).rejects.toThrow("does not fit the tool");
    expect([paid, (await store.runs.get(runId))?.status]).toEqual([[], "waiting"]);
  });

  test.each([["text"], [[1]], [null]])("cannot be %j", async (input) => {
    const { agent } = payingAgent([calls(payTo("ann")), "Paid."]);
    const { state } = await agent.run("Pay");
    const refused = agent.resume(state, { approve: [{ toolCallId: "ann", input }] });
    await expect(refused).rejects.toThrow("it is not an object");
  });
});
