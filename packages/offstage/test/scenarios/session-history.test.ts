// Sessions and runs: how much history a run is sent, how runs on one session queue, and custom sessions.
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { Agent, assistant, isOffstageError, type Message, type SessionPort, system, user } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { payingAgent, payTo } from "../support/approval-cast.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echo, echoing, glance, pause } from "../support/cast.ts";
import { onSessions, onStores } from "../support/session-kinds.ts";

describe("historyLimit", () => {
  const long = ["a", "b", "c"].flatMap((name) => [user(name), assistant(`${name}1`), assistant(`${name}2`)]);
  const whole = long.map(({ content }) => String(content));
  const cases: readonly (readonly [limit: number | undefined, sent: readonly string[]])[] = [
    [undefined, whole],
    [0, []],
    [1, ["c", "c1", "c2"]],
    [2, ["c", "c1", "c2"]],
    [3, ["c", "c1", "c2"]],
    [5, ["c", "c1", "c2"]],
    [6, ["b", "b1", "b2", "c", "c1", "c2"]],
    [100, whole],
  ];
  for (const [limit, sent] of cases) {
    onSessions(`${limit} sends ${sent.length} of nine messages, in whole turns`, async ({ play, session }) => {
      await session.addItems(long);
      const model = scriptedModel(["Ok."]);
      const options = limit === undefined ? {} : { historyLimit: limit };
      const { historyCut } = await play(new Agent({ model }), "Now", { session, ...options });
      expect(model.requests[0]?.messages.map(({ content }) => content)).toEqual([...sent, "Now"]);
      const cut = { shown: sent.length, notShown: 9 - sent.length, limit: "historyLimit" };
      expect(historyCut).toEqual(sent.length === 9 ? undefined : cut);
      expect(await session.getItemCount()).toBe(11);
    });
  }

  const sixty = Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? user(`${n}`) : assistant(`${n}`)));
  const cutByDefault = { shown: 50, notShown: 10, limit: "historyLimit" };

  onSessions("is 50 messages by default", async ({ play, session }) => {
    await session.addItems(sixty);
    const model = scriptedModel(["Ok."]);
    await play(new Agent({ model }), "Now", { session });
    expect(model.requests[0]?.messages).toHaveLength(51);
  });

  onSessions("is not silent: an event, a hook and the result say what was not shown", async ({ play, session }) => {
    await session.addItems(sixty);
    const told: unknown[] = [];
    const hooks = { onHistoryCut: (event: unknown) => told.push(event) };
    const agent = new Agent({ model: scriptedModel(["Ok."]), hooks });
    const result = await play(agent, "Now", { session });
    expect(told).toEqual([{ type: "history-cut", runId: result.runId, agent: "agent", ...cutByDefault }]);
    expect(result.historyCut).toEqual(cutByDefault);
    expect(inspect(result)).toContain("notShown: 10");
    expect(JSON.parse(JSON.stringify(result))).toMatchObject({ historyCut: cutByDefault });
  });

  onSessions("is told in the order of events, after the start", async ({ play, session, events, way }) => {
    await session.addItems(sixty);
    await play(new Agent({ model: scriptedModel(["Ok."]) }), "Now", { session });
    const types = events.map(({ type }) => type);
    if (way === "stream") expect(types.indexOf("history-cut")).toBeGreaterThan(types.indexOf("run-start"));
    expect(types.filter((type) => type === "history-cut")).toHaveLength(way === "stream" ? 1 : 0);
  });

  onSessions("says so if historyTokens cut more", async ({ play, session }) => {
    await session.addItems(sixty);
    const { historyCut } = await play(new Agent({ model: scriptedModel(["Ok."]) }), "Now", {
      session,
      historyTokens: 50,
    });
    expect(historyCut).toMatchObject({ limit: "historyTokens" });
    expect((historyCut?.shown ?? 0) + (historyCut?.notShown ?? 0)).toBe(60);
  });

  onStores("says so again after a resume, and counts only what was said before the run", async (scene) => {
    const { fail, session, store } = scene;
    await session.addItems(sixty);
    const agent = new Agent({ model: scriptedModel([new Error("down"), "Ok."]), retry: { maxRetries: 0 } });
    await fail(agent, "Now", { session });
    await session.addItems([user("later"), assistant("later")]);
    const [failed] = await store.runs.list({ status: "failed" });
    expect((await agent.resume(String(failed?.runId), { store })).historyCut).toEqual(cutByDefault);
  });

  test("a session of your own is counted only if it was cut", async () => {
    let counted = 0;
    const items: Message[] = [user("a"), assistant("b"), user("c"), assistant("d")];
    const session: SessionPort = {
      sessionId: "own",
      getItems: async (limit = items.length) => (limit === 0 ? [] : items.slice(-limit)),
      addItems: async (added) => void items.push(...added),
      popItem: async () => items.pop(),
      clearSession: async () => void items.splice(0),
      getItemCount: async () => {
        counted++;
        return items.length;
      },
    };
    const agent = new Agent({ model: scriptedModel(["Ok.", "Ok."]) });
    expect((await agent.run("Now", { session })).historyCut).toBeUndefined();
    expect(counted).toBe(0);
    const { historyCut } = await agent.run("Now", { session, historyLimit: 2 });
    expect(historyCut).toEqual({ shown: 2, notShown: 4, limit: "historyLimit" });
  });

  onSessions("keeps messages before the first question if everything fits", async ({ play, session }) => {
    await session.addItems([system("Be kind."), assistant("Welcome."), user("Hi"), assistant("Hello.")]);
    const model = scriptedModel(["Ok."]);
    await play(new Agent({ model }), "Now", { session });
    expect(model.requests[0]?.messages).toHaveLength(5);
  });

  onSessions("that is not a whole number is refused before anything is written", async ({ fail, session }) => {
    const agent = new Agent({ model: scriptedModel([]) });
    const error = await fail(agent, "Hi", { session, historyLimit: -1 });
    expect(String(error.cause ?? error)).toContain('"historyLimit" must be a whole number');
    expect(await session.getItemCount()).toBe(0);
  });
});

