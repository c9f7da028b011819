// Approvals inside subagents: a waiting call makes every run above it wait, and is decided at the top.
import { describe, expect } from "vitest";
import { Agent, AgentState } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { paying, payingAgent, payingFamily, payTo } from "../support/approval-cast.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, glance } from "../support/cast.ts";
import { onSessions, onStores } from "../support/session-kinds.ts";

describe("a call two levels down that needs approval", () => {
  onSessions("is listed in the result of the top run, and approved there by id", async ({ play, session }) => {
    const { agent, paid, inner, model } = payingFamily("ann", "bob");
    const { runId, approvals, outcome } = await play(agent, "Pay", { session });
    expect(outcome.status).toBe("waiting");
    expect(approvals.map(({ agent: name, toolCallId }) => `${name} ${toolCallId}`)).toEqual(["inner ann", "inner bob"]);
    const resumed = await agent.resume(runId, {
      session,
      approve: ["ann"],
      reject: [{ toolCallId: "bob", reason: "No." }],
    });
    expect(resumed).toMatchObject({ output: "All paid.", outcome: { status: "completed" } });
    expect(paid).toEqual(["ann"]);
    expect(glance(inner.requests[1]?.messages ?? []).slice(-2)).toEqual([
      "tool: paid ann",
      expect.stringMatching(/rejected.*No\./),
    ]);
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toBe("tool: [Subagent: middle] Inner paid.");
    expect(glance(await session.getItems())).toEqual(["user: Pay", "assistant: All paid."]);
    expect(resumed.usage.totalTokens).toBe(6 * 15);
  });

  bothWays("can be approved through the state of the top run, after a round trip through JSON", async ({ play }) => {
    const { agent, paid } = payingFamily("ann");
    const { state, approvals } = await play(agent, "Pay");
    const restored = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
    const resumed = await agent.resume(restored, { approve: approvals });
    expect(resumed.output).toBe("All paid.");
    expect(resumed.usage.totalTokens).toBe(6 * 15);
    expect(paid).toEqual(["ann"]);
  });

  onSessions("keeps waiting until it is decided", async ({ play, session }) => {
    const { agent, paid, inner } = payingFamily("ann", "bob");
    const { runId } = await play(agent, "Pay", { session });
    const first = await agent.resume(runId, { session, approve: ["bob"] });
    expect(first.approvals.map(({ toolCallId }) => toolCallId)).toEqual(["ann"]);
    const idle = await agent.resume(runId, { session });
    expect(idle.approvals.map(({ toolCallId }) => toolCallId)).toEqual(["ann"]);
    expect(paid).toEqual(["bob"]);
    expect((await agent.resume(runId, { session, approve: ["ann"] })).output).toBe("All paid.");
    expect(paid).toEqual(["bob", "ann"]);
    expect(inner.callCount).toBe(2);
  });

  onStores("makes all three runs wait, then complete together", async ({ play, session, store }) => {
    const { agent } = payingFamily("ann");
    const { runId } = await play(agent, "Pay", { session });
    const statuses = async (id: string): Promise<string[]> => {
      const run = await store.runs.get(id);
      const below = await Promise.all((run?.children ?? []).map((child) => statuses(child.runId)));
      return [`${run?.agent} ${run?.status}`, ...below.flat()];
    };
    expect(await statuses(runId)).toEqual(["outer waiting", "middle waiting", "inner waiting"]);
    expect(await store.runs.list({ status: "waiting" })).toHaveLength(1);
    await agent.resume(runId, { store, approve: ["ann"] });
    expect(await statuses(runId)).toEqual(["outer completed", "middle completed", "inner completed"]);
  });

  onSessions("is not approved by the id of the subagent call around it", async ({ play, session }) => {
    const { agent, paid } = payingFamily("ann");
    const { runId } = await play(agent, "Pay", { session });
    const wrong = agent.resume(runId, { session, approve: ["to-inner"] });
    await expect(wrong).rejects.toMatchObject({ code: "invalid-argument" });
    expect(paid).toEqual([]);
    expect(await session.runs()).toMatchObject([{ status: "waiting" }]);
  });
});

