// Claims about the journal: what is durable after each write, and that writes are idempotent.
import assert from "node:assert/strict";
import type { SpanData } from "../../tracing/span-data.ts";
import { answered, calling, ended, open, resultOf, type StoreClaim, said, start, step, texts, turn } from "./claim.ts";

export const journalClaims: readonly StoreClaim[] = [
  {
    name: "the user's message and the run are durable before anything else happens",
    async claim(store) {
      const log = await open(store, "a", start("r1", "hello"));
      assert.deepEqual(await store.session("a").getItems(), [said("hello")]);
      const run = await store.runs.get("r1");
      assert.equal(run?.status, "running");
      assert.deepEqual(run?.input, [said("hello")]);
      await log.abandon();
    },
  },
  {
    name: "a finished turn is the question and the answer; the steps are in the run",
    async claim(store) {
      await turn(store, "a", 1);
      assert.deepEqual(texts(await store.session("a").getItems()), ["question 1", "answer 1"]);
      const run = await store.runs.get("run-a-1");
      assert.equal(run?.status, "completed");
      assert.equal(run?.usage?.totalTokens, 7);
      assert.deepEqual(
        run?.steps.map(({ messages }) => messages),
        [[calling("call-1"), resultOf("call-1")], [answered("answer 1")]],
      );
      assert.equal(run?.openStep, undefined);
      assert.deepEqual(await store.verify(), []);
    },
  },
  {
    name: "a run sees the conversation before it, in whole turns",
    async claim(store) {
      for (const n of [1, 2, 3]) await turn(store, "a", n);
      for (const [limit, expected] of [
        [0, 0],
        [1, 2],
        [2, 2],
        [3, 2],
        [4, 4],
        [50, 6],
        [undefined, 6],
      ] as const) {
        const log = await open(store, "a", start(`limit-${limit}`, "now", { historyLimit: limit }));
        assert.equal(log.history.length, expected, `limit ${limit}`);
        assert.ok(expected === 0 || log.history[0]?.role === "user");
        await log.end(ended("", { status: "failed", answer: [] }));
        await store.session("a").popItem();
      }
    },
  },
  {
    name: "the newest turn is whole even if it is longer than the limit",
    async claim(store) {
      const long = Array.from({ length: 30 }, (_, n) => answered(`part ${n}`));
      await store.session("a").addItems([said("old"), answered("old"), said("new"), ...long]);
      const log = await open(store, "a", start("r", "now", { historyLimit: 4 }));
      assert.equal(log.history.length, 31);
      assert.equal(log.history[0]?.content, "new");
      await log.abandon();
    },
  },
  {
    name: "a run sees messages that were added or removed since the previous run",
    async claim(store) {
      await turn(store, "a", 1);
      await store.session("a").addItems([said("beside"), answered("ok")]);
      const second = await open(store, "a", start("r2", "two"));
      assert.deepEqual(texts(second.history), ["question 1", "answer 1", "beside", "ok"]);
      await second.end(ended("2"));
      await store.session("a").popItem();
      const third = await open(store, "a", start("r3", "three"));
      assert.deepEqual(texts(third.history).slice(-2), ["ok", "two"]);
      await third.abandon();
      await store.session("a").clearSession();
      const fourth = await open(store, "a", start("r4", "four"));
      assert.deepEqual(fourth.history, []);
      await fourth.abandon();
    },
  },
  {
    name: "items added during a run join the conversation where they were added",
    async claim(store) {
      const log = await open(store, "a", start("r", "question"));
      await store.session("a").addItem(said("beside"));
      await log.step(step(1, [calling("c"), resultOf("c")]));
      await log.end(ended("answer"));
      assert.deepEqual(texts(await store.session("a").getItems()), ["question", "beside", "answer"]);
      assert.deepEqual(await store.verify(), []);
    },
  },
  {
    name: "repeating a write changes nothing",
    async claim(store) {
      const log = await open(store, "a", start("r", "question"));
      await log.intend(1, calling("c1", "c2"));
      await log.intend(1, calling("c3"));
      for (let i = 0; i < 2; i++) await log.settle(1, resultOf("c1", `time ${i}`));
      const { openStep } = (await store.runs.get("r")) ?? {};
      assert.deepEqual(texts(openStep?.results ?? []), ["time 0"]);
      assert.deepEqual(
        openStep?.pending.map(({ id }) => id),
        ["c2"],
      );
      const messages = [calling("c1", "c2"), resultOf("c1"), resultOf("c2")];
      for (let i = 0; i < 2; i++) await log.step(step(1, messages));
      await log.intend(1, calling("c1", "c2"));
      await log.settle(1, resultOf("c1"));
      await Promise.all([log.end(ended("answer")), log.end(ended("answer"))]);
      await log.end(ended("answer"));
      const run = await store.runs.get("r");
      assert.equal(run?.steps.length, 1);
      assert.equal(run?.openStep, undefined);
      assert.deepEqual(texts(await store.session("a").getItems()), ["question", "answer"]);
    },
  },
  {
    name: "nothing is written to a run that has ended",
    async claim(store) {
      const log = await open(store, "a", start("r", "question"));
      await log.end(ended("answer"));
      await assert.rejects(async () => log.step(step(9, [answered("late")])));
      await log.abandon();
      assert.equal((await store.runs.get("r"))?.status, "completed");
    },
  },
  {
    name: "a failed run keeps the question, the error and its steps",
    async claim(store) {
      const log = await open(store, "a", start("r", "question", { notes: { from: "test" } }));
      const error = { code: "model-failed", message: "no" };
      await log.end(ended("", { status: "failed", reason: "error", answer: [], error, notes: { more: 1 } }));
      const run = await store.runs.get("r");
      assert.equal(run?.status, "failed");
      assert.deepEqual(run?.error, error);
      assert.deepEqual(run?.notes, { from: "test", more: 1 });
      assert.deepEqual(texts(await store.session("a").getItems()), ["question"]);
    },
  },
  {
    name: "the tool traces of earlier runs can be read by run id",
    async claim(store) {
      await turn(store, "a", 1);
      const log = await open(store, "a", start("r", "now"));
      const traces = await log.toolTraces(["unknown", "run-a-1"]);
      assert.deepEqual(traces.get("run-a-1"), [calling("call-1"), resultOf("call-1")]);
      assert.deepEqual(traces.get("unknown"), []);
      assert.deepEqual(texts(await store.session("a").transcript()), [
        "question 1",
        null,
        "result of call-1",
        "answer 1",
        "now",
      ]);
      await log.abandon();
    },
  },
  {
    name: "the full value of a clipped result is stored",
    async claim(store) {
      const log = await open(store, "a", start("r", "now"));
      const values = { c: { rows: ["x".repeat(100_000)] } };
      await log.step(step(1, [calling("c"), resultOf("c", "[clipped]")], { values }));
      await log.end(ended("done"));
      assert.deepEqual(await store.runs.value("r", "c"), values.c);
      assert.equal(await store.runs.value("r", "d"), undefined);
    },
  },
  {
    name: "runs are listed newest first, in pages, by session, status and agent",
    async claim(store) {
      for (const n of [1, 2, 3]) await turn(store, "a", n);
      await turn(store, "b", 1);
      const failed = await open(store, "a", start("f", "fail", { agent: "clerk" }));
      await failed.end(ended("", { status: "failed", answer: [] }));
      const ids = (runs: readonly { runId: string }[]): string[] => runs.map(({ runId }) => runId);
      assert.deepEqual(ids(await store.runs.list()), ["f", "run-b-1", "run-a-3", "run-a-2", "run-a-1"]);
      assert.deepEqual(ids(await store.session("a").runs({ limit: 2 })), ["f", "run-a-3"]);
      assert.deepEqual(ids(await store.runs.list({ status: "failed" })), ["f"]);
      assert.deepEqual(ids(await store.runs.list({ agent: "clerk" })), ["f"]);
      assert.deepEqual(ids(await store.runs.list({ agent: "clerk", status: "completed" })), []);
      const [first] = await store.runs.list({ limit: 1 });
      assert.deepEqual(ids(await store.runs.list({ before: first?.cursor ?? "", limit: 1 })), ["run-b-1"]);
    },
  },
  {
    name: "an unknown status and an empty agent name are refused",
    async claim(store) {
      await assert.rejects(store.runs.list({ status: "crashed" as "failed" }), { code: "invalid-argument" });
      await assert.rejects(store.runs.list({ agent: "" }), { code: "invalid-argument" });
    },
  },
  {
    name: "a step keeps its notes",
    async claim(store) {
      const log = await open(store, "a", start("r", "question"));
      await log.step(step(1, [calling("c"), resultOf("c")], { notes: { compacted: 3 } }));
      await log.end(ended("answer"));
      assert.deepEqual((await store.runs.get("r"))?.steps[0]?.notes, { compacted: 3 });
    },
  },
  {
    name: "a subagent's run is a child of its parent and in no conversation",
    async claim(store) {
      const log = await open(store, "a", start("parent", "question"));
      const child = await log.child({ ...start("child", "sub-question"), parentToolCallId: "c" });
      await child.step(step(1, [calling("d"), resultOf("d")]));
      const inner = await child.child(start("grandchild", "deeper"));
      await inner.end(ended("inner"));
      await child.end(ended("sub-answer"));
      await log.end(ended("answer"));
      const [listed] = (await store.runs.get("parent"))?.children ?? [];
      assert.deepEqual(
        [listed?.runId, listed?.parentRunId, listed?.parentToolCallId, listed?.status],
        ["child", "parent", "c", "completed"],
      );
      const found = await store.runs.get("child");
      assert.deepEqual(found?.input, [said("sub-question")]);
      assert.equal(found?.steps.length, 1);
      assert.equal(found?.children[0]?.runId, "grandchild");
      assert.deepEqual(texts(await store.session("a").getItems()), ["question", "answer"]);
      assert.deepEqual(
        (await store.runs.list()).map(({ runId }) => runId),
        ["parent"],
      );
      assert.deepEqual(await store.verify(), []);
    },
  },
  {
    name: "spans can be found by run, by trace and by session",
    async claim(store) {
      const log = await open(store, "a", start("r", "now", { traceId: "t1" }));
      await log.step(step(1, [answered("x")], { spans: [span("t1", "s1", 2)] }));
      await log.end(ended("done", { spans: [span("t1", "s0", 1)] }));
      await store.spans.add([span("t1", "s3", 3), span("t2", "s4", 4)]);
      const ids = (spans: readonly SpanData[]): string[] => spans.map(({ spanId }) => spanId);
      assert.deepEqual(ids(await store.spans.list({ runId: "r" })), ["s0", "s1"]);
      assert.deepEqual(ids(await store.spans.list({ traceId: "t1" })), ["s0", "s1", "s3"]);
      assert.deepEqual(ids(await store.spans.list({ traceId: "t2" })), ["s4"]);
      assert.deepEqual(ids(await store.spans.list({ sessionId: "a" })), ["s0", "s1", "s3"]);
      assert.deepEqual((await store.spans.list({ traceId: "t2" }))[0], span("t2", "s4", 4));
    },
  },
  {
    name: "spans can be found by a trace whose id is derived from the run id",
    async claim(store) {
      const [runId, traceId] = ["0a1b2c3d-0000-4000-8000-00000000000f", "0a1b2c3d00004000800000000000000f"];
      const log = await open(store, "a", start(runId, "now", { traceId }));
      await log.end(ended("done", { spans: [span(traceId, "s0", 1)] }));
      await store.spans.add([span(traceId, "s1", 2)]);
      const found = (await store.spans.list({ traceId })).map(({ spanId }) => spanId);
      assert.deepEqual(found, ["s0", "s1"]);
      assert.equal(await store.sessions.delete("a"), true);
      assert.deepEqual(await store.spans.list({ traceId }), []);
    },
  },
  {
    name: "deleting a session keeps the spans of other sessions in the same trace",
    async claim(store) {
      for (const id of ["a", "b"]) {
        const log = await open(store, id, start(`run-${id}`, "now", { traceId: "t1" }));
        await log.end(ended("done", { spans: [span("t1", `s-${id}`, 1)] }));
      }
      await store.spans.add([span("t1", "nobody's", 2)]);
      const found = async (): Promise<string[]> =>
        (await store.spans.list({ traceId: "t1" })).map(({ spanId }) => spanId);
      await store.sessions.delete("a");
      assert.deepEqual(await found(), ["s-b", "nobody's"]);
      await store.sessions.delete("b");
      assert.deepEqual(await found(), []);
    },
  },
  {
    name: "spans of a resumed run can be found by its new trace, and are deleted with the session",
    async claim(store) {
      const log = await open(store, "a", start("r", "now", { traceId: "t1" }));
      await log.end(ended("", { status: "waiting", reason: "approval", answer: [] }));
      const again = await store.session("a").journal.reopen("r", { historyLimit: 50, onBusy: "queue" });
      await again.end(ended("done", { spans: [span("t2", "s2", 1)] }));
      assert.deepEqual(
        (await store.spans.list({ traceId: "t2" })).map(({ spanId }) => spanId),
        ["s2"],
      );
      assert.equal((await store.runs.get("r"))?.traceId, "t1");
      await store.sessions.delete("a");
      assert.deepEqual(await store.spans.list({ traceId: "t2" }), []);
    },
  },
  {
    name: "a failed run that was resumed and completed has no error",
    async claim(store) {
      const log = await open(store, "a", start("r", "now"));
      const error = { code: "model-failed", message: "It broke." };
      await log.end(ended("", { status: "failed", reason: "model-failed", answer: [], error }));
      const again = await store.session("a").journal.reopen("r", { historyLimit: 50, onBusy: "queue" });
      await again.end(ended("done"));
      const { status, error: left } = (await store.runs.get("r")) ?? {};
      assert.deepEqual([status, left], ["completed", undefined]);
    },
  },
];

function span(traceId: string, spanId: string, startTime: number): SpanData {
  const metadata = { n: startTime };
  return {
    traceId,
    spanId,
    name: "work",
    kind: "custom",
    startTime,
    endTime: startTime + 1,
    duration: 1,
    status: "ok",
    metadata,
  };
}
