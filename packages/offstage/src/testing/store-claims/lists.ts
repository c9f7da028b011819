// Claims about several sessions: ids, namespaces, lists, branches, removal.
import assert from "node:assert/strict";
import { isOffstageError } from "../../errors.ts";
import { SessionConflictError } from "../../sessions/ports/session.ts";
import { answered, open, type StoreClaim, said, start, texts, turn } from "./claim.ts";

const hostileIds: readonly string[] = [
  "__proto__",
  "*",
  "a:b",
  "a/b",
  "a.b",
  "a%2Fb",
  "'; DROP TABLE offstage; --",
  " ",
  "A",
  "a",
  "é{}[]",
  "x".repeat(512),
  `${"x".repeat(511)}y`,
];

export const listClaims: readonly StoreClaim[] = [
  {
    name: "two objects with the same id are the same session",
    async claim(store) {
      await store.session("a").addItem(said("1"));
      await store.session("a").addItem(said("2"));
      assert.deepEqual(texts(await store.session("a").getItems()), ["1", "2"]);
    },
  },
  {
    name: "sessions do not see each other, whatever their ids",
    async claim(store) {
      for (const id of hostileIds) await store.session(id).addItem(said(`of ${id}`));
      const short = (id: string): string => id.slice(-40);
      for (const id of hostileIds) {
        const items = texts(await store.session(id).getItems()) as string[];
        assert.deepEqual(items.map(short), [short(`of ${id}`)]);
      }
      const listed = (await store.sessions.list()).map(({ sessionId }) => short(sessionId));
      assert.deepEqual(listed, hostileIds.map(short).reverse());
      await store.session("*").clearSession();
      assert.equal(await store.session("a").getItemCount(), 1);
    },
  },
  {
    name: "namespaces do not see each other",
    async claim(store) {
      const names = ["", "a", "a/b", "*", "__proto__", "A"];
      for (const name of names) {
        await store
          .namespace(name)
          .session("same")
          .addItem(said(`of ${name}`));
        await turn(store.namespace(name), "same", 1);
      }
      for (const name of names) {
        const tenant = store.namespace(name);
        assert.deepEqual(texts(await tenant.session("same").getItems(3)), [`of ${name}`, "question 1", "answer 1"]);
        assert.equal((await tenant.sessions.list()).length, 1);
        assert.equal((await tenant.runs.list()).length, 1);
      }
      await store.namespace("a").sessions.delete("same");
      assert.equal(await store.namespace("A").session("same").getItemCount(), 3);
    },
  },
  {
    name: "an id that is empty, longer than 512 bytes, or has NUL or lone surrogates is refused",
    async claim(store) {
      for (const id of ["", 7, null, "x".repeat(513), "é".repeat(257), "a\0b", "a\ud800"]) {
        assert.throws(
          () => store.session(id as string),
          (error) => isOffstageError(error, "invalid-argument"),
        );
      }
    },
  },
  {
    name: "sessions are listed by last activity, with counts, in pages",
    async claim(store) {
      for (const id of ["a", "b", "c"]) await store.session(id).addItems([said(id), answered(id)]);
      await store.session("a").popItem();
      await turn(store, "b", 1);
      const all = await store.sessions.list();
      assert.deepEqual(
        all.map((each) => [each.sessionId, each.messageCount, each.runCount]),
        [
          ["b", 4, 1],
          ["a", 1, 0],
          ["c", 2, 0],
        ],
      );
      const [first] = await store.sessions.list({ limit: 1 });
      assert.ok(first !== undefined && first.createdAt <= first.lastActivityAt);
      const rest = await store.sessions.list({ before: first.cursor, limit: 5 });
      assert.deepEqual(
        rest.map(({ sessionId }) => sessionId),
        ["a", "c"],
      );
      assert.deepEqual(await store.sessions.list({ limit: 0 }), []);
      await assert.rejects(store.sessions.list({ limit: -1 }), { code: "invalid-argument" });
    },
  },
  {
    name: "a session that was only read is not listed",
    async claim(store) {
      await store.session("ghost").getItems();
      await store.session("ghost").popItem();
      await store.session("ghost").clearSession();
      assert.deepEqual(await store.sessions.list(), []);
      assert.equal(await store.sessions.get("ghost"), undefined);
    },
  },
  {
    name: "popTurn removes the whole newest turn",
    async claim(store) {
      const session = store.session("a");
      await session.addItems([said("1"), answered("2"), said("3"), answered("4"), answered("5")]);
      assert.deepEqual(texts(await session.popTurn()), ["3", "4", "5"]);
      assert.deepEqual(texts(await session.getItems()), ["1", "2"]);
      await session.popTurn();
      assert.deepEqual(await session.popTurn(), []);
    },
  },
  {
    name: "popTurn keeps messages before the first user message",
    async claim(store) {
      const session = store.session("a");
      await session.addItems([answered("Welcome"), said("1"), answered("2")]);
      assert.deepEqual(texts(await session.popTurn()), ["1", "2"]);
      assert.deepEqual(await session.popTurn(), []);
      assert.deepEqual(texts(await session.getItems()), ["Welcome"]);
    },
  },
  {
    name: "replaceItems replaces all items, or none if it is refused",
    async claim(store) {
      const session = store.session("a");
      await session.addItems([said("1"), answered("2")]);
      await session.replaceItems([said("summary"), answered("ok")]);
      assert.deepEqual(texts(await session.getItems()), ["summary", "ok"]);
      await assert.rejects(session.replaceItems([said("x"), { role: "nobody" } as never]));
      assert.equal(await session.getItemCount(), 2);
      const log = await open(store, "a", start("r", "next"));
      assert.deepEqual(texts(log.history), ["summary", "ok"]);
      await log.abandon();
      await session.replaceItems([]);
      assert.equal(await session.isEmpty(), true);
      assert.deepEqual(await store.verify(), []);
    },
  },
  {
    name: "a branch starts with the first messages and is independent afterwards",
    async claim(store) {
      const session = store.session("a");
      await session.addItems([said("1"), answered("2"), said("3")]);
      const branch = await session.branch(2, { id: "b" });
      await branch.addItem(said("other"));
      assert.deepEqual(texts(await branch.getItems()), ["1", "2", "other"]);
      assert.deepEqual(texts(await session.getItems()), ["1", "2", "3"]);
      assert.equal(await (await session.branch()).getItemCount(), 3);
      await assert.rejects(session.branch(1, { id: "b" }), SessionConflictError);
      await assert.rejects(session.branch(-1), { code: "invalid-argument" });
    },
  },
  {
    name: "deleting a session removes its conversation, runs and spans",
    async claim(store) {
      const log = await turn(store, "a", 1);
      await turn(store, "b", 1);
      assert.equal(await store.sessions.delete("a"), true);
      assert.equal(await store.sessions.delete("a"), false);
      assert.equal(await store.session("a").getItemCount(), 0);
      assert.equal(await store.runs.get(log.runId), undefined);
      assert.deepEqual(
        (await store.sessions.list()).map(({ sessionId }) => sessionId),
        ["b"],
      );
      assert.deepEqual(
        (await store.runs.list()).map(({ sessionId }) => sessionId),
        ["b"],
      );
      await store.session("a").addItem(said("anew"));
      assert.deepEqual(await store.verify(), []);
    },
  },
  {
    name: "prune removes old sessions, and keeps the latest and those in use",
    async claim(store) {
      for (const id of ["a", "b", "c", "d"]) await store.session(id).addItem(said(id));
      assert.deepEqual(await store.prune({ olderThan: 60_000 }), { removedSessions: 0, busySessions: 0 });
      assert.deepEqual(await store.prune({ keepLast: 3 }), { removedSessions: 1, busySessions: 0 });
      const held = await open(store, "b", start("r", "hello"));
      const report = await store.prune({ olderThan: new Date(Date.now() + 1_000), keepLast: 0 });
      assert.deepEqual(report, { removedSessions: 2, busySessions: 1 });
      assert.deepEqual(
        (await store.sessions.list()).map(({ sessionId }) => sessionId),
        ["b"],
      );
      await held.abandon();
      await assert.rejects(store.prune({}), (error) => isOffstageError(error, "invalid-argument"));
    },
  },
  {
    name: "a closed store rejects with store-closed",
    async claim(store) {
      await store.session("a").addItem(said("1"));
      await store.close();
      await store.close();
      await assert.rejects(store.session("a").getItems(), (error) => isOffstageError(error, "store-closed"));
    },
  },
];
