// The Postgres driver: the tables of the record in a schema, through the optional package "pg" or a pool of the caller.
import { loadPackage } from "../../../base/load-package.ts";
import { OffstageError } from "../../../errors.ts";
import { placeOf } from "../../ports/address.ts";
import type { StoreDriver } from "../../ports/store-driver.ts";
import { prepareSchema } from "./prepare-schema.ts";
import { type PostgresQuery, type Query, rowsOf } from "./rows.ts";
import { codeOf, typedError } from "./typed-error.ts";

export type { PostgresQuery } from "./rows.ts";

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

interface QueryResult {
  readonly rows: readonly Record<string, unknown>[];
}

/** Creates a driver on a Postgres database. */
export function postgresDriver(options: PostgresOptions): StoreDriver {
  const { schema = "offstage" } = options;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema) || schema.startsWith("pg_"))
    throw invalid(`"schema" must be a plain lower-case name; found "${schema}".`);
  const name = nameOf(options);
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
  return {
    name,
    open: () => versionOf(query, schema, name),
    prepare: async (version) => {
      await query({ text: prepareSchema(schema, version) });
    },
    ...rowsOf(query, schema),
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
