// The Redis driver: rows as JSON in hashes, orders as sorted sets. As durable as the server is configured. It has no `select`, so
// the store computes answers over all scopes itself. The layout of the keys is in layout.ts.
import { OffstageError } from "../../../errors.ts";
import type { Commit, Put, Row, StoreDriver } from "../../ports/store-driver.ts";
import { type Table, type TableName, tables } from "../../ports/tables.ts";
import { type RedisOptions, redisConnection } from "./client.ts";
import { commitScript, getScript, readScript } from "./scripts.ts";

/** For each table, a row in which every column is null. */
const empty = new Map(
  Object.entries<Table>(tables).map(([name, { columns }]) => [
    name as TableName,
    Object.fromEntries(Object.keys(columns).map((column) => [column, null])),
  ]),
);

/** Creates a driver on a Redis server. */
export function redisDriver(options: RedisOptions): StoreDriver {
  const { prefix = "offstage", ttlMs } = options;
  const base = `{${prefix}}:`;
  const { name, send, run, close } = redisConnection(options, base);

  const rowOf = (table: TableName, text: string): Row => {
    try {
      return { ...empty.get(table), ...(JSON.parse(text) as Row) };
    } catch (cause) {
      throw new OffstageError("store-corrupt", `${name} has a row of the table "${table}" that is not JSON.`, {
        cause,
      });
    }
  };

  return {
    name,
    open: async () => versionOf((await send(["MGET", `${base}version`, `${base}schema`])) as unknown[], name),
    prepare: async (version) => {
      await send(["SET", `${base}version`, String(version)]);
    },
    get: async (places) => {
      const rows = (await run(getScript, [JSON.stringify(places)])) as (string | null)[];
      return places.map(({ table }, index) => optional(rows[index], (text) => rowOf(table, text)));
    },
    read: async (range) => {
      const rows = (await run(readScript, [JSON.stringify(range)])) as string[];
      return rows.map((text) => rowOf(range.table, text));
    },
    commit: async (commit) => {
      const [isDone, result] = (await run(commitScript, commitArgs(commit, ttlMs))) as Reply;
      if (isDone) return result === null ? {} : { number: Number(result) };
      const rows = result as (string | null)[];
      return { refused: commit.checks.map(({ table }, index) => optional(rows[index], (text) => rowOf(table, text))) };
    },
    close,
  };
}

type Reply = [isDone: number, result: number | null | (string | null)[]];

function optional(text: string | null | undefined, parse: (text: string) => Row): Row | undefined {
  return typeof text === "string" ? parse(text) : undefined;
}

/** An earlier form of the store had its version in the key "schema". */
function versionOf([version, earlier]: unknown[], name: string): number {
  const found = Number(version ?? 0);
  if (Number.isSafeInteger(found) && (found > 0 || earlier === null)) return found;
  throw new OffstageError(
    "store-foreign",
    `${name} contains keys of another program with these names. Use another prefix.`,
  );
}

function commitArgs({ checks, writes }: Commit, ttlMs: number | undefined): string[] {
  const removals = writes.filter((write) => "remove" in write);
  const puts = writes.filter((write) => "row" in write);
  const isNumbered = puts.some(({ numbered }) => numbered !== undefined);
  const described = puts.map(({ table, numbered }) => ({ table, numbered }));
  return [JSON.stringify({ checks, removals, puts: described, isNumbered, ttlMs }), ...puts.map(textOf)];
}

/** The JSON of a row without nulls, and without the column that gets a number. */
function textOf({ row, numbered }: Put): string {
  const values = Object.entries(row).filter(([column, value]) => value !== null && column !== numbered);
  return JSON.stringify(Object.fromEntries(values));
}
