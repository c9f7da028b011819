// Pending approvals as others read them: they are in the record of the run, and reading them writes nothing.
import { describe, expect } from "vitest";
import type { FoundRun } from "../../src/doors/sessions.ts";
import { Agent, InMemorySession, redactor, sqliteStore } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { payingAgent, payingFamily, payTo } from "../support/approval-cast.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echoing } from "../support/cast.ts";
import { onStores, type SessionScene } from "../support/session-kinds.ts";

interface ReadingScene extends SessionScene {
  readonly read: (runId: string) => Promise<FoundRun | undefined>;
}

function onReaders(claim: string, act: (scene: ReadingScene) => Promise<void>): void {
  bothWays(`${claim}, on an in-memory session`, (scene) => {
    const session = new InMemorySession("s");
    return act({ ...scene, session, read: (runId) => session.run(runId) });
  });
  onStores(claim, (scene) => act({ ...scene, read: scene.store.runs.get }));
  onStores(`${claim}, read through its session`, (scene) => {
    const session = scene.store.session(scene.session.sessionId);
    return act({ ...scene, read: (runId) => session.run(runId) });
  });
}

describe("the pending approvals of a run", () => {
  onReaders("are the same in its record as in its result", async ({ play, session, read }) => {
    const { agent } = payingAgent([calls(payTo("ann"), echoing("a", "e"), payTo("bob")), "Paid."]);
    const { runId, approvals } = await play(agent, "Pay", { session });
    expect(approvals.map(({ toolCallId }) => toolCallId)).toEqual(["ann", "bob"]);
    expect((await read(runId))?.approvals).toEqual(approvals);
    const { approvals: left } = await agent.resume(runId, { session, approve: ["ann"] });
    expect(left.map(({ toolCallId }) => toolCallId)).toEqual(["bob"]);
    expect((await read(runId))?.approvals).toEqual(left);
    await agent.resume(runId, { session, approve: ["bob"] });
    expect((await read(runId))?.approvals).toEqual([]);
  });

  onReaders("two levels down are in the record of every run above", async ({ play, session, read }) => {
    const { agent } = payingFamily("ann", "bob");
    const { runId, approvals } = await play(agent, "Pay", { session });
    expect(approvals).toHaveLength(2);
    const outer = await read(runId);
    const middle = await read(outer?.children[0]?.runId ?? "");
    const inner = await read(middle?.children[0]?.runId ?? "");
    for (const run of [outer, middle, inner]) expect(run?.approvals).toEqual(approvals);
  });

  onReaders("are an empty list if it waits for nothing", async ({ play, session, read }) => {
    const { runId } = await play(new Agent({ model: scriptedModel(["Hello."]) }), "Hi", { session });
    expect((await read(runId))?.approvals).toEqual([]);
  });

  onStores("can be read without adding a span, and decided as read", async ({ play, session, store }) => {
    const { agent, paid } = payingFamily("ann");
    await play(agent, "Pay", { session });
    const [listed] = await store.runs.list({ status: "waiting" });
    const runId = listed?.runId ?? "";
    const before = await store.spans.list({ runId });
    const { approvals = [] } = (await store.runs.get(runId)) ?? {};
    expect(await store.spans.list({ runId })).toEqual(before);
    expect((await agent.resume(runId, { store, approve: approvals })).output).toBe("All paid.");
    expect(paid).toEqual(["ann"]);
  });
});

onReaders("the answer of a run that waited joins the turn of its question", async ({ play, session }) => {
  const { agent } = payingAgent([calls(payTo("ann")), "You are welcome.", "Paid Ann."]);
  const { runId } = await play(agent, "Pay Ann", { session });
  await play(agent, "Thank you", { session });
  await agent.resume(runId, { session, approve: ["ann"] });
  const turns = (await session.query()).timeline();
  expect(turns.map(({ userContent, assistantContent }) => `${userContent} > ${assistantContent}`)).toEqual([
    "Pay Ann > Paid Ann.",
    "Thank you > You are welcome.",
  ]);
  expect(turns[0]).toMatchObject({ status: "completed", toolInteractions: [{ result: "paid ann" }] });
});

bothWays("a redacting store shows pending approvals redacted, in subagents too", async ({ play }) => {
  await using store = sqliteStore({ path: ":memory:", redact: redactor({ patterns: [/ann/g] }) });
  const below = payingAgent([calls({ name: "pay", id: "p", input: { to: "ann" } })], { name: "below" });
  const model = scriptedModel([calls({ name: "below", id: "b", input: { prompt: "Pay" } })]);
  const agent = new Agent({ model, tools: [below.agent.asTool()] });
  const { runId } = await play(agent, "Pay", { session: store.session("s") });
  const { approvals } = (await store.runs.get(runId)) ?? {};
  expect(approvals).toMatchObject([{ toolCallId: "p", input: { to: "[redacted]" } }]);
});
