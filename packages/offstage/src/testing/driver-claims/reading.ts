// Claims about reads: every order of every table, and ranges of it, against the reference.
import assert from "node:assert/strict";
import type { Key, Row, RowRange, StoreDriver, Value } from "../../sessions/ports/store-driver.ts";
import { type Column, type TableName, tables } from "../../sessions/ports/tables.ts";
import type { Claim } from "../contract-case.ts";
import { column, keyOf, message, messages, orderOf, put, rowOf, session, tableOf, write } from "./claim-rows.ts";
import { readReference } from "./reference.ts";

const tableNames = Object.keys(tables) as TableName[];

const texts = [
  "b",
  "a",
  "a b",
  "A",
  "ab",
  "a/b",
  "a.b",
  "Z",
  "é",
  "e",
  "\u{1f600}",
  "\uffee",
  "~",
  "",
  "a:b",
  "\u0001",
];

export const readClaims: readonly Claim<StoreDriver>[] = [
  ...tableNames.map((table) => ({
    name: `the rows of ${table} are read in every order, by every prefix and in ranges`,
    async claim(driver: StoreDriver) {
      let rows = Array.from({ length: 40 }, (_, n) => generatedRow(table, n, n));
      await write(driver, ...rows.map((row) => ({ table, row })));
      await checkRanges(driver, table, rows);
      // Every third row is replaced, which moves it in the orders that do not belong to its key; every fifth is removed.
      rows = rows.map((row, n) =>
        n % 3 === 0 ? { ...generatedRow(table, n, n + 41), ...keyValues(table, row) } : row,
      );
      await write(driver, ...rows.filter((_, n) => n % 3 === 0).map((row) => ({ table, row })));
      await write(driver, ...rows.filter((_, n) => n % 5 === 0).map((row) => ({ table, remove: keyOf(table, row) })));
      rows = rows.filter((_, n) => n % 5 !== 0);
      await checkRanges(driver, table, rows);
    },
  })),
  {
    name: "a range without rows is empty, and so is a limit of 0",
    async claim(driver) {
      assert.deepEqual(await messages(driver), []);
      await write(driver, message(1), message(5));
      const read = (range: Partial<RowRange>) => driver.read({ table: "messages", prefix: ["n", "s"], ...range });
      assert.deepEqual(await read({ limit: 0 }), []);
      assert.deepEqual(await read({ limit: 0, reverse: true }), []);
      assert.deepEqual(await read({ from: 2, before: 5 }), []);
      assert.deepEqual(await read({ from: 5, before: 2 }), []);
      assert.deepEqual(await read({ prefix: ["n", "S"] }), []);
      assert.deepEqual(await read({ prefix: ["n", "none"], order: "said" }), []);
    },
  },
  {
    name: "rows with equal values in an order are all in it",
    async claim(driver) {
      const span = (span_id: string, start_ms: number) =>
        put("spans", { namespace: "n", session_id: `of ${span_id}`, trace_id: "t", span_id, start_ms });
      await write(driver, span("c", 2.5), span("a", 2.5), span("b", 1), span("d", 2.5), span("e", 2.75));
      const ids = column(await driver.read({ table: "spans", order: "trace", prefix: ["n", "t"] }), "span_id");
      assert.deepEqual([ids[0], ids.slice(1, 4).sort(), ids[4]], ["b", ["a", "c", "d"], "e"]);
      await write(driver, { table: "spans", remove: ["n", "of a"] });
      assert.equal((await driver.read({ table: "spans", order: "trace", prefix: ["n", "t"] })).length, 4);
    },
  },
  {
    name: "namespaces do not see each other",
    async claim(driver) {
      const spaces = ["", "n", "N", "n:s", "n/s"];
      for (const namespace of spaces) {
        const of = { namespace, session_id: "s" };
        const run = put("runs", { ...of, number: 1, run_id: "r", seq: 1, agent: namespace });
        await write(driver, session("s", { namespace }), message(1, { namespace, content: namespace }), run);
      }
      await write(driver, { table: "messages", remove: ["N", "s"] }, { table: "runs", remove: ["N", "s", 1] });
      for (const namespace of spaces) {
        const expected = namespace === "N" ? [] : [namespace];
        const content = await driver.read({ table: "messages", prefix: [namespace, "s"] });
        assert.deepEqual(column(content, "content"), expected);
        const found = await driver.read({ table: "runs", order: "id", prefix: [namespace, "r"] });
        assert.deepEqual(column(found, "agent"), expected);
        const listed = await driver.read({ table: "sessions", order: "activity", prefix: [namespace] });
        assert.deepEqual(column(listed, "namespace"), [namespace]);
      }
    },
  },
  {
    name: "neighbouring ids do not run together",
    async claim(driver) {
      const pairs = [
        ["a", "bc"],
        ["ab", "c"],
        ["", "abc"],
        ["abc", ""],
        ["a:b", "c"],
        ["a", "b:c"],
        ["a%", "bc"],
      ] as const;
      await write(
        driver,
        ...pairs.flatMap(([one, other]) => [
          put("runs", { namespace: one, session_id: other, number: 1, run_id: other, agent: `${one}+${other}` }),
          put("steps", { namespace: "n", session_id: one, run_id: other, step: 1, agent: `${one}+${other}` }),
        ]),
      );
      for (const [one, other] of pairs) {
        const read = async (range: RowRange) => column(await driver.read(range), "agent");
        const expected = [`${one}+${other}`];
        assert.deepEqual(await read({ table: "runs", prefix: [one, other] }), expected);
        assert.deepEqual(await read({ table: "runs", order: "id", prefix: [one, other] }), expected);
        assert.deepEqual(await read({ table: "steps", prefix: ["n", one, other] }), expected);
      }
    },
  },
  {
    name: "a read while others write is one snapshot",
    async claim(driver) {
      const turn = (n: number) => [0, 1, 2, 3].map((at) => message(n * 4 + at));
      const writing = Array.from({ length: 30 }, (_, n) => write(driver, ...turn(n)));
      const counts: number[] = [];
      for (let n = 0; n < 30; n++) counts.push((await messages(driver)).length);
      await Promise.all(writing);
      assert.deepEqual(
        counts.filter((count) => count % 4 !== 0),
        [],
      );
      assert.equal((await messages(driver)).length, 120);
    },
  },
];

