// Stop: any process can end a run. What was said is kept, and the run has a result.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Agent, memoryStore, type Store, sqliteStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { payingAgent, payingFamily, payTo } from "../support/approval-cast.ts";
import { calls, glance } from "../support/cast.ts";
import { onStores } from "../support/session-kinds.ts";

/** A tool that runs until it is told to stop, and says when it began. */
function endless() {
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const wait = tool({
    name: "wait",
    input: {},
    execute: async (_, { signal }) => {
      resolve();
      await sleep(60_000, undefined, { signal });
    },
  });
  return { begun, wait };
}

describe("a run that is asked to stop", () => {
  onStores("ends with a result, and its tool is told", async ({ play, session, store }) => {
    const { begun, wait } = endless();
    const agent = new Agent({ model: scriptedModel([calls({ name: "wait" }), "Never."]), tools: [wait] });
    const running = play(agent, "Go", { session });
    await begun;
    const runId = (await session.runs())[0]?.runId ?? "";
    expect(await store.runs.stop(runId, { reason: "user pressed stop" })).toBe(true);
    const { outcome } = await running;
    const message = "The run was asked to stop: user pressed stop";
    expect(outcome).toMatchObject({ status: "stopped", reason: "stop-requested", message });
    const stopped = { status: "stopped", reason: "stop-requested", stopReason: "user pressed stop" };
    expect(await store.runs.get(runId)).toMatchObject(stopped);
    expect(await store.runs.list()).toMatchObject([stopped]);
    expect(glance(await session.getItems())).toEqual(["user: Go"]);
    expect(await store.runs.stop(runId)).toBe(false);
    await expect(agent.resume(runId, { store })).rejects.toMatchObject({ code: "run-not-resumable" });
  });

  onStores("takes its subagents with it, by the id of any of them", async ({ play, session, store }) => {
    const { begun, wait } = endless();
    const model = () => scriptedModel([calls({ name: "wait" }), "Never."]);
    const inner = new Agent({ name: "inner", model: model(), tools: [wait] });
    const asking = scriptedModel([calls({ name: "inner", input: { prompt: "Go" } }), "Never."]);
    const middle = new Agent({ name: "middle", model: asking, tools: [inner.asTool()] });
    const top = scriptedModel([calls({ name: "middle", input: { prompt: "Go" } }), "Never."]);
    const agent = new Agent({ name: "outer", model: top, tools: [middle.asTool()] });
    const running = play(agent, "Go", { session });
    await begun;
    const runs = await store.runs.list({ subagents: true });
    expect(await store.runs.stop(runs[0]?.runId ?? "")).toBe(true);
    expect((await running).outcome.reason).toBe("stop-requested");
    const after = await store.runs.list({ subagents: true });
    expect(after.map(({ status, reason }) => `${status} ${reason}`)).toEqual(Array(3).fill("stopped stop-requested"));
    expect(top.callCount).toBe(1);
  });

  test("keeps the text that was streamed", async () => {
    const store = memoryStore();
    const session = store.session("s");
    const agent = new Agent({ model: scriptedModel(["One two three four five six seven eight."]) });
    const stream = agent.stream("Count", { session });
    let stopping: Promise<boolean> | undefined;
    for await (const event of stream)
      if (event.type === "text-delta") {
        stopping ??= store.runs.stop(stream.runId);
        await stopping;
      }
    const { outcome, text } = await stream.result;
    expect(await stopping).toBe(true);
    expect(outcome.reason).toBe("stop-requested");
    const items = await session.getItems();
    expect(items[1]).toMatchObject({ role: "assistant", content: text, metadata: { interrupted: true } });
    expect("One two three four five six seven eight.".startsWith(text)).toBe(true);
  });

  onStores(
    "inside a tool keeps the text beside the call, and ends the tool's events",
    async ({ play, events, session, store }) => {
      const { begun, wait } = endless();
      const script = [{ text: "Let me look. ", toolCalls: [{ name: "wait", input: {} }] }, "Never."];
      const agent = new Agent({ model: scriptedModel(script), tools: [wait] });
      const ends: unknown[] = [];
      const hooks = { onToolEnd: ({ result }: { result: { status?: string } }) => void ends.push(result.status) };
      const running = play(agent, "Go", { session, hooks });
      await begun;
      await store.runs.stop((await session.runs())[0]?.runId ?? "");
      const { text, messages, runId } = await running;
      expect([text, ends]).toEqual(["Let me look. ", ["interrupted"]]);
      const items = await session.getItems();
      expect(glance(items)).toEqual(["user: Go", "assistant: Let me look. "]);
      expect(items[1]?.metadata).toMatchObject({ interrupted: true, runId });
      expect(glance(messages.all())).toEqual(["user: Go", "assistant: [wait] Let me look. "]);
      const started = events.filter(({ type }) => type === "tool-start").length;
      expect(events.filter(({ type }) => type === "tool-end")).toHaveLength(started);
      const next = await play(new Agent({ model: scriptedModel(["Hello."]) }), "And now?", { session });
      expect(next.text).toBe("Hello.");
    },
  );

  onStores("between two steps keeps the newest text", async ({ play, session, store }) => {
    const { promise: begun, resolve } = Promise.withResolvers<void>();
    const look = tool({ name: "look", execute: () => "nothing" });
    const slow = scriptedModel([
      { text: "Let me look.", toolCalls: [{ name: "look", input: {} }] },
      () => new Promise<never>(() => {}),
    ]);
    const hooks = { onStepEnd: () => resolve() };
    const running = play(new Agent({ model: slow, tools: [look] }), "Go", { session, hooks });
    await begun;
    await store.runs.stop((await session.runs())[0]?.runId ?? "");
    expect((await running).text).toBe("Let me look.");
    expect(glance(await session.getItems())).toEqual(["user: Go", "assistant: Let me look."]);
  });

  onStores("and waits for a person has ended when stop resolves", async ({ play, session, store }) => {
    const { agent, paid } = payingFamily("ann");
    const { runId } = await play(agent, "Pay", { session });
    expect(await store.runs.stop(runId, { reason: "never mind" })).toBe(true);
    expect(await store.runs.list({ status: "waiting", subagents: true })).toEqual([]);
    const run = await store.runs.get(runId);
    expect(run).toMatchObject({ status: "stopped", reason: "stop-requested", stopReason: "never mind", approvals: [] });
    await expect(agent.resume(runId, { store, approve: ["ann"] })).rejects.toMatchObject({ code: "run-not-resumable" });
    expect([paid, await store.runs.stop(runId)]).toEqual([[], false]);
  });

  onStores("or was never there, is nothing to stop", async ({ play, session, store }) => {
    const { runId } = await play(new Agent({ model: scriptedModel(["Hi."]) }), "Hi", { session });
    expect(await store.runs.stop(runId)).toBe(false);
    expect(await store.runs.stop("unknown")).toBe(false);
    await expect(store.runs.stop(runId, { why: "x" } as object)).rejects.toMatchObject({ code: "invalid-argument" });
  });

  test("is resumed by nobody, even if the decision comes at the same time", async () => {
    for (let round = 0; round < 20; round++) {
      const store = memoryStore();
      const { agent, paid } = payingAgent([calls(payTo("ann")), "Paid."]);
      const { runId } = await agent.run("Pay", { session: store.session("s") });
      const [isStopped, resumed] = await Promise.allSettled([
        store.runs.stop(runId),
        agent.resume(runId, { store, approve: ["ann"] }),
      ]);
      const run = await store.runs.get(runId);
      if (resumed.status === "rejected") expect([run?.reason, paid]).toEqual(["stop-requested", []]);
      else expect(resumed.value.outcome.reason).toBe(run?.reason);
      expect(isStopped.status).toBe("fulfilled");
    }
  });
});

