// Claims about people in a run: the inbox of a session, and the request to stop a run.
import assert from "node:assert/strict";
import type { PendingMessage } from "../../sessions/ports/session.ts";
import { ended, open, type StoreClaim, start, texts } from "./claim.ts";

export const peopleClaims: readonly StoreClaim[] = [
  {
    name: "what is said while a run works is in its inbox, not in the conversation, until the run takes it in",
    async claim(store) {
      const session = store.session("a");
      const log = await open(store, "a", start("r1", "one"));
      const sent = await session.say("two");
      await session.say("three");
      assert.deepEqual(texts(await session.getItems()), ["one"]);
      assert.equal(await log.end(ended("too early")), "inbox");
      const pending = (await log.inbox?.()) ?? [];
      assert.deepEqual(texts(pending.map(({ message }) => message)), ["two", "three"]);
      await log.join?.(0, pending, false);
      assert.deepEqual(await log.inbox?.(), []);
      assert.equal(await sent.joined, "run");
      assert.equal(await log.end(ended("four")), undefined);
      assert.deepEqual(texts(await session.getItems()), ["one", "two", "three", "four"]);
      assert.deepEqual(await store.verify(), []);
    },
  },
  {
    name: "what no run took in is taken in by the next one, before its input",
    async claim(store) {
      const session = store.session("a");
      const first = await open(store, "a", start("r1", "one"));
      const sent = await session.say("two");
      assert.equal(await first.end({ ...ended("done"), leavesInbox: true }), undefined);
      assert.equal(await sent.joined, "next");
      const join = async (messages: readonly PendingMessage[]) => ({ messages, isBlocked: false });
      const second = await open(store, "a", start("r2", "three", { join }));
      assert.deepEqual(texts(second.joined), ["two"]);
      await second.end(ended("four"));
      assert.deepEqual(texts(await session.getItems()), ["one", "done", "two", "three", "four"]);
      assert.deepEqual(await store.verify(), []);
    },
  },
  {
    name: "a run that is asked to stop hears of it, and cannot answer any more",
    async claim(store) {
      const log = await open(store, "a", start("r1", "one"));
      const heard = new Promise<string>((resolve) => log.onStop?.(resolve));
      assert.equal(await store.runs.stop("r1", { reason: "enough" }), true);
      assert.equal(await heard, "enough");
      assert.equal(await log.end(ended("too late")), "stop");
      const stopped = { ...ended("partial"), status: "stopped" as const, reason: "stop-requested" };
      assert.equal(await log.end(stopped), undefined);
      assert.equal((await store.runs.get("r1"))?.reason, "stop-requested");
      assert.equal(await store.runs.stop("r1"), false);
      assert.deepEqual(texts(await store.session("a").getItems()), ["one", "partial"]);
      assert.deepEqual(await store.verify(), []);
    },
  },
  {
    name: "a run that waits is ended by a stop in one write",
    async claim(store) {
      const log = await open(store, "a", start("r1", "one"));
      await log.end({ ...ended(""), answer: [], status: "waiting", reason: "approval" });
      assert.equal(await store.runs.stop("r1"), true);
      assert.equal((await store.runs.get("r1"))?.status, "stopped");
      assert.equal(await store.runs.stop("r1"), false);
      assert.equal(await store.runs.stop("unknown"), false);
    },
  },
];