async function checkRanges(driver: StoreDriver, table: TableName, rows: readonly Row[]): Promise<void> {
  for (const order of [undefined, ...Object.keys(tableOf(table).orders)]) {
    for (const prefix of prefixesOf(table, order, rows)) {
      for (const bounds of boundsOf(table, order, prefix, rows)) {
        const range = { table, order, prefix, ...bounds };
        assert.deepEqual(await driver.read(range), readReference(rows, range), JSON.stringify(range));
      }
    }
  }
}

// The scopes of an order, and longer prefixes, each once.
function prefixesOf(table: TableName, order: string | undefined, rows: readonly Row[]): Key[] {
  const { scope, by } = orderOf(table, order);
  const columns = [...scope, ...by];
  const lengths = columns.map((_, index) => index + 1).filter((length) => length >= scope.length);
  const found = lengths.flatMap((length) =>
    rows.map((row) => columns.slice(0, length).map((name) => row[name] ?? null)).filter((key) => !key.includes(null)),
  );
  const each = new Map(found.map((key) => [JSON.stringify(key), key as Key]));
  return [...each.values()].filter((_, n) => n < 6 || n % 7 === 0);
}

function boundsOf(table: TableName, order: string | undefined, prefix: Key, rows: readonly Row[]): Partial<RowRange>[] {
  const { scope, by } = orderOf(table, order);
  const next = [...scope, ...by][prefix.length];
  const general = [{}, { reverse: true }, { limit: 2 }, { limit: 2, reverse: true }];
  const values = readReference(rows, { table, order, prefix }).map((row) => row[next ?? ""]);
  const [from, before] = [values[1], values[values.length - 1]];
  if (typeof from !== "number" || typeof before !== "number") return general;
  const bounds = [{ from }, { before }, { from, before }, { from: from + 0.5 }, { from, limit: 2, reverse: true }];
  return [...general, ...bounds];
}

// Row `n` of a table. Its key is given by `n`; the other values by `seed`, so that two rows of one key can differ.
function generatedRow(table: TableName, n: number, seed: number): Row {
  const { columns, key, orders } = tableOf(table);
  const used = new Set([key, ...Object.values(orders)].flatMap(({ scope, by }) => [...scope, ...by]));
  const keyed = new Set([...key.scope, ...key.by]);
  const values = [...used].map((name) => {
    const by = keyed.has(name) ? n : seed;
    if (columns[name]?.isOptional && by % 4 === 3) return [name, null];
    return [name, generatedValue(table, name, by)];
  });
  return rowOf(table, Object.fromEntries(values));
}

const isShared = (table: TableName, name: string): boolean =>
  name === "trace_id" || name === "parent_run_id" || (name === "run_id" && table !== "runs");

function generatedValue(table: TableName, name: string, n: number): Value {
  const { columns, key } = tableOf(table);
  const { type } = columns[name] as Column;
  if (type === "integer") return (n * 37) % 1009;
  if (type === "real") return ((n * 37) % 101) * 1234.0625 + 1.7e12;
  const text = texts[n % texts.length] as string;
  if (isShared(table, name)) return `${texts[n % 5]}`;
  if (key.by.length > 0 && key.scope.includes(name))
    return ["a", "b"][(name === "namespace" ? n : n >> 1) % 2] as string;
  if (name === "namespace" && table !== "namespaces") return "a";
  return n < texts.length ? text : `${text}${n}`;
}

function keyValues(table: TableName, row: Row): Row {
  const { scope, by } = tableOf(table).key;
  return Object.fromEntries([...scope, ...by].map((name) => [name, row[name] as Value]));
}
