// The Postgres driver: the tables of the record in a schema, through the optional package "pg" or a pool of the caller.
import { loadPackage } from "../../../base/load-package.ts";
import { OffstageError } from "../../../errors.ts";
import { placeOf } from "../../ports/address.ts";
import type { Row, StoreDriver } from "../../ports/store-driver.ts";
import { postgresDialect } from "../sql/dialect.ts";
import { readRange, type Statement } from "../sql/row-statements.ts";
import { selectRows } from "../sql/select-rows.ts";
import { commitScript } from "./commit.ts";
import { prepareSchema } from "./prepare-schema.ts";
import { codeOf, typedError } from "./typed-error.ts";

export interface PostgresOptions {
  /** postgres://user:password@host:port/database. The store creates a pool, and closes it. */
  readonly url?: string | undefined;
  /** A pool of the caller, for instance of "pg". The store never closes it. */
  readonly pool?: PostgresPool | undefined;
  /** The schema of the tables. It is created if it is missing. Default "offstage". */
  readonly schema?: string | undefined;
  /** The size of the pool created for `url`. Default 10. */
  readonly maxConnections?: number | undefined;
}

/** The part of a pool that a store needs. */
export interface PostgresPool {
  query(query: PostgresQuery): Promise<QueryResult>;
}

export interface PostgresQuery {
  readonly text: string;
  readonly values?: unknown[];
}

/** Sends a query, and resolves with the rows of its last statement. */
type Query = (query: PostgresQuery) => Promise<readonly Record<string, unknown>[]>;

interface QueryResult {
  readonly rows: readonly Record<string, unknown>[];
}

/** Creates a driver on a Postgres database. */
export function postgresDriver(options: PostgresOptions): StoreDriver {
  const { schema = "offstage" } = options;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema) || schema.startsWith("pg_"))
    throw invalid(`"schema" must be a plain lower-case name; found "${schema}".`);
  const name = nameOf(options);
  const dialect = postgresDialect(schema);
  let connecting: Promise<Connection> | undefined;
  const query: Query = async (work) => {
    try {
      connecting ??= connect(options);
      // A script has one result per statement.
      const result: QueryResult | readonly QueryResult[] = await (await connecting).pool.query(work);
      return [result].flat().at(-1)?.rows ?? [];
    } catch (error) {
      throw typedError(error, name);
    }
  };
  // As JSON, a row needs no conversion, and does not depend on the type parsers of the caller's pool.
  const all = async ({ text, values }: Statement): Promise<Row[]> => {
    const asJson = `SELECT row_to_json(found)::text AS "row" FROM (${text}) AS found`;
    const found = await query({ text: asJson, values: [...values] });
    return found.map(({ row }) => JSON.parse(String(row)) as Row);
  };
  return {
    name,
    open: () => versionOf(query, schema, name),
    prepare: async (version) => {
      await query({ text: prepareSchema(schema, version) });
    },
    // One statement, so that all places are read from one snapshot.
    get: async (places) => {
      const place = "json_array_elements($1::json) WITH ORDINALITY AS places (place, n)";
      const row = `${dialect.table("row_of")}(place ->> 'table', place -> 'key')::text`;
      const text = `SELECT ${row} AS "row" FROM ${place} ORDER BY n`;
      const found = await query({ text, values: [JSON.stringify(places)] });
      return found.map(({ row }) => (row === null ? undefined : (JSON.parse(String(row)) as Row)));
    },
    read: async (range) => all(readRange(dialect, range)),
    select: async (selection) => all(selectRows(dialect, selection)),
    commit: async (commit) => {
      const [found] = await query({ text: commitScript(dialect, schema, commit) });
      const { refused, number } = JSON.parse(String(found?.committed)) as {
        readonly refused?: readonly (Row | null)[];
        readonly number?: number | null;
      };
      return refused === undefined
        ? { number: number ?? undefined }
        : { refused: refused.map((row) => row ?? undefined) };
    },
    close: async () => {
      const last = connecting;
      connecting = undefined;
      await (await last?.catch(() => undefined))?.end?.();
    },
  };
}

// Tables without a version, or with other columns, are those of another program.
async function versionOf(query: Query, schema: string, name: string): Promise<number> {
  const tables = `SELECT relname FROM pg_catalog.pg_class WHERE relnamespace = to_regnamespace('"${schema}"') AND relkind IN ('r', 'p', 'v', 'm')`;
  if ((await query({ text: tables })).length === 0) return 0;
  try {
    await query({ text: `SELECT namespace, session_id, seq, stream FROM "${schema}".messages LIMIT 0` });
    const [row] = await query({ text: `SELECT version::text FROM "${schema}".version` });
    return Number(row?.version ?? 0);
  } catch (error) {
    if (!["42P01", "42703"].includes(codeOf((error as Error).cause))) throw error;
    throw new OffstageError(
      "store-foreign",
      `The schema "${schema}" in ${name} contains tables of another program. Use another schema.`,
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
  const { Pool } = (await loadPg()).default;
  const own = new Pool({ connectionString: url, max: maxConnections, connectionTimeoutMillis: 5_000 });
  // The pool replaces a connection that breaks while idle. If the server is gone, the next query fails.
  own.on("error", () => {});
  return { pool: own as unknown as PostgresPool, end: () => own.end() };
}

function loadPg(): Promise<typeof import("pg")> {
  return loadPackage(() => import("pg"), { name: "pg", user: "A Postgres store" });
}

function nameOf({ url, pool }: PostgresOptions): string {
  if (pool !== undefined) return "Postgres";
  if (url === undefined) throw invalid('A Postgres store needs "url" or "pool".');
  return `Postgres at "${placeOf(url)}"`;
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}
