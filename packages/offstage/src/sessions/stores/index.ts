// The list of back ends. Each is loaded on first use.
import type { StoreDriver } from "../store-driver.ts";
import type { PostgresOptions } from "./postgres.ts";
import type { RedisOptions } from "./redis.ts";
import type { SqliteDriver, SqliteOptions } from "./sqlite.ts";

export type { PostgresOptions } from "./postgres.ts";
export type { RedisOptions } from "./redis.ts";
export type { SqliteOptions } from "./sqlite.ts";

export const drivers = {
  memory: (): LazyDriver => lazy("the store in memory", async () => (await import("./memory.ts")).memoryDriver()),
  sqlite: (options: SqliteOptions = {}): LazyDriver<SqliteDriver> =>
    lazy(`SQLite at "${options.path ?? "offstage.db"}"`, async () =>
      (await import("./sqlite.ts")).sqliteDriver(options),
    ),
  postgres: (options: PostgresOptions): LazyDriver =>
    lazy("Postgres", async () => (await import("./postgres.ts")).postgresDriver(options)),
  redis: (options: RedisOptions): LazyDriver =>
    lazy("Redis", async () => (await import("./redis.ts")).redisDriver(options)),
} as const;

/** A driver whose module is imported on first use. */
export interface LazyDriver<D extends StoreDriver = StoreDriver> extends StoreDriver {
  load(): Promise<D>;
}

function lazy<D extends StoreDriver>(name: string, make: () => Promise<D>): LazyDriver<D> {
  let loading: Promise<D> | undefined;
  let driver: D | undefined;
  const load = async (): Promise<D> => {
    loading ??= make();
    driver = await loading;
    return driver;
  };
  return {
    get name() {
      return driver?.name ?? name;
    },
    load,
    open: async () => (await load()).open(),
    prepare: async (version) => (await load()).prepare(version),
    get: async (places) => (await load()).get(places),
    read: async (list, range) => (await load()).read(list, range),
    commit: async (commit) => (await load()).commit(commit),
    close: async () => driver?.close(),
  };
}
