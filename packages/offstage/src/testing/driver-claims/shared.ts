// Claims about two drivers on the same place, as in two processes.
import assert from "node:assert/strict";
import type { RowPlace, StoreDriver } from "../../sessions/ports/store-driver.ts";
import { column, commit, message, messages, session, write } from "./claim-rows.ts";

export interface SharedClaim {
  readonly name: string;
  claim(one: StoreDriver, other: StoreDriver): Promise<void>;
}

const place: RowPlace = { table: "sessions", key: ["n", "a"] };

async function prepare(one: StoreDriver, other: StoreDriver): Promise<void> {
  await one.open();
  await one.prepare(1);
  await other.open();
}

export const sharedClaims: readonly SharedClaim[] = [
  {
    name: "another driver on the same place finds the version",
    async claim(one, other) {
      assert.equal(await one.open(), 0);
      await one.prepare(4);
      assert.equal(await other.open(), 4);
    },
  },
  {
    name: "two drivers prepare one place at the same time",
    async claim(one, other) {
      await Promise.all([one, other].map((driver) => driver.open()));
      await Promise.all([one, other].map((driver) => driver.prepare(1)));
      assert.deepEqual(await Promise.all([one.open(), other.open()]), [1, 1]);
      await write(one, message(1));
      await write(other, message(2));
      assert.equal((await messages(one)).length, 2);
    },
  },
  {
    name: "each driver reads what the other writes",
    async claim(one, other) {
      await prepare(one, other);
      await write(one, message(1, { content: "one" }), session("a", { activity: 1 }));
      assert.deepEqual(column(await messages(other), "content"), ["one"]);
      await write(other, message(2, { content: "other" }), session("a", { activity: 2 }));
      assert.deepEqual(column(await messages(one), "content"), ["one", "other"]);
      assert.equal((await one.get([place]))[0]?.activity, 2);
      await write(one, { table: "messages", remove: ["n", "s"] });
      assert.deepEqual(await messages(other), []);
    },
  },
  {
    name: "of two drivers that write one row at the same time one wins, and the other gets the new row",
    async claim(one, other) {
      await prepare(one, other);
      await write(one, session("a", { version: "0" }));
      for (let round = 0; round < 25; round++) {
        const attempt = (driver: StoreDriver, fence: number) =>
          commit(
            driver,
            [{ ...place, where: { version: String(round) } }],
            [session("a", { version: String(round + 1), fence }), message(2 * round + fence)],
          );
        const outcomes = await Promise.all([attempt(one, 0), attempt(other, 1)]);
        const winner = outcomes.findIndex(({ refused }) => refused === undefined);
        const refused = outcomes.map((outcome) => outcome.refused).filter((rows) => rows !== undefined);
        assert.equal(refused.length, 1);
        assert.deepEqual(column(refused[0] ?? [], "fence"), [winner]);
      }
      assert.equal((await messages(one)).length, 25);
    },
  },
  {
    name: "the numbers of two drivers increase together",
    async claim(one, other) {
      await prepare(one, other);
      const numbers: number[] = [];
      for (let n = 0; n < 10; n++) {
        const number = await write(n % 2 === 0 ? one : other, { ...session(`s${n}`), numbered: "activity" });
        numbers.push(number ?? 0);
      }
      assert.deepEqual(
        numbers,
        [...new Set(numbers)].sort((a, b) => a - b),
      );
      const racing = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          write(n % 2 === 0 ? one : other, { ...session(`r${n}`), numbered: "activity" }),
        ),
      );
      assert.equal(new Set(racing).size, 20);
      assert.ok(racing.every((number) => Number(number) > Math.max(...numbers)));
    },
  },
  {
    name: "closing one driver leaves the other usable",
    async claim(one, other) {
      await prepare(one, other);
      await write(one, message(1));
      await one.close();
      await write(other, message(2));
      assert.equal((await messages(other)).length, 2);
    },
  },
];
