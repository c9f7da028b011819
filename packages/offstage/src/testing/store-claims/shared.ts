// Claims about two stores on the same place, as in two processes.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { SessionBusyError } from "../../sessions/ports/session.ts";
import type { Store } from "../../sessions/store.ts";
import { ended, open, said, start, texts, turn } from "./claim.ts";

export interface SharedClaim {
  readonly name: string;
  claim(one: Store, other: Store): Promise<void>;
}

export const sharedClaims: readonly SharedClaim[] = [
  {
    name: "each store reads what the other writes",
    async claim(one, other) {
      await one.session("a").addItem(said("1"));
      assert.deepEqual(texts(await other.session("a").getItems()), ["1"]);
      await turn(other, "a", 2);
      await turn(one, "a", 3);
      const expected = ["1", "question 2", "answer 2", "question 3", "answer 3"];
      assert.deepEqual(texts(await other.session("a").getItems()), expected);
      assert.deepEqual(await one.verify(), []);
    },
  },
  {
    name: "items that both stores add at the same time are all stored",
    async claim(one, other) {
      const adding = Array.from({ length: 50 }, (_, n) =>
        [one, other].map((store) => store.session("a").addItem(said(`${n}`))),
      );
      await Promise.all(adding.flat());
      assert.equal(await one.session("a").getItemCount(), 100);
      assert.equal((await other.session("a").getItems()).length, 100);
      assert.deepEqual(await one.verify(), []);
    },
  },
  {
    name: "a run on one store waits for a run on the other",
    async claim(one, other) {
      const first = await open(one, "a", start("r1", "one"));
      await assert.rejects(open(other, "a", start("r2", "two", { onBusy: "reject" })), SessionBusyError);
      assert.equal((await other.runs.get("r1"))?.status, "running");
      const waiting = open(other, "a", start("r2", "two"));
      await sleep(20);
      await first.end(ended("done"));
      const second = await waiting;
      assert.deepEqual(texts(second.history), ["one", "done"]);
      await second.end(ended("done"));
      assert.deepEqual(texts(await one.session("a").getItems()), ["one", "done", "two", "done"]);
    },
  },
  {
    name: "concurrent runs on both stores do not interleave",
    async claim(one, other) {
      await Promise.all(
        Array.from({ length: 10 }, (_, n) => [turn(one, "a", `one ${n}`), turn(other, "a", `other ${n}`)]).flat(),
      );
      const items = texts(await one.session("a").getItems()) as string[];
      assert.equal(items.length, 40);
      for (let i = 0; i < items.length; i += 2) assert.equal(items[i + 1], items[i]?.replace("question", "answer"));
      assert.deepEqual(await other.verify(), []);
    },
  },
  {
    name: "verify() finds no problem while another store writes",
    async claim(one, other) {
      const writing = Promise.all(
        ["a", "b"].map(async (id) => {
          for (let n = 0; n < 20; n++) await turn(other, id, n);
        }),
      );
      let isDone = false;
      const written = writing.finally(() => {
        isDone = true;
      });
      while (!isDone) assert.deepEqual(await one.verify(), []);
      await written;
      assert.deepEqual(await one.verify(), []);
    },
  },
  {
    name: "closing one store releases its sessions for the other",
    async claim(one, other) {
      await open(one, "a", start("r1", "one"));
      await one.close();
      const second = await open(other, "a", start("r2", "two", { onBusy: "reject" }));
      assert.equal((await other.runs.get("r1"))?.status, "interrupted");
      await second.abandon();
    },
  },
];