/** A session with the five methods, as a user would write one. */
class ListSession implements SessionPort {
  readonly sessionId = "list";
  readonly items: Message[] = [];
  readonly added: (readonly Message[])[] = [];

  async getItems(limit?: number): Promise<Message[]> {
    return this.items.slice(limit === undefined ? 0 : Math.max(0, this.items.length - limit));
  }
  async addItems(items: readonly Message[]): Promise<void> {
    this.added.push(items);
    this.items.push(...items);
  }
  async popItem(): Promise<Message | undefined> {
    return this.items.pop();
  }
  async clearSession(): Promise<void> {
    this.items.length = 0;
  }
  async getItemCount(): Promise<number> {
    return this.items.length;
  }
}

describe("a custom session with the five methods", () => {
  bothWays("is written to exactly twice per turn", async ({ play }) => {
    const session = new ListSession();
    const model = scriptedModel([calls(echoing("a")), calls(echoing("b")), "Both.", "Yes."]);
    const agent = new Agent({ model, tools: [echo] });
    await play(agent, "Go", { session });
    expect(session.added.map(glance)).toEqual([["user: Go"], ["assistant: Both."]]);
    await play(agent, "Sure?", { session });
    expect(session.added).toHaveLength(4);
    expect(glance(model.requests[3]?.messages ?? [])).toEqual(["user: Go", "assistant: Both.", "user: Sure?"]);
  });

  bothWays("is read as far back as it takes to send whole turns", async ({ play }) => {
    const session = new ListSession();
    session.items.push(user("a"), ...Array.from({ length: 9 }, (_, n) => assistant(`a${n}`)));
    const model = scriptedModel(["Ok."]);
    await play(new Agent({ model }), "Now", { session, historyLimit: 2 });
    expect(model.requests[0]?.messages).toHaveLength(11);
  });

  bothWays("that cannot store the answer fails the run, and is free for the next run", async ({ play, fail }) => {
    const session = new ListSession();
    const agent = new Agent({ model: scriptedModel(["One.", "Two."]) });
    session.addItems = async (items) => {
      if (items.some(({ role }) => role === "assistant")) throw new Error("disk full");
      session.items.push(...items);
    };
    const error = await fail(agent, "1", { session });
    expect(error).toMatchObject({ code: "store-failed", result: { outcome: { reason: "store-failed" } } });
    Reflect.deleteProperty(session, "addItems");
    await play(agent, "2", { session });
    expect(glance(session.items)).toEqual(["user: 1", "user: 2", "assistant: Two."]);
  });

  bothWays("receives the answer of a run that waited and was resumed by state", async ({ play }) => {
    const { agent, paid } = payingAgent([calls(payTo("ann")), "Paid."]);
    const session = new ListSession();
    const { state, runId } = await play(agent, "Pay", { session });
    await expect(agent.resume(runId, { session, approve: ["ann"] })).rejects.toMatchObject({
      code: "run-not-resumable",
    });
    await expect(agent.resume(state, { session, approve: ["bob"] })).rejects.toThrow('No tool call "bob" waits');
    expect((await agent.resume(state, { session, approve: ["ann"] })).output).toBe("Paid.");
    expect(glance(session.items)).toEqual(["user: Pay", "assistant: Paid."]);
    expect(paid).toEqual(["ann"]);
    await play(new Agent({ model: scriptedModel(["Yes."]) }), "Done?", { session });
    expect(glance(session.items)).toHaveLength(4);
  });

  bothWays('receives each message of a run that waited exactly once, with persist: "everything"', async ({ play }) => {
    const script = [calls(echoing("a")), calls(payTo("ann")), calls(payTo("bob")), "Paid."];
    const { agent } = payingAgent(script);
    const session = new ListSession();
    const options = { session, persist: "everything" } as const;
    const first = await play(agent, "Pay", options);
    const second = await agent.resume(first.state, { ...options, approve: first.approvals });
    await agent.resume(second.state, { ...options, approve: second.approvals });
    expect(glance(session.items)).toEqual([
      "user: Pay",
      "assistant: [echo]",
      "tool: echo a",
      "assistant: [pay]",
      "tool: paid ann",
      "assistant: [pay]",
      "tool: paid bob",
      "assistant: Paid.",
    ]);
  });

  bothWays("may return its own internal list, and a question is still sent once", async ({ play }) => {
    const session = new ListSession();
    session.getItems = async () => session.items;
    const model = scriptedModel(["One.", "Two."]);
    const agent = new Agent({ model });
    await play(agent, "1", { session });
    await play(agent, "2", { session });
    expect(glance(model.requests[1]?.messages ?? [])).toEqual(["user: 1", "assistant: One.", "user: 2"]);
  });

  test.each([
    [{ sessionId: "s", getItems: async () => [] }, "an object without getItems or addItems"],
    [
      Object.assign(new ListSession(), { getItems: async () => undefined }),
      "must return a list of messages; found undefined",
    ],
  ])("that lacks a method or returns a wrong value is refused with the reason (case %#)", async (session, sentence) => {
    const running = new Agent({ model: scriptedModel(["Hi."]) }).run("Hi", { session: session as never });
    await expect(running).rejects.toThrow(sentence);
  });

  test("stores no runs, so that resume() by id is refused", async () => {
    const agent = new Agent({ model: scriptedModel([]), session: new ListSession() });
    await expect(agent.resume("r")).rejects.toMatchObject({ code: "run-not-resumable" });
  });
});

