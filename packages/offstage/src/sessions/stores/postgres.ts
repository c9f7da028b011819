// The Postgres driver: rows in one table, through the optional package "pg" or a pool of the caller. A write is one round trip.
import { OffstageError } from "../../errors.ts";
import { placeOf } from "../address.ts";
import type { Commit, Row, StoreDriver } from "../store-driver.ts";
import { type Sql, sqlOf } from "./postgres/sql.ts";
import { codeOf, typedError } from "./postgres/typed-error.ts";

export interface PostgresOptions {
  /** postgres://user:password@host:port/database. The store creates a pool, and closes it. */
  readonly url?: string | undefined;
  /** A pool of the caller, for instance of "pg". The store never closes it. */
  readonly pool?: PostgresPool | undefined;
  /** The prefix of tables and functions; may contain a schema: "app.offstage". Default "offstage". */
  readonly prefix?: string | undefined;
  /** The size of the pool created for `url`. Default 10. */
  readonly maxConnections?: number | undefined;
}

/** The part of a pool that a store needs. */
export interface PostgresPool {
  query(query: PostgresQuery): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
}

export interface PostgresQuery {
  /** Statements with a name are prepared once per connection. */
  readonly name?: string;
  readonly text: string;
  readonly values?: unknown[];
}

/** Creates a driver on a Postgres database. */
export function postgresDriver(options: PostgresOptions): StoreDriver {
  const { prefix = "offstage" } = options;
  if (!/^([a-z_]\w*\.)?[a-z_]\w*$/.test(prefix))
    throw invalid(`"prefix" must be a plain lower-case name; found "${prefix}".`);
  const name = nameOf(options);
  const sql = sqlOf(prefix);
  let connecting: Promise<Connection> | undefined;
  const query = async (work: PostgresQuery): Promise<readonly Record<string, unknown>[]> => {
    try {
      connecting ??= connect(options);
      return (await (await connecting).pool.query(work)).rows;
    } catch (error) {
      throw typedError(error, name);
    }
  };
  return {
    name,
    open: () => versionOf(query, sql, name),
    prepare: async (version) => {
      await query({ text: sql.prepare(version) });
    },
    get: async (places) => {
      const values = [places.map(({ list }) => list), places.map(({ key }) => key)];
      const rows = await query({ name: `${prefix}-get`, text: sql.get, values });
      return rows.map((row) => (row.key === null ? undefined : (row as unknown as Row)));
    },
    read: async (list, { from = "", before = "\x7f", limit, reverse = false } = {}) => {
      const text = reverse ? sql.backward : sql.forward;
      const values = [list, from, before, limit ?? null];
      return (await query({ name: `${prefix}-${reverse ? "backward" : "forward"}`, text, values })) as unknown as Row[];
    },
    commit: async (commit) => {
      const [row] = await query({ name: `${prefix}-commit`, text: sql.commit, values: valuesOf(commit) });
      const current = row?.current as (string | null)[] | null | undefined;
      return current?.map((value, index) =>
        value === null ? undefined : { key: commit.checks[index]?.key ?? "", value },
      );
    },
    close: async () => {
      const last = connecting;
      connecting = undefined;
      await (await last?.catch(() => undefined))?.end?.();
    },
  };
}

function valuesOf({ checks, writes }: Commit): unknown[] {
  return [
    checks.map(({ list }) => list),
    checks.map(({ key }) => key),
    checks.map(({ value }) => value ?? null),
    writes.map(({ list }) => list),
    writes.map(({ key }) => key ?? null),
    writes.map(({ value }) => value ?? null),
  ];
}

type Query = (query: PostgresQuery) => Promise<readonly Record<string, unknown>[]>;

async function versionOf(query: Query, sql: Sql, name: string): Promise<number> {
  try {
    const [row] = await query({ text: sql.version });
    await query({ text: sql.columns });
    return Number(row?.version ?? 0);
  } catch (error) {
    const cause = (error as Error).cause;
    if (codeOf(cause) === "42P01") return 0;
    if (codeOf(cause) !== "42703") throw error;
    throw new OffstageError(
      "store-foreign",
      `${name} contains tables of another program with these names. Use another prefix.`,
    );
  }
}

interface Connection {
  readonly pool: PostgresPool;
  /** Closes the pool; undefined for a pool of the caller. */
  end?(): Promise<void>;
}

async function connect({ url, pool, maxConnections = 10 }: PostgresOptions): Promise<Connection> {
  if (pool !== undefined) return { pool };
  const { Pool } = (await loadPackage()).default;
  const own = new Pool({ connectionString: url, max: maxConnections, connectionTimeoutMillis: 5_000 });
  // The pool replaces a connection that breaks while idle. If the server is gone, the next query fails.
  own.on("error", () => {});
  return { pool: own as unknown as PostgresPool, end: () => own.end() };
}

async function loadPackage(): Promise<typeof import("pg")> {
  try {
    return await import("pg");
  } catch (cause) {
    throw new OffstageError("missing-package", 'A Postgres store needs the package "pg". Install it: npm install pg', {
      cause,
    });
  }
}

function nameOf({ url, pool }: PostgresOptions): string {
  if (pool !== undefined) return "Postgres";
  if (url === undefined) throw invalid('A Postgres store needs "url" or "pool".');
  return `Postgres at "${placeOf(url)}"`;
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}
