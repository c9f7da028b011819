// Claims about commits: puts, removals, checks and numbers.
import assert from "node:assert/strict";
import type { Row, RowPlace, StoreDriver } from "../../sessions/ports/store-driver.ts";
import type { Claim } from "../contract-case.ts";
import { column, commit, message, messages, put, session, write } from "./claim-rows.ts";

const place = (id: string): RowPlace => ({ table: "sessions", key: ["n", id] });

/** The ids of the sessions of namespace "n", by activity. */
const byActivity = async (driver: StoreDriver): Promise<unknown[]> =>
  column(await driver.read({ table: "sessions", order: "activity", prefix: ["n"] }), "session_id");

export const writeClaims: readonly Claim<StoreDriver>[] = [
  {
    name: "get returns rows in the order of the places, and undefined for a missing row",
    async claim(driver) {
      await write(driver, session("a", { fence: 1 }), session("b", { fence: 2 }), message(7));
      const rows = await driver.get([
        place("b"),
        place("none"),
        { table: "messages", key: ["n", "s", 7] },
        { table: "messages", key: ["n", "s", 8] },
        place("a"),
        place("b"),
      ]);
      assert.deepEqual(column(rows, "fence"), [2, undefined, undefined, undefined, 1, 2]);
      assert.equal(rows[1], undefined);
      assert.equal(rows[2]?.seq, 7);
      assert.equal(rows[3], undefined);
      assert.deepEqual(await driver.get([]), []);
    },
  },
  {
    name: "a row comes back with all columns of its table, and a column that was not put is null",
    async claim(driver) {
      const row = { ...session("a").row, last_agent: "writer" };
      const values = Object.entries(row).filter(([, value]) => value !== null);
      await write(driver, { table: "sessions", row: Object.fromEntries(values) });
      assert.deepEqual(await driver.get([place("a")]), [row]);
      assert.deepEqual(await driver.read({ table: "sessions", prefix: ["n", "a"] }), [row]);
    },
  },
  {
    name: "a put replaces the whole row, and moves it in every order",
    async claim(driver) {
      await write(driver, session("a", { activity: 1, title: "first" }), session("b", { activity: 2 }));
      assert.deepEqual(await byActivity(driver), ["a", "b"]);
      await write(driver, session("a", { activity: 3 }));
      assert.deepEqual(await byActivity(driver), ["b", "a"]);
      assert.equal((await driver.get([place("a")]))[0]?.title, null);
      await write(driver, message(1, { position: 5 }), message(2, { position: 6 }));
      await write(driver, message(1, { position: null, run_id: "r" }));
      const said = await driver.read({ table: "messages", order: "said", prefix: ["n", "s"] });
      assert.deepEqual(column(said, "seq"), [2]);
      assert.deepEqual(column(await messages(driver), "run_id"), ["r", null]);
    },
  },
  {
    name: "one row is removed by its key, and its removal from every order is complete",
    async claim(driver) {
      await write(
        driver,
        session("a", { activity: 1 }),
        session("b", { activity: 2 }),
        message(1),
        message(2),
        message(3),
      );
      await write(driver, { table: "sessions", remove: ["n", "a"] }, { table: "messages", remove: ["n", "s", 2] });
      assert.deepEqual(await byActivity(driver), ["b"]);
      assert.deepEqual(await driver.get([place("a")]), [undefined]);
      assert.deepEqual(column(await messages(driver), "seq"), [1, 3]);
      await write(driver, { table: "messages", remove: ["n", "s", 99] }, { table: "messages", remove: ["n", "none"] });
      assert.deepEqual(column(await messages(driver), "seq"), [1, 3]);
    },
  },
  {
    name: "all rows of a scope are removed, and no others",
    async claim(driver) {
      const run = (session_id: string, number: number) =>
        put("runs", { namespace: "n", session_id, number, run_id: `${session_id}${number}`, seq: number });
      await write(driver, run("s", 1), run("s", 2), run("s2", 3), run("", 4));
      await write(driver, { table: "runs", remove: ["n", "s"] });
      assert.deepEqual(await driver.read({ table: "runs", prefix: ["n", "s"] }), []);
      assert.deepEqual(await driver.read({ table: "runs", order: "id", prefix: ["n", "s1"] }), []);
      const started = await driver.read({ table: "runs", order: "started", prefix: ["n"] });
      assert.deepEqual(column(started, "run_id"), ["s23", "4"]);
    },
  },
  {
    name: "rows are removed by a prefix that is longer than the scope",
    async claim(driver) {
      const call = (run_id: string, step: number, position: number) =>
        put("tool_calls", {
          namespace: "n",
          session_id: "s",
          run_id,
          step,
          position,
          call_id: `${run_id}${step}${position}`,
        });
      await write(driver, call("r", 1, 0), call("r", 2, 0), call("r", 2, 1), call("r", 10, 0), call("r2", 2, 0));
      await write(driver, { table: "tool_calls", remove: ["n", "s", "r", 2] });
      const left = async () => column(await driver.read({ table: "tool_calls", prefix: ["n", "s"] }), "call_id");
      assert.deepEqual(await left(), ["r10", "r100", "r220"]);
      await write(driver, { table: "tool_calls", remove: ["n", "s", "r"] });
      assert.deepEqual(await left(), ["r220"]);
    },
  },
  {
    name: "removals of a commit come before its puts, so that a scope can be replaced",
    async claim(driver) {
      await write(driver, message(1, { position: 1 }), message(2, { position: 2 }), message(3, { position: 3 }));
      await write(driver, message(2, { position: 0, content: "new" }), { table: "messages", remove: ["n", "s"] });
      assert.deepEqual(column(await messages(driver), "content"), ["new"]);
      const said = await driver.read({ table: "messages", order: "said", prefix: ["n", "s"] });
      assert.deepEqual(column(said, "position"), [0]);
    },
  },
  {
    name: "a check holds if the row has these values, or if it must be absent and is",
    async claim(driver) {
      await write(driver, session("a", { version: "v1", fence: 3, lease_run: null, lease_seen: 0 }));
      const held = [
        { ...place("a"), where: { version: "v1", fence: 3, lease_run: null, lease_seen: 0 } },
        { ...place("a"), where: {} },
        place("none"),
      ];
      assert.equal((await commit(driver, held, [message(1)])).refused, undefined);
      assert.equal((await messages(driver)).length, 1);
    },
  },
  {
    name: "a failed check refuses the commit with the current row of every check, and nothing is written",
    async claim(driver) {
      await write(driver, session("a", { version: "v1", fence: 3 }), message(1));
      const good = { ...place("a"), where: { version: "v1" } };
      const broken = [
        place("a"),
        { ...place("a"), where: { version: "V1" } },
        { ...place("a"), where: { version: "v1", fence: 4 } },
        { ...place("a"), where: { lease_run: "r" } },
        { ...place("a"), where: { title: "" } },
        { ...place("none"), where: {} },
        { table: "messages" as const, key: ["n", "s", 1], where: { is_error: true } },
      ];
      const [a] = await driver.get([place("a")]);
      for (const bad of broken) {
        const writes = [message(2), session("a"), { table: "messages" as const, remove: ["n", "s", 1] }];
        const { refused } = await commit(driver, [good, bad, place("none")], [...writes, numbered("z")]);
        const [current] = await driver.get([bad]);
        assert.deepEqual(refused, [a, current, undefined], JSON.stringify(bad));
        assert.deepEqual(await driver.get([place("a"), place("z")]), [a, undefined]);
        assert.deepEqual(column(await messages(driver), "seq"), [1]);
      }
    },
  },
  {
    name: "concurrent commits on one check: exactly one wins",
    async claim(driver) {
      await write(driver, session("a", { version: "0" }));
      for (let round = 0; round < 5; round++) {
        const check = { ...place("a"), where: { version: String(round) } };
        const attempts = Array.from({ length: 8 }, (_, n) =>
          commit(driver, [check], [session("a", { version: String(round + 1), fence: n }), message(round * 8 + n)]),
        );
        const outcomes = await Promise.all(attempts);
        const winners = outcomes.flatMap(({ refused }, n) => (refused === undefined ? [n] : []));
        assert.equal(winners.length, 1);
        assert.deepEqual(column(await driver.get([place("a")]), "fence"), winners);
        assert.equal((await messages(driver)).length, round + 1);
      }
    },
  },
  {
    name: "concurrent puts of an absent row: exactly one wins",
    async claim(driver) {
      const outcomes = await Promise.all(
        Array.from({ length: 8 }, (_, n) => commit(driver, [place("a")], [session("a", { fence: n })])),
      );
      const winner = outcomes.findIndex(({ refused }) => refused === undefined);
      assert.equal(outcomes.filter(({ refused }) => refused === undefined).length, 1);
      const [row] = await driver.get([place("a")]);
      assert.equal(row?.fence, winner);
      for (const { refused } of outcomes) assert.deepEqual(refused ?? [row], [row]);
    },
  },
  {
    name: "numbered puts of a commit share one number, which is returned, and numbers increase from commit to commit",
    async claim(driver) {
      let last = 0;
      for (const id of ["a", "b", "a"]) {
        const run = put("runs", { namespace: "n", session_id: id, number: 1, run_id: `run ${id}` });
        const number = (await write(driver, { ...run, numbered: "seq" }, numbered(id))) ?? 0;
        assert.ok(Number.isSafeInteger(number) && number > last, `${number} after ${last}`);
        last = number;
        const rows = await driver.get([place(id), { table: "runs", key: ["n", id, 1] }]);
        assert.deepEqual([rows[0]?.activity, rows[1]?.seq], [number, number]);
      }
      assert.deepEqual(await byActivity(driver), ["b", "a"]);
      const [newest] = await driver.read({ table: "runs", order: "started", prefix: ["n"], reverse: true, limit: 1 });
      assert.equal(newest?.run_id, "run a");
      assert.equal(await write(driver, session("a", { activity: last })), undefined);
    },
  },
  {
    name: "a column of the key can be numbered",
    async claim(driver) {
      const note = put("annotations", { namespace: "n", session_id: "s", run_id: "r", label: "good" });
      const numbers = [
        await write(driver, { ...note, numbered: "seq" }),
        await write(driver, { ...note, numbered: "seq" }),
      ];
      for (const order of [undefined, "run"]) {
        const prefix = order === undefined ? ["n", "s"] : ["n", "s", "r"];
        assert.deepEqual(column(await driver.read({ table: "annotations", order, prefix }), "seq"), numbers);
      }
    },
  },
  {
    name: "concurrent commits get different numbers",
    async claim(driver) {
      const numbers = await Promise.all(Array.from({ length: 20 }, (_, n) => write(driver, numbered(`s${n}`))));
      assert.equal(new Set(numbers).size, 20);
      assert.equal((await byActivity(driver)).length, 20);
    },
  },
  {
    name: "a row that a caller changes after it was put or read is not changed in the store",
    async claim(driver) {
      const row: Record<string, Row[string]> = { ...session("a").row };
      await write(driver, { table: "sessions", row });
      row.title = "changed";
      for (const read of [
        await driver.get([place("a")]),
        await driver.read({ table: "sessions", prefix: ["n", "a"] }),
      ]) {
        try {
          (read[0] as Record<string, unknown>).title = "changed";
        } catch {
          // A frozen row: it cannot be changed.
        }
      }
      assert.deepEqual(column(await driver.get([place("a")]), "title"), [null]);
    },
  },
];

function numbered(id: string) {
  return { ...session(id), numbered: "activity" };
}
