// Claims about one writer at a time, within one store.
import assert from "node:assert/strict";
import { SessionBusyError } from "../../sessions/ports/session.ts";
import { ended, open, type StoreClaim, start, texts, turn } from "./claim.ts";

export const leaseClaims: readonly StoreClaim[] = [
  {
    name: "runs on one session execute one after another, in the order in which they were requested",
    async claim(store) {
      await Promise.all(Array.from({ length: 20 }, (_, n) => turn(store, "a", n)));
      const expected = Array.from({ length: 20 }, (_, n) => [`question ${n}`, `answer ${n}`]).flat();
      assert.deepEqual(texts(await store.session("a").getItems()), expected);
      assert.deepEqual(await store.verify(), []);
    },
  },
  {
    name: "runs on different sessions do not wait for each other",
    async claim(store) {
      const first = await open(store, "a", start("r1", "one"));
      await turn(store, "b", 1);
      await first.end(ended("done"));
    },
  },
  {
    name: 'a run with onBusy "reject" is refused immediately',
    async claim(store) {
      const first = await open(store, "a", start("r1", "one"));
      await assert.rejects(open(store, "a", start("r2", "two", { onBusy: "reject" })), SessionBusyError);
      await first.end(ended("done"));
      const second = await open(store, "a", start("r2", "two", { onBusy: "reject" }));
      await second.abandon();
      assert.deepEqual(texts(await store.session("a").getItems()), ["one", "done", "two"]);
    },
  },
  {
    name: "a run that is aborted in the queue rejects with the reason, and writes nothing",
    async claim(store) {
      const first = await open(store, "a", start("r1", "one"));
      const controller = new AbortController();
      const waiting = open(store, "a", start("r2", "two", { signal: controller.signal }));
      const third = open(store, "a", start("r3", "three"));
      const reason = new Error("enough");
      controller.abort(reason);
      await assert.rejects(waiting, (error) => error === reason);
      await first.abandon();
      await (await third).abandon();
      assert.deepEqual(texts(await store.session("a").getItems()), ["one", "three"]);
    },
  },
  {
    name: "closing a store releases the sessions of its runs",
    async claim(store) {
      await open(store, "a", start("r1", "one"));
      await store.close();
    },
  },
];
