// Claims about runs that were interrupted or wait: nothing is lost, and they can be resumed.
import assert from "node:assert/strict";
import type { JsonObject } from "../../base/json.ts";
import { isOffstageError } from "../../errors.ts";
import type { RunEnd, RunLog } from "../../sessions/ports/journal.ts";
import type { Store } from "../../sessions/store.ts";
import { answered, calling, ended, open, resultOf, type StoreClaim, start, step, texts, turn } from "./claim.ts";

export const resumeClaims: readonly StoreClaim[] = [
  {
    name: "an abandoned run is interrupted and releases its session",
    async claim(store) {
      const log = await open(store, "a", start("r", "question"));
      const child = await log.child(start("child", "sub"));
      await child.intend(1, calling("c"));
      await log.abandon();
      assert.equal((await store.runs.get("r"))?.status, "interrupted");
      assert.equal((await store.runs.get("child"))?.status, "interrupted");
      assert.deepEqual(
        (await store.runs.list({ status: "interrupted" })).map(({ runId }) => runId),
        ["r"],
      );
      await turn(store, "a", 2);
      assert.equal((await store.runs.get("r"))?.status, "interrupted");
    },
  },
  {
    name: "a resumed run has its steps, its calls and their results",
    async claim(store) {
      await turn(store, "a", 0);
      await leftOpen(store);
      const log = await reopen(store, "r");
      assert.deepEqual(texts(log.history), ["question 0", "answer 0"]);
      assert.equal(log.recorded?.status, "interrupted");
      assert.deepEqual(texts(log.recorded?.input ?? []), ["question"]);
      assert.deepEqual(
        log.recorded?.steps.map((each) => each.step),
        [1],
      );
      assert.equal(log.recorded?.openStep?.step, 2);
      assert.deepEqual(log.recorded?.openStep?.results, [resultOf("b")]);
      assert.deepEqual(
        log.recorded?.openStep?.pending.map(({ id }) => id),
        ["c", "d"],
      );
      assert.equal((await store.runs.get("r"))?.status, "running");
      const first = (await store.runs.get("r"))?.steps[0];
      await log.step(step(1, [answered("another")]));
      assert.deepEqual((await store.runs.get("r"))?.steps[0], first);
      await log.step(step(2, [calling("b", "c", "d"), resultOf("b"), resultOf("c"), resultOf("d")]));
      await log.end(ended("answer"));
      assert.deepEqual(texts(await store.session("a").getItems()), ["question 0", "answer 0", "question", "answer"]);
      assert.equal((await store.runs.get("r"))?.status, "completed");
      assert.deepEqual(await store.verify(), []);
    },
  },
  {
    name: "opening a run with a known id resumes it, and the question is stored once",
    async claim(store) {
      await leftOpen(store);
      const log = await open(store, "a", start("r", "question"));
      assert.equal(log.recorded?.steps.length, 1);
      await log.end(ended("answer"));
      assert.deepEqual(texts(await store.session("a").getItems()), ["question", "answer"]);
    },
  },
  {
    name: "a waiting run keeps its calls, and continues where it was",
    async claim(store) {
      const log = await open(store, "a", start("r", "question"));
      await log.intend(1, calling("c"));
      await log.end(ended("", { status: "waiting", reason: "approval", answer: [] }));
      assert.deepEqual(
        (await store.runs.list({ status: "waiting" })).map(({ runId }) => runId),
        ["r"],
      );
      const again = await reopen(store, "r");
      assert.equal(again.recorded?.status, "waiting");
      assert.deepEqual(
        again.recorded?.openStep?.pending.map(({ id }) => id),
        ["c"],
      );
      await again.step(step(1, [calling("c"), resultOf("c")]));
      await again.end(ended("answer"));
      assert.equal((await store.runs.get("r"))?.status, "completed");
    },
  },
  {
    name: "a waiting run lists the calls that wait for approval, including those of subagents, until it is resumed",
    async claim(store) {
      const log = await open(store, "a", start("r", "question"));
      await log.intend(1, calling("c", "d", "e"));
      await log.settle(1, resultOf("c"));
      const child = await log.child(start("child", "sub", { agent: "below" }));
      await child.intend(1, calling("x"));
      await child.end(waitingFor({ toolCallId: "x", why: "approval" }));
      const beneath = { toolCallId: "d", why: "approval", child: { runId: "child", agent: "below" } };
      await log.end(waitingFor(beneath, { toolCallId: "e", why: "approval" }));
      const call = { kind: "call", toolName: "f", input: {} };
      const inChild = { ...call, toolCallId: "x", agent: "below", runId: "child" };
      const own = { ...call, toolCallId: "e", agent: "tester", runId: "r" };
      assert.deepEqual((await store.runs.get("r"))?.approvals, [inChild, own]);
      assert.deepEqual((await store.runs.get("child"))?.approvals, [inChild]);
      const again = await reopen(store, "r");
      assert.deepEqual((await store.runs.get("r"))?.approvals, []);
      await again.step(step(1, [calling("c", "d", "e"), resultOf("c"), resultOf("d"), resultOf("e")]));
      await again.end(ended("answer"));
      assert.deepEqual((await store.runs.get("r"))?.approvals, []);
    },
  },
  {
    name: "a subagent's run is resumed with its parent",
    async claim(store) {
      const log = await open(store, "a", start("r", "question"));
      const child = await log.child(start("child", "sub"));
      await child.step(step(1, [calling("x"), resultOf("x")]));
      await log.abandon();
      const again = await reopen(store, "r");
      assert.equal(again.recorded?.children[0]?.runId, "child");
      const childAgain = await again.child(start("child", "sub"));
      assert.equal(childAgain.recorded?.steps.length, 1);
      await childAgain.end(ended("sub-answer"));
      await again.end(ended("answer"));
      assert.equal((await store.runs.get("child"))?.status, "completed");
    },
  },
  {
    name: "a subagent's run that ended stays ended, however often its parent is resumed",
    async claim(store) {
      const log = await open(store, "a", start("r", "question"));
      const child = await log.child(start("child", "sub"));
      await child.end(ended("", { lastStep: step(1, [answered("sub-answer")]) }));
      await log.abandon();
      const before = await store.runs.get("child");
      for (const _ of ["once", "twice"]) {
        const again = await reopen(store, "r");
        const childAgain = await again.child(start("child", "sub"));
        assert.equal(childAgain.recorded?.status, "completed");
        assert.deepEqual(await store.runs.get("child"), before);
        await childAgain.end(ended("", { status: "failed", reason: "error" }));
        assert.deepEqual(await store.runs.get("child"), before);
        await again.abandon();
      }
      assert.deepEqual(await store.verify(), []);
    },
  },
  {
    name: "a run that completed or does not exist cannot be resumed",
    async claim(store) {
      await turn(store, "a", 1);
      await assert.rejects(reopen(store, "run-a-1"), (error) => isOffstageError(error, "run-not-resumable"));
      await assert.rejects(reopen(store, "nobody"), (error) => isOffstageError(error, "run-not-found"));
      await turn(store, "a", 2);
    },
  },
];

async function leftOpen(store: Store): Promise<void> {
  const log = await open(store, "a", start("r", "question"));
  await log.intend(1, calling("a"));
  await log.step(step(1, [calling("a"), resultOf("a")]));
  await log.intend(2, calling("b", "c", "d"));
  await log.settle(2, resultOf("b"));
  await log.abandon();
}

function waitingFor(...waiting: JsonObject[]): RunEnd {
  return ended("", { status: "waiting", reason: "approval", answer: [], notes: { waiting } });
}

function reopen(store: Store, runId: string): Promise<RunLog> {
  return store.session("a").journal.reopen(runId, { historyLimit: 50, onBusy: "queue" });
}