describe("several subagents with waiting calls", () => {
  function two() {
    const [left, right] = ["left", "right"].map((name) =>
      payingAgent([calls(payTo("ann")), `${name} paid.`], { name }),
    );
    const ask = (name: string) => ({ name, input: { prompt: "Pay Ann" } });
    const model = scriptedModel([calls(ask("left"), payTo("bob"), ask("right")), "Done."]);
    const tools = [left, right].flatMap((each) => each?.agent.asTool() ?? []);

    return { left, right, model, tools };
  }

  onSessions(
    "wait together, and each gets its own decision even if their call ids are equal",
    async ({ play, session }) => {
      const { left, right, model, tools } = two();
      const { paid, pay } = paying();
      const agent = new Agent({ name: "outer", model, tools: [...tools, pay] });
      const { runId, approvals } = await play(agent, "Pay", { session });
      expect(approvals.map(({ agent: name, toolCallId }) => `${name} ${toolCallId}`)).toEqual([
        "left ann",
        "outer bob",
        "right ann",
      ]);
      await expect(agent.resume(runId, { session, approve: ["ann"] })).rejects.toMatchObject({
        code: "invalid-argument",
      });
      const [first, second, third] = approvals;
      if (first === undefined || second === undefined || third === undefined) throw new Error("three wait");
      const partly = await agent.resume(runId, { session, approve: [third], reject: [second] });
      expect(partly.approvals.map(({ agent: name }) => name)).toEqual(["left"]);
      const whole = await agent.resume(runId, { session, approve: [first] });
      expect(whole.output).toBe("Done.");
      expect([left?.paid, right?.paid, paid]).toEqual([["ann"], ["ann"], []]);
      expect(glance(model.requests[1]?.messages ?? []).slice(-3)).toEqual([
        "tool: [Subagent: left] left paid.",
        expect.stringContaining("rejected"),
        "tool: [Subagent: right] right paid.",
      ]);
    },
  );
});

describe("a subagent that itself needs approval", () => {
  const asked = () => {
    const inner = payingAgent([calls(payTo("ann")), "Paid."], { name: "inner" });
    const ask = { name: "inner", id: "to-inner", input: { prompt: "Pay Ann" } };
    const model = scriptedModel([calls(ask), "Done."]);
    const isNeeded = ({ prompt }: { prompt: string }) => prompt.startsWith("Pay");
    return { inner, model, tools: [inner.agent.asTool({ needsApproval: isNeeded })] };
  };

  onSessions(
    "does not start before it is approved, and its tools still need their own approval",
    async ({ play, session }) => {
      const { inner, model, tools } = asked();
      const agent = new Agent({ name: "outer", model, tools });
      const { runId, approvals } = await play(agent, "Pay", { session });
      expect(approvals).toMatchObject([{ agent: "outer", toolName: "inner", toolCallId: "to-inner" }]);
      expect(inner.model.callCount).toBe(0);
      const below = await agent.resume(runId, { session, approve: ["to-inner"] });
      expect(below.approvals).toMatchObject([{ agent: "inner", toolName: "pay", toolCallId: "ann" }]);
      expect(inner.paid).toEqual([]);
      expect((await agent.resume(runId, { session, approve: ["ann"] })).output).toBe("Done.");
      expect(inner.paid).toEqual(["ann"]);
    },
  );

  onSessions("never starts if it is rejected", async ({ play, session }) => {
    const { inner, model, tools } = asked();
    const agent = new Agent({ name: "outer", model, tools });
    const { runId } = await play(agent, "Pay", { session });
    expect((await agent.resume(runId, { session, reject: ["to-inner"] })).output).toBe("Done.");
    expect(inner.model.callCount).toBe(0);
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toMatch(/rejected/);
  });
});
