// Claims about the record: lists with filters, titles, feedback, branches, files, and what the model saw.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { ContentPart, Message } from "../../messages/message.ts";
import type { ListRunsOptions } from "../../sessions/records/run-list.ts";
import type { ListSessionsOptions } from "../../sessions/records/session-list.ts";
import type { Store } from "../../sessions/store.ts";
import { answered, calling, ended, open, resultOf, type StoreClaim, said, start, step, texts } from "./claim.ts";
import { recordRun } from "./recorded-run.ts";

const day = (n: number): string => `2026-01-0${n}T00:00:00.000Z`;

/** Four runs of three sessions, one with a subagent; one that failed and one that waits. */
async function fill(store: Store): Promise<void> {
  await recordRun(store, { session: "anna", runId: "a1", question: "Where is order 17?" });
  const guide = { agent: "guide", model: "large" };
  await recordRun(store, {
    session: "bert",
    runId: "b1",
    question: "a refund",
    ...guide,
    status: "failed",
    at: day(2),
  });
  await recordRun(store, { session: "cleo", runId: "c1", question: "hello", status: "waiting", at: day(3) });
  await recordRun(store, { session: "anna", runId: "a2", question: "Refund it", subagent: "helper", at: day(4) });
  await store.session("anna").describe({ metadata: { user: "u1", tags: ["vip"] } });
  await store.session("cleo").describe({ title: "Greetings", metadata: { user: "u2" } });
}

async function runIds(store: Store, options: ListRunsOptions = {}): Promise<string[]> {
  return (await store.runs.list(options)).map(({ runId }) => runId);
}

async function sessionIds(store: Store, options: ListSessionsOptions = {}): Promise<string[]> {
  return (await store.sessions.list(options)).map(({ sessionId }) => sessionId);
}

/** All pages of a list. */
async function pages<T extends { readonly cursor: string }>(
  list: (page: { limit: number; before: string | undefined }) => Promise<T[]>,
  limit: number,
): Promise<T[]> {
  const found: T[] = [];
  for (;;) {
    const page = await list({ limit, before: found.at(-1)?.cursor });
    found.push(...page);
    if (page.length < limit) return found;
  }
}

const longUrl = `data:image/png;base64,${"iVBORw0KGgo".repeat(500)}`;
const withImage = (text: string): Message => {
  const parts = [
    { type: "text", text },
    { type: "image_url", image_url: { url: longUrl } },
  ];
  return { role: "user", content: parts as unknown as ContentPart[] };
};

