// Decisions that are refused: the run keeps waiting, and nothing runs.
import { describe, expect } from "vitest";
import { Agent } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { payingAgent, payTo } from "../support/approval-cast.ts";
import { calls } from "../support/cast.ts";
import { onSessions, onStores } from "../support/session-kinds.ts";

describe("an invalid decision", () => {
  const invalid = {
    "about an unknown call": { approve: ["nobody"] },
    "made twice": { approve: ["ann", "ann"] },
    "to both approve and reject": { approve: ["ann"], reject: ["ann"] },
    "about another run": { approve: [{ toolCallId: "ann", runId: "another" }] },
  };
  for (const [what, decisions] of Object.entries(invalid)) {
    onSessions(`${what} is refused, and the run keeps waiting`, async ({ play, session }) => {
      const { agent, paid } = payingAgent([calls(payTo("ann")), "Paid Ann."]);
      const { runId, state } = await play(agent, "Pay Ann", { session });
      const refused = await agent.resume(runId, { session, ...decisions }).catch((error) => error);
      // A result would say that the run failed.
      expect([refused.code, refused.result]).toEqual(["invalid-argument", undefined]);
      expect(await session.runs()).toMatchObject([{ status: "waiting" }]);
      const again = await agent.resume(state, { session, ...decisions }).catch((error) => error);
      expect([again.code, again.result]).toEqual(["invalid-argument", undefined]);
      expect(await session.runs()).toMatchObject([{ status: "waiting" }]);
      expect(paid).toEqual([]);
      expect((await agent.resume(runId, { session, approve: ["ann"] })).output).toBe("Paid Ann.");
      expect(paid).toEqual(["ann"]);
    });
  }

  onSessions(
    "about a call of another run, or one already approved, is refused with the reason",
    async ({ play, session }) => {
      const { agent } = payingAgent([calls(payTo("ann"), payTo("bob")), calls(payTo("ann")), "Paid."]);
      const first = await play(agent, "Pay both", { session });
      const second = await play(agent, "Pay Ann", { session });
      const foreign = agent.resume(first.runId, { session, approve: second.approvals });
      await expect(foreign).rejects.toThrow(
        `of run "${second.runId}" does not wait for approval; that of run "${first.runId}" does`,
      );
      await agent.resume(first.runId, { session, approve: ["ann"] });
      const stale = agent.resume(first.runId, { session, approve: ["ann", "bob"] });
      await expect(stale).rejects.toThrow('Tool call "ann" was approved before. Waiting calls: "bob".');
    },
  );

  onSessions("by another agent is refused, and the run keeps waiting", async ({ play, session }) => {
    const { agent, paid } = payingAgent([calls(payTo("ann")), "Paid."]);
    const { runId } = await play(agent, "Pay", { session });
    const other = payingAgent(["Nothing to pay."], { name: "other" }).agent;
    await expect(other.resume(runId, { session, approve: ["ann"] })).rejects.toMatchObject({
      code: "run-not-resumable",
      message: expect.stringContaining('belongs to agent "payer", and this is agent "other"'),
    });
    expect(await session.runs()).toMatchObject([{ status: "waiting" }]);
    expect((await agent.resume(runId, { session, approve: ["ann"] })).output).toBe("Paid.");
    expect(paid).toEqual(["ann"]);
  });

  onSessions(
    "for a tool that the agent no longer has is refused, and the call can still be approved",
    async ({ play, session }) => {
      const { agent, paid } = payingAgent([calls(payTo("ann")), "Paid."]);
      const { runId } = await play(agent, "Pay", { session });
      const bare = new Agent({ name: "payer", model: scriptedModel(["Nothing to pay with."]) });
      await expect(bare.resume(runId, { session, approve: ["ann"] })).rejects.toThrow(
        'agent "payer" has no tool "pay"',
      );
      expect((await agent.resume(runId, { session, approve: ["ann"] })).output).toBe("Paid.");
      expect(paid).toEqual(["ann"]);
    },
  );

  onSessions("through a state older than the run is refused", async ({ play, session }) => {
    const { agent, paid } = payingAgent([calls(payTo("ann"), payTo("bob")), "Both."]);
    const { state } = await play(agent, "Pay both", { session });
    await agent.resume(state, { session, approve: ["ann"] });
    const again = agent.resume(state, { session, approve: ["ann", "bob"] });
    await expect(again).rejects.toMatchObject({ code: "invalid-argument" });
    expect(paid).toEqual(["ann"]);
    expect(await session.runs()).toMatchObject([{ status: "waiting" }]);
    await agent.resume(state.runId ?? "", { session, approve: ["bob"] });
    expect(paid).toEqual(["ann", "bob"]);
  });
});

onStores("a call that was rejected has no duration in the numbers of its tool", async ({ play, session, store }) => {
  const { agent } = payingAgent([calls(payTo("ann")), "Not paid."]);
  const { runId } = await play(agent, "Pay Ann", { session });
  await agent.resume(runId, { store, reject: ["ann"] });
  const numbers = await store.numbers({ by: "tool" });
  expect(numbers).toMatchObject([{ tool: "pay", calls: 1, failures: 0 }]);
  expect(numbers[0]?.p50Ms).toBeUndefined();
  expect(String(numbers)).toMatch(/call p50 ms/);
  expect(String(await store.numbers({ by: "model" }))).toMatch(/step p50 ms/);
});
