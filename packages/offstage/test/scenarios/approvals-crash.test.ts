// Approvals and crashes: an approved call runs at most once, and a finished call never runs again.
import { describe, expect } from "vitest";
import { Agent, memoryStore, type Store, sqliteStore, tool } from "../../src/index.ts";
import { type CrashPoint, crashingStore, scriptedModel } from "../../src/testing/index.ts";
import { paying, payingAgent, payingFamily, payTo } from "../support/approval-cast.ts";
import { bothWays, type Scene } from "../support/both-ways.ts";
import { calls, echo, echoing, glance } from "../support/cast.ts";
import { onSessions } from "../support/session-kinds.ts";

const crash = new Error("the store broke");

function onCrashingStores(
  claim: string,
  point: Omit<CrashPoint, "action">,
  act: (scene: Scene, store: Store) => Promise<void>,
) {
  for (const [kind, open] of Object.entries({ "a memory store": memoryStore, SQLite: sqliteInMemory })) {
    bothWays(`${claim}, on ${kind}`, async (scene) => {
      await using store = crashingStore(open(), { ...point, action: crash });
      await act(scene, store);
      expect(await store.verify()).toEqual([]);
    });
  }
}

const sqliteInMemory = () => sqliteStore({ path: ":memory:" });

describe("an approved call whose result was lost", () => {
  const lost = { at: "tool.result", when: "before" } as const;

  onCrashingStores("neither waits nor runs again", lost, async ({ play }, store) => {
    const { agent, paid, model } = payingAgent([calls(payTo("ann")), "It may be paid."]);
    const { runId } = await play(agent, "Pay Ann", { session: store.session("s") });
    await expect(agent.resume(runId, { store, approve: ["ann"] })).rejects.toThrow("the store broke");
    expect(paid).toEqual(["ann"]);
    const resumed = await agent.resume(runId, { store });
    expect(resumed.output).toBe("It may be paid.");
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toMatch(/"pay" was interrupted.*unknown/);
    expect(paid).toEqual(["ann"]);
  });

  onCrashingStores("does not run again two levels down either", lost, async ({ play }, store) => {
    const { agent, paid } = payingFamily("ann");
    const { runId } = await play(agent, "Pay", { session: store.session("s") });
    await agent.resume(runId, { store, approve: ["ann"] }).catch(() => undefined);
    const { status } = (await store.runs.get(runId)) ?? {};
    if (status !== "completed") await agent.resume(runId, { store });
    expect((await store.runs.get(runId))?.status).toBe("completed");
    expect(paid).toEqual(["ann"]);
  });

  onCrashingStores("runs again if its tool is idempotent", lost, async ({ play }, store) => {
    const set: string[] = [];
    const put = tool({ name: "put", needsApproval: true, idempotent: true, execute: () => void set.push("put") });
    const agent = new Agent({ model: scriptedModel([calls({ name: "put", id: "p" }), "Put."]), tools: [put] });
    const { runId } = await play(agent, "Put", { session: store.session("s") });
    await expect(agent.resume(runId, { store, approve: ["p"] })).rejects.toThrow();
    expect((await agent.resume(runId, { store })).output).toBe("Put.");
    expect(set).toHaveLength(2);
  });
});