export const recordClaims: readonly StoreClaim[] = [
  {
    name: "runs are listed by status, agent, model, time, text, metadata and session",
    async claim(store) {
      await fill(store);
      assert.deepEqual(await runIds(store), ["a2", "c1", "b1", "a1"]);
      assert.deepEqual(await runIds(store, { subagents: true }), ["a2.child", "a2", "c1", "b1", "a1"]);
      assert.deepEqual(await runIds(store, { status: ["failed", "waiting"] }), ["c1", "b1"]);
      assert.deepEqual(await runIds(store, { status: "running" }), []);
      assert.deepEqual(await runIds(store, { agent: "guide" }), ["b1"]);
      assert.deepEqual(await runIds(store, { agent: ["guide", "desk"], status: "completed" }), ["a2", "a1"]);
      assert.deepEqual(await runIds(store, { model: ["large", "huge"] }), ["b1"]);
      assert.deepEqual(await runIds(store, { since: day(2), until: new Date(day(3)) }), ["c1", "b1"]);
      assert.deepEqual(await runIds(store, { text: "REFUND" }), ["a2", "b1"]);
      assert.deepEqual(await runIds(store, { metadata: { user: "u1" } }), ["a2", "a1"]);
      assert.deepEqual(await runIds(store, { metadata: { user: "u1", tags: ["vip"] }, sessionId: "cleo" }), []);
      assert.deepEqual(await runIds(store, { order: "oldest" }), ["a1", "b1", "c1", "a2"]);
      await assert.rejects(store.runs.list({ status: "done" as "failed" }), { code: "invalid-argument" });
      await assert.rejects(store.runs.list({ before: "x" }), { code: "invalid-argument" });
    },
  },
  {
    name: "a listed run has its model, cost, steps, errors and duration",
    async claim(store) {
      const failing = { isError: true, cost: 0.25, durationMs: 50 };
      await recordRun(store, { session: "anna", runId: "a1", question: "hi", subagent: "helper", ...failing });
      const [run, child] = await store.runs.list({ subagents: true, order: "oldest" });
      assert.deepEqual(
        [run?.model, run?.provider, run?.cost, run?.usage?.totalTokens],
        ["small", "offstage", 0.75, 33],
      );
      assert.deepEqual([run?.stepCount, run?.errorCount, run?.durationMs], [2, 1, 50]);
      assert.deepEqual([child?.parentRunId, child?.parentToolCallId, child?.cost], ["a1", "a1.call", 0.25]);
    },
  },
  {
    name: "a listed run counts the failed calls of a last step whose results are written with the end",
    async claim(store) {
      const log = await open(store, "anna", start("a1", "hi"));
      await log.intend(1, calling("c1", "c2"));
      const failed = { ...resultOf("c1"), metadata: { isError: true } };
      const lastStep = step(1, [calling("c1", "c2"), failed, resultOf("c2")]);
      await log.end(ended("", { status: "stopped", reason: "step-limit", answer: [], lastStep }));
      const [run] = await store.runs.list();
      assert.deepEqual([run?.stepCount, run?.errorCount], [1, 1]);
    },
  },
  {
    name: "the pages of the lists of runs and sessions are complete and in order, in both orders",
    async claim(store) {
      for (let n = 0; n < 12; n++) await recordRun(store, { session: `s${n % 5}`, runId: `r${n}`, question: `${n}` });
      for (const order of ["newest", "oldest"] as const) {
        for (const limit of [1, 5, 12]) {
          const runs = await pages((page) => store.runs.list({ ...page, order }), limit);
          assert.deepEqual(runs, await store.runs.list({ order }));
          const sessions = await pages((page) => store.sessions.list({ ...page, order }), limit);
          assert.deepEqual(sessions, await store.sessions.list({ order }));
        }
      }
      const some = await pages((page) => store.runs.list({ ...page, text: "1" }), 2);
      assert.deepEqual(
        some.map(({ runId }) => runId),
        ["r11", "r10", "r1"],
      );
    },
  },
  {
    name: "sessions are listed by text, metadata, agent, status and time",
    async claim(store) {
      await fill(store);
      assert.deepEqual(await sessionIds(store), ["anna", "cleo", "bert"]);
      assert.deepEqual(await sessionIds(store, { text: "ORDER 17" }), ["anna"]);
      assert.deepEqual(await sessionIds(store, { text: "bert" }), ["bert"]);
      assert.deepEqual(await sessionIds(store, { metadata: { user: "u2" } }), ["cleo"]);
      assert.deepEqual(await sessionIds(store, { agent: "guide" }), ["bert"]);
      assert.deepEqual(await sessionIds(store, { status: ["waiting", "failed"] }), ["cleo", "bert"]);
      assert.deepEqual(await sessionIds(store, { agent: "desk", status: "failed" }), []);
      assert.deepEqual(await sessionIds(store, { order: "oldest" }), ["bert", "cleo", "anna"]);
      await sleep(5);
      const now = Date.now();
      await sleep(5);
      await store.session("bert").addItem(said("more"));
      assert.deepEqual(await sessionIds(store, { since: now }), ["bert"]);
      assert.deepEqual(await sessionIds(store, { until: now }), ["anna", "cleo"]);
      const [first] = await store.sessions.list({ limit: 1, agent: "desk" });
      assert.deepEqual([first?.lastAgent, first?.lastStatus, first?.runCount], ["desk", "completed", 2]);
    },
  },
  {
    name: "a session has a first title from its first words, and a title and metadata that can be set and removed",
    async claim(store) {
      const session = store.session("a");
      await session.addItems([answered("Welcome!"), said(`  What   is\n${"very ".repeat(20)}long?`)]);
      const info = async () => store.sessions.get("a");
      assert.match((await info())?.title ?? "", /^What is very very [very ]+…$/);
      await session.describe({ title: "Anna's order", metadata: { user: 7, nested: { a: [1, null] } } });
      await session.addItem(said("another question"));
      assert.deepEqual(
        [(await info())?.title, (await info())?.metadata],
        ["Anna's order", { user: 7, nested: { a: [1, null] } }],
      );
      await session.describe({ metadata: { user: 8 } });
      assert.deepEqual([(await info())?.title, (await info())?.metadata], ["Anna's order", { user: 8 }]);
      await session.describe({ title: null, metadata: null });
      assert.deepEqual([(await info())?.title, (await info())?.metadata], [undefined, undefined]);
      await store.session("new").describe({ title: "Only a title" });
      assert.deepEqual(await sessionIds(store), ["new", "a"]);
      await assert.rejects(session.describe({ titel: "x" } as never), { code: "invalid-argument" });
      assert.deepEqual(await store.verify(), []);
    },
  },
  {
    name: "feedback on a run is in lists, queries and exports",
    async claim(store) {
      await fill(store);
      await store.annotate({ runId: "a1", label: "score", value: { stars: 4 }, by: "anna" });
      const given = { runId: "a1", messageId: "a1.answer", label: "bad", note: "too \ud800 short" };
      const stored = await store.annotate(given);
      assert.deepEqual({ ...stored, createdAt: "" }, { ...given, sessionId: "anna", createdAt: "" });
      const all = await store.runs.annotations("a1");
      assert.deepEqual(
        all.map(({ label, value }) => [label, value]),
        [
          ["score", { stars: 4 }],
          ["bad", undefined],
        ],
      );
      const listed = await store.runs.list({ sessionId: "anna" });
      assert.deepEqual(
        listed.map(({ annotations }) => annotations),
        [undefined, all],
      );
      for (const label of ["bad", ["score", "bad"]]) assert.deepEqual(await runIds(store, { label }), ["a1"]);
      assert.deepEqual(await runIds(store, { label: "bad", order: "oldest", limit: 1 }), ["a1"]);
      assert.deepEqual(await runIds(store, { label: "good" }), []);
      await assert.rejects(store.runs.list({ label: 5 } as never), { code: "invalid-argument" });
      const query = await store.session("anna").query();
      assert.deepEqual(query.runs().find(({ runId }) => runId === "a1")?.annotations?.length, 2);
      assert.match(query.export("markdown"), /too . short/);
      await assert.rejects(store.annotate({ runId: "none", label: "bad" }), { code: "run-not-found" });
      await assert.rejects(store.annotate({ runId: "a1" } as never), { code: "invalid-argument" });
      assert.deepEqual(await store.verify(), []);
      await store.sessions.delete("anna");
      assert.deepEqual(await store.runs.annotations("a1"), []);
    },
  },
  {
    name: "a branch knows its origin, and its query has the tool traces behind its messages",
    async claim(store) {
      const session = store.session("anna");
      await recordRun(store, { session: "anna", runId: "a1", question: "one", subagent: "helper" });
      await recordRun(store, { session: "anna", runId: "a2", question: "two" });
      await recordRun(store, { session: "anna", runId: "a3", question: "three" });
      const branch = await session.branch(4, { id: "b" });
      await recordRun(store, { session: "b", runId: "b1", question: "four" });
      const again = await branch.branch(undefined, { id: "c" });
      assert.deepEqual((await store.sessions.get("b"))?.branchedFrom, { sessionId: "anna", messageCount: 4 });
      assert.deepEqual((await store.sessions.get("c"))?.branchedFrom, { sessionId: "b", messageCount: 6 });
      const one = ["one", null, "please: one", "helper did it", "found one", "answer to one"];
      const others = ["two", "four"].flatMap((text) => [text, null, `found ${text}`, `answer to ${text}`]);
      for (const each of [branch, again]) {
        const query = await each.query();
        assert.deepEqual(texts(query.all()), [...one, ...others]);
        assert.equal(query.toolSummary()[0]?.callCount, 3);
        assert.deepEqual(
          query.runs().map(({ runId }) => runId),
          ["a1", "a1.child", "a2", "b1"],
        );
      }
      assert.equal((await again.getItems()).length, 6);
      await store.sessions.delete("anna");
      assert.deepEqual(texts((await again.query()).all()).slice(0, 4), [
        "one",
        "answer to one",
        "two",
        "answer to two",
      ]);
      assert.deepEqual(await store.verify(), []);
    },
  },
  {
    name: "files round-trip, also in branches and after they were sent again",
    async claim(store) {
      const session = store.session("a");
      await session.addItems([withImage("one"), answered("seen"), withImage("two")]);
      await session.addItem(withImage("three"));
      const log = await open(store, "a", start("r", "", { input: [withImage("four")] }));
      await log.end(ended("seen"));
      const expected = [withImage("one"), answered("seen"), withImage("two"), withImage("three"), withImage("four")];
      assert.deepEqual(await session.getItems(), [...expected, answered("seen")]);
      assert.deepEqual(await (await session.branch(1)).getItems(), [withImage("one")]);
      assert.deepEqual((await store.runs.get("r"))?.input, [withImage("four")]);
      await store.sessions.delete("a");
      await session.addItem(withImage("anew"));
      assert.deepEqual(await session.getItems(), [withImage("anew")]);
    },
  },
  {
    name: "the input of a step is what the model saw, and says what changed since another",
    async claim(store) {
      const setup = { modelId: "m1", provider: "p", tools: [{ name: "look" }], settings: { temperature: 0 } };
      const system: Message = { role: "system", content: "Be \0 brief." };
      const [question, reply, note] = [said("hi"), answered("draft"), said("try again")];
      const log = await open(store, "a", start("r", "", { input: [question] }));
      await log.step(step(1, [reply, note], { input: { setup, messages: [system, question] } }));
      const larger = { ...setup, modelId: "m2" };
      const lastStep = step(2, [answered("done")], { input: { setup: larger } });
      await log.end(ended("done", { lastStep }));
      const first = await store.runs.input("r", 1);
      const second = await store.runs.input("r", 2);
      assert.deepEqual({ ...first }, { ...setup, messages: [system, question] });
      assert.deepEqual({ ...second }, { ...larger, messages: [system, question, reply, note] });
      assert.ok(first !== undefined && second !== undefined);
      assert.deepEqual(second.since(first), { added: [reply, note], removed: [], changed: ["modelId"] });
      assert.deepEqual(first.since(second), { added: [], removed: [reply, note], changed: ["modelId"] });
      assert.equal(await store.runs.input("r", 3), undefined);
      assert.equal(await store.runs.input("none", 1), undefined);
      await assert.rejects(store.runs.input("r", 0), { code: "invalid-argument" });
      await store.session("a").clearSession();
      const left = await store.runs.input("r", 1);
      assert.deepEqual([left?.isIncomplete, left?.messages], [true, [system]]);
    },
  },
];
