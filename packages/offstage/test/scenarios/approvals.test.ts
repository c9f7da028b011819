// Approvals: a call that needs approval waits for it, runs once when approved, and never otherwise.
import { describe, expect, test } from "vitest";
import { Agent, AgentState, type Message, memoryStore, tool, user } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { paying, payingAgent, payTo } from "../support/approval-cast.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echoing, glance } from "../support/cast.ts";
import { onSessions } from "../support/session-kinds.ts";

const contentOf = (messages: readonly Message[] = [], id = "") =>
  String(messages.find((message) => message.role === "tool" && message.tool_call_id === id)?.content);

describe("a tool that needs approval", () => {
  onSessions("makes the run wait, with the waiting call in the result", async ({ play, session }) => {
    const { agent, paid, model } = payingAgent([calls(payTo("ann"), echoing("a", "e"))]);
    const { outcome, approvals, runId, state } = await play(agent, "Pay Ann", { session });
    expect(outcome).toMatchObject({ status: "waiting", reason: "approval" });
    expect(approvals).toEqual([
      { kind: "call", toolCallId: "ann", toolName: "pay", input: { to: "ann" }, agent: "payer", runId },
    ]);
    expect(paid).toEqual([]);
    expect(model.callCount).toBe(1);
    expect(state.status).toBe("waiting");
    expect(glance(await session.getItems())).toEqual(["user: Pay Ann"]);
    expect(await session.runs()).toMatchObject([{ runId, status: "waiting", reason: "approval" }]);
  });

  onSessions(
    "has its call in agent.messages while it waits, and only once when it is done",
    async ({ play, session }) => {
      const script = [calls(payTo("ann"), payTo("bob"), echoing("a", "e")), "Paid both."];
      const { agent } = payingAgent(script);
      const { runId } = await play(agent, "Pay Ann and Bob", { session });
      const asked = ["user: Pay Ann and Bob", "assistant: [pay pay echo]"];
      expect(glance(agent.messages.all())).toEqual([...asked, "tool: echo a"]);
      await agent.resume(runId, { session, approve: ["ann"] });
      expect(glance(agent.messages.all())).toEqual([...asked, "tool: paid ann", "tool: echo a"]);
      await agent.resume(runId, { session, approve: ["bob"] });
      const all = [...asked, "tool: paid ann", "tool: paid bob", "tool: echo a", "assistant: Paid both."];
      expect(glance(agent.messages.all())).toEqual(all);
      await agent.resume(runId, { session, approve: ["bob"] }).catch(() => {});
      expect(glance(agent.messages.all())).toEqual(all);
    },
  );

  onSessions("keeps an undecided call waiting, even if the agent's tools have changed", async ({ play, session }) => {
    const { agent, paid } = payingAgent([calls(payTo("ann"))]);
    const { runId } = await play(agent, "Pay Ann", { session });
    const free = tool({ name: "pay", execute: () => paid.push("free") });
    const other = new Agent({ name: "payer", model: scriptedModel([]), tools: [free] });
    const { outcome, approvals } = await other.resume(runId, { session });
    expect({ status: outcome.status, waiting: approvals.length, paid }).toEqual({
      status: "waiting",
      waiting: 1,
      paid: [],
    });
  });

  onSessions("refuses the resume if its tool is gone, unless it is rejected", async ({ play, session }) => {
    const { agent, paid } = payingAgent([calls(payTo("ann"))]);
    const { runId } = await play(agent, "Pay Ann", { session });
    const other = new Agent({ name: "payer", model: scriptedModel(["Not paid."]) });
    for (const approve of [[], ["ann"]]) {
      await expect(other.resume(runId, { session, approve })).rejects.toMatchObject({
        code: "run-not-resumable",
        message: expect.stringContaining('agent "payer" has no tool "pay"'),
      });
    }
    const { text } = await other.resume(runId, { session, reject: ["ann"] });
    expect({ text, paid }).toEqual({ text: "Not paid.", paid: [] });
  });

  bothWays("gives new messages unique ids, whatever ids the input has", async ({ play }) => {
    const { agent } = payingAgent([calls(payTo("ann")), "Paid Ann."]);
    const given = user("Pay Ann", { metadata: { id: "order.9007199254740993" } });
    const { state } = await play(agent, given);
    const { messages } = await agent.resume(state, { approve: ["ann"] });
    const ids = messages.all().map(({ metadata }) => metadata?.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  onSessions("runs once when approved by run id, and the run continues", async ({ play, session }) => {
    const { agent, paid, model } = payingAgent([calls(payTo("ann"), echoing("a", "e")), "Paid Ann."]);
    const { runId } = await play(agent, "Pay Ann", { session });
    const resumed = await agent.resume(runId, { session, approve: ["ann"] });
    expect(resumed).toMatchObject({ output: "Paid Ann.", runId, approvals: [], outcome: { status: "completed" } });
    expect(paid).toEqual(["ann"]);
    expect(glance(model.requests[1]?.messages ?? [])).toEqual([
      "user: Pay Ann",
      "assistant: [pay echo]",
      "tool: paid ann",
      "tool: echo a",
    ]);
    expect(glance(await session.getItems())).toEqual(["user: Pay Ann", "assistant: Paid Ann."]);
    expect(resumed.usage.totalTokens).toBe(30);
    await expect(agent.resume(runId, { session, approve: ["ann"] })).rejects.toMatchObject({
      code: "run-not-resumable",
    });
    expect(paid).toEqual(["ann"]);
  });

  for (const separateToolTrace of [true, false]) {
    bothWays(
      `can be approved by a state that went through JSON, tool trace ${separateToolTrace ? "separated" : "in the messages"}`,
      async ({ play }) => {
        const { agent, paid } = payingAgent([calls(payTo("ann")), "Paid Ann."], { separateToolTrace });
        const { state } = await play(agent, "Pay Ann");
        const restored = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
        const resumed = await agent.resume(restored, { approve: ["ann"] });
        expect(resumed.output).toBe("Paid Ann.");
        expect(resumed.state.messages.length).toBe(separateToolTrace ? 2 : 4);
        expect(paid).toEqual(["ann"]);
        await expect(agent.resume(resumed.state, { approve: ["ann"] })).rejects.toMatchObject({
          code: "run-not-resumable",
        });
      },
    );
  }

  onSessions("does not run when rejected, and the model is told why", async ({ play, session }) => {
    const { agent, paid, model } = payingAgent([calls(payTo("ann"), payTo("bob")), "Only Bob."]);
    const { runId } = await play(agent, "Pay both", { session });
    const reject = [{ toolCallId: "ann", reason: "She was paid last week." }];
    const { output } = await agent.resume(runId, { session, approve: ["bob"], reject });
    expect(output).toBe("Only Bob.");
    expect(paid).toEqual(["bob"]);
    const sent = model.requests[1]?.messages;
    expect(contentOf(sent, "ann")).toMatch(/rejected by the user and not run.*She was paid last week\./);
    expect(contentOf(sent, "bob")).toBe("paid bob");
  });

  onSessions("keeps waiting until it is decided", async ({ play, session }) => {
    const { agent, paid, model } = payingAgent([calls(payTo("ann"), payTo("bob")), "Both."]);
    const { runId } = await play(agent, "Pay both", { session });
    const first = await agent.resume(runId, { session, approve: ["bob"] });
    expect(first.outcome.status).toBe("waiting");
    expect(first.approvals.map(({ toolCallId }) => toolCallId)).toEqual(["ann"]);
    expect((await agent.resume(runId, { session })).outcome.status).toBe("waiting");
    expect(paid).toEqual(["bob"]);
    const second = await agent.resume(runId, { session, approve: first.approvals });
    expect(second.output).toBe("Both.");
    expect(paid).toEqual(["bob", "ann"]);
    expect(model.callCount).toBe(2);
    expect(glance(second.messages.all())).toEqual([
      "user: Pay both",
      "assistant: [pay pay]",
      "tool: paid ann",
      "tool: paid bob",
      "assistant: Both.",
    ]);
  });

  onSessions("can wait again in a later step", async ({ play, session }) => {
    const { agent, paid } = payingAgent([calls(payTo("ann")), calls(payTo("bob")), "Both."]);
    const { runId } = await play(agent, "Pay both", { session });
    const again = await agent.resume(runId, { session, approve: ["ann"] });
    expect(again.approvals.map(({ toolCallId }) => toolCallId)).toEqual(["bob"]);
    expect((await agent.resume(runId, { session, approve: ["bob"] })).output).toBe("Both.");
    expect(paid).toEqual(["ann", "bob"]);
    expect(glance(await session.getItems())).toEqual(["user: Pay both", "assistant: Both."]);
  });

  onSessions("does not lock the session: another message is answered meanwhile", async ({ play, session }) => {
    const { agent, model } = payingAgent([calls(payTo("ann")), "Later.", "Paid Ann."]);
    const { runId } = await play(agent, "Pay Ann", { session });
    await play(agent, "Are you there?", { session });
    expect(glance(model.requests[1]?.messages ?? [])).toEqual(["user: Pay Ann", "user: Are you there?"]);
    expect((await agent.resume(runId, { session, approve: ["ann"] })).output).toBe("Paid Ann.");
    expect(await session.getItemCount()).toBe(4);
  });

  bothWays("makes only those calls wait for which its needsApproval function returns true", async ({ play }) => {
    const { paid, pay } = paying(async ({ to }) => to !== "ann");
    const agent = new Agent({ model: scriptedModel([calls(payTo("ann"), payTo("bob")), "Ok."]), tools: [pay] });
    const { approvals, state } = await play(agent, "Pay both");
    expect(approvals.map(({ toolCallId }) => toolCallId)).toEqual(["bob"]);
    expect(paid).toEqual(["ann"]);
    await agent.resume(state, { approve: ["bob"] });
    expect(paid).toEqual(["ann", "bob"]);
  });

  const unsure: readonly (readonly [string, () => boolean | Promise<boolean>])[] = [
    ["throws", () => raise("cannot say")],
    ["rejects", async () => raise("cannot say")],
    ["returns nothing", () => undefined as unknown as boolean],
  ];
  test("reports an error thrown by its needsApproval function", async () => {
    const { pay } = paying(() => raise("cannot say"));
    const heard: unknown[] = [];
    const agent = new Agent({
      model: scriptedModel([calls(payTo("ann"))]),
      tools: [pay],
      hooks: { onError: ({ source, error }) => void heard.push([source, (error as Error).message]) },
    });
    const warning = new Promise((resolve) => process.once("warning", ({ message }) => resolve(message)));
    await agent.run("Pay");
    expect(heard).toEqual([["needsApproval", "cannot say"]]);
    expect(await warning).toBe('"needsApproval" of the tool "pay" threw, so the call waits for approval: cannot say');
  });

  for (const [what, needsApproval] of unsure) {
    bothWays(`waits if its needsApproval function ${what}`, async ({ play }) => {
      const { paid, pay } = paying(needsApproval);
      const agent = new Agent({ model: scriptedModel([calls(payTo("ann")), "Ok."]), tools: [pay] });
      const { outcome, state } = await play(agent, "Pay");
      expect(outcome.status).toBe("waiting");
      expect(paid).toEqual([]);
      await agent.resume(state, { approve: ["ann"] });
      expect(paid).toEqual(["ann"]);
    });
  }
});

test("a resumed run can be streamed, from run-start to run-end", async () => {
  const { agent, paid } = payingAgent([calls(payTo("ann")), "Paid Ann."]);
  const { state } = await agent.stream("Pay Ann").result;
  const stream = agent.resumeStream(state, { approve: ["ann"] });
  const types: string[] = [];
  for await (const { type } of stream) types.push(type);
  expect([types.at(0), types.at(-1)]).toEqual(["run-start", "run-end"]);
  expect(types).toContain("text-delta");
  expect((await stream.result).output).toBe("Paid Ann.");
  expect(paid).toEqual(["ann"]);
});

function raise(message: string): never {
  throw new Error(message);
}

test("execute() refuses a waiting state, whose calls would be lost", async () => {
  const { agent } = payingAgent([calls(payTo("ann"))]);
  const waiting = await agent.execute(AgentState.empty().withUserMessage("Pay Ann"));
  await expect(agent.execute(waiting)).rejects.toMatchObject({
    code: "invalid-argument",
    message: expect.stringContaining("agent.resume(state, { approve, reject })"),
  });
});

test("resume() without a store and resume() of an unknown run fail with different errors", async () => {
  const { agent } = payingAgent([]);
  await expect(agent.resume("r1")).rejects.toThrow('Run "r1" cannot be looked up without its store');
  await expect(agent.resume("r1", { store: memoryStore() })).rejects.toThrow('Run "r1" was not found in the store');
});