/** Races stops against answers, and returns how often each won. */
async function race(rounds: number, store: Store): Promise<{ stopped: number; answered: number }> {
  const count = { stopped: 0, answered: 0 };
  for (let round = 0; round < rounds; round++) {
    const session = store.session(`race-${round}`);
    const reply = async () => {
      await sleep(Math.random() * 3);
      return "The answer.";
    };
    const agent = new Agent({ model: scriptedModel([reply]) });
    const stream = agent.stream("Ask", { session });
    await stream.started;
    await sleep(Math.random() * 5);
    const isStopped = await store.runs.stop(stream.runId);
    const { outcome } = await stream.result;
    expect(outcome.reason).toBe(isStopped ? "stop-requested" : "answered");
    const run = await store.runs.get(stream.runId);
    expect([run?.status, run?.reason]).toEqual([outcome.status, outcome.reason]);
    count[isStopped ? "stopped" : "answered"]++;
  }
  return count;
}

test.each<[string, () => Store]>([
  ["a memory store", memoryStore],
  ["SQLite", () => sqliteStore({ path: ":memory:" })],
])("a stop races the answer to one of two outcomes, 100 times on %s", async (_, open) => {
  await using store = open();
  const { stopped, answered } = await race(100, store);
  expect(stopped).toBeGreaterThan(0);
  expect(answered).toBeGreaterThan(0);
  expect(await store.verify()).toEqual([]);
});