describe("a call that was waiting for approval when its run was cut off", () => {
  const endLost = { at: "run.end", when: "before" } as const;

  onCrashingStores("keeps waiting, and runs once it is approved", endLost, async ({ fail }, store) => {
    const { agent, paid } = payingAgent([calls(payTo("ann")), "Paid."]);
    const { result } = await fail(agent, "Pay Ann", { session: store.session("s") });
    const resumed = await agent.resume(result.runId, { store });
    expect(resumed.outcome.status).toBe("waiting");
    expect(resumed.approvals).toMatchObject([{ toolCallId: "ann", input: { to: "ann" } }]);
    expect(paid).toEqual([]);
    expect((await agent.resume(result.runId, { store, approve: ["ann"] })).output).toBe("Paid.");
    expect(paid).toEqual(["ann"]);
  });

  onCrashingStores("can be decided by the first resume()", endLost, async ({ fail }, store) => {
    const { agent, paid } = payingAgent([calls(payTo("ann"), payTo("bob")), "Done."]);
    const { result } = await fail(agent, "Pay", { session: store.session("s") });
    const resumed = await agent.resume(result.runId, { store, approve: ["ann"], reject: ["bob"] });
    expect(resumed.output).toBe("Done.");
    expect(paid).toEqual(["ann"]);
  });

  const resultLost = { at: "tool.result", when: "before" } as const;
  onCrashingStores("keeps waiting if another call of its step was interrupted", resultLost, async ({ fail }, store) => {
    const { agent, model, paid } = payingAgent([calls(payTo("ann"), echoing("a")), "Done."]);
    const { result } = await fail(agent, "Pay", { session: store.session("s") });
    const { approvals } = await agent.resume(result.runId, { store });
    expect(approvals.map(({ toolCallId }) => toolCallId)).toEqual(["ann"]);
    expect((await agent.resume(result.runId, { store, approve: approvals })).output).toBe("Done.");
    expect(glance(model.requests[1]?.messages ?? []).slice(-2)).toEqual([
      "tool: paid ann",
      expect.stringMatching(/"echo" was interrupted.*unknown/),
    ]);
    expect(paid).toEqual(["ann"]);
  });

  const asked = { at: "tool.wait", when: "after" } as const;
  onCrashingStores("keeps waiting if a needsApproval function asked for approval", asked, async ({ fail }, store) => {
    const { paid, pay } = paying(() => true);
    const agent = new Agent({ model: scriptedModel([calls(payTo("ann")), "Paid."]), tools: [pay] });
    const { result } = await fail(agent, "Pay Ann", { session: store.session("s") });
    const { approvals } = await agent.resume(result.runId, { store });
    expect((await agent.resume(result.runId, { store, approve: approvals })).output).toBe("Paid.");
    expect(paid).toEqual(["ann"]);
  });
});

describe("a state", () => {
  const oneLost = { at: "tool.result", when: "before", nth: 2 } as const;

  onCrashingStores("saved before a step was cut off does not run the step again", oneLost, async ({ fail }, store) => {
    const done: string[] = [];
    const note = tool({
      name: "note",
      input: { type: "object", properties: { what: { type: "string" } } },
      execute: (input) => void done.push((input as { what: string }).what),
    });
    const noting = (what: string) => ({ name: "note", id: what, input: { what } });
    const model = scriptedModel([calls(noting("a"), noting("b")), "Noted."]);
    const agent = new Agent({ model, tools: [note], maxParallelTools: 1 });
    const { result } = await fail(agent, "Go", { session: store.session("s") });
    expect(done).toEqual(["a", "b"]);
    expect((await agent.resume(result.state, { store })).output).toBe("Noted.");
    expect(done).toEqual(["a", "b"]);
  });

  const stepLost = { at: "step.commit", when: "before" } as const;
  onCrashingStores("with a step that was never stored adds it to the store", stepLost, async ({ fail }, store) => {
    const agent = new Agent({ model: scriptedModel([calls(echoing("a")), "It said a."]), tools: [echo] });
    const { result } = await fail(agent, "Go", { session: store.session("s") });
    expect(result.steps).toHaveLength(1);
    await agent.resume(result.state, { store });
    expect((await store.runs.get(result.runId))?.steps).toHaveLength(2);
  });
});

onSessions("a resumed run is sent the same tool history as before the failure", async ({ play, fail, session }) => {
  const model = scriptedModel([calls(echoing("a")), "One.", new Error("down"), "Two."]);
  const agent = new Agent({ model, tools: [echo], toolHistory: "full" });
  await play(agent, "1", { session });
  const { result } = await fail(agent, "2", { session });
  await agent.resume(result.runId, { session });
  const [before, after] = [model.requests[2], model.requests[3]].map((each) => JSON.stringify(each?.options.prompt));
  expect(after).toBe(before);
});