describe("one run at a time on a session", () => {
  const slow = () =>
    scriptedModel(async ({ messages }) => {
      await pause(2);
      return `${messages.filter(({ role }) => role === "user").length} asked`;
    });
  bothWays("concurrent runs queue in order, on a custom session", ({ play }) => queue(play, new ListSession()));
  bothWays('onBusy: "reject" fails with SessionBusyError and writes nothing, on a custom session', ({ play, fail }) =>
    reject({ play, fail }, new ListSession()),
  );
  onSessions("concurrent runs queue in order", ({ play, session }) => queue(play, session));
  onSessions('onBusy: "reject" fails with SessionBusyError and writes nothing', ({ play, fail, session }) =>
    reject({ play, fail }, session),
  );

  type Scene = Parameters<Parameters<typeof bothWays>[1]>[0];

  async function queue(play: Scene["play"], session: SessionPort): Promise<void> {
    const [one, two] = [new Agent({ model: slow() }), new Agent({ model: slow() })];
    await Promise.all([1, 2, 3, 4].map((n) => play(n % 2 === 0 ? one : two, `${n}`, { session })));
    expect(glance(await session.getItems())).toEqual(
      [1, 2, 3, 4].flatMap((n) => [`user: ${n}`, `assistant: ${n} asked`]),
    );
  }

  async function reject({ play, fail }: Pick<Scene, "play" | "fail">, session: SessionPort): Promise<void> {
    const refused = Promise.withResolvers<void>();
    const model = scriptedModel(async () => {
      await refused.promise;
      return "1 asked";
    });
    const agent = new Agent({ model });
    const first = play(agent, "1", { session });
    await pause(0);
    const error = await fail(agent, "2", { session, onBusy: "reject" });
    refused.resolve();
    expect(isOffstageError(error, "session-busy")).toBe(true);
    expect(error.name).toBe("SessionBusyError");
    await first;
    expect(glance(await session.getItems())).toEqual(["user: 1", "assistant: 1 asked"]);
  }

  onSessions("a run that is aborted while queued leaves the queue", async ({ play, fail, session }) => {
    const agent = new Agent({ model: slow() });
    const aborting = new AbortController();
    const first = play(agent, "1", { session });
    const second = fail(agent, "2", { session, signal: aborting.signal });
    const third = play(agent, "3", { session });
    aborting.abort(new Error("never mind"));
    expect(await second).toMatchObject({ message: "never mind" });
    await Promise.all([first, third]);
    expect(glance(await session.getItems())).toHaveLength(4);
  });
});
