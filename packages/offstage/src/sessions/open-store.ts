// Makers of stores: one for each back end, and one that chooses by address. Nothing is opened or loaded before first use.

import { shownValue, someText } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import { maskAddress } from "./address.ts";
import { type Store, storeOf } from "./store.ts";
import { type CoreOptions, openCore } from "./store-core.ts";
import { checkStoreOptions } from "./store-rules.ts";
import { drivers, type PostgresOptions, type RedisOptions, type SqliteOptions } from "./stores/index.ts";
import type { Violation } from "./verify-store.ts";

/** The options of every store. */
export type StoreOptions = CoreOptions;
export type SqliteStoreOptions = SqliteOptions & StoreOptions;
export type PostgresStoreOptions = PostgresOptions & StoreOptions;
export type RedisStoreOptions = RedisOptions & StoreOptions;

/** A store in a SQLite file. */
export interface SqliteStore extends Store {
  /** Writes a consistent copy to a new file. Other processes can go on writing meanwhile. */
  backup(path: string): Promise<void>;
}

/** Creates a store in memory; its data is lost when the process ends. */
export function memoryStore(options: StoreOptions = {}): Store {
  checkStoreOptions("memoryStore()", options);
  return storeOf(openCore(drivers.memory(), options));
}

/** Creates a store in a SQLite file. */
export function sqliteStore(options: SqliteStoreOptions = {}): SqliteStore {
  checkStoreOptions("sqliteStore()", options);
  const driver = drivers.sqlite(options);
  const core = openCore(driver, options);
  const store = storeOf(core);
  const backup = async (path: string): Promise<void> => {
    if (!someText.isFit(path))
      throw new OffstageError("invalid-argument", `backup() needs the path of a new file; found ${shownValue(path)}.`);
    // Copies the file as it is, so that encrypted rows stay encrypted.
    await core.driver.ready();
    await (await driver.load()).backup(path);
  };
  const verify = async (): Promise<Violation[]> => {
    await store.ready();
    await (await driver.load()).check();
    return verifyRows();
  };
  const { verify: verifyRows } = store;
  return Object.assign(store, { backup, verify });
}

/** Creates a store in a Postgres database. Needs the package "pg", or a pool. */
export function postgresStore(options: PostgresStoreOptions): Store {
  checkStoreOptions("postgresStore()", options);
  return storeOf(openCore(drivers.postgres(options), options));
}

/** Creates a store on a Redis server. Needs the package "@redis/client", or a client. */
export function redisStore(options: RedisStoreOptions): Store {
  checkStoreOptions("redisStore()", options);
  return storeOf(openCore(drivers.redis(options), options));
}

const schemes: Readonly<Record<string, (url: string, options: StoreOptions) => Store>> = {
  memory: (_, options) => memoryStore(options),
  sqlite: (url, options) => sqliteStore({ ...options, path: pathOf(url) }),
  postgres: (url, options) => postgresStore({ ...options, url }),
  postgresql: (url, options) => postgresStore({ ...options, url }),
  redis: (url, options) => redisStore({ ...options, url }),
  rediss: (url, options) => redisStore({ ...options, url }),
};

/** Creates the store for an address: "sqlite:./offstage.db", "postgres://…", "redis://…" or "memory:". */
export function openStore(url: string, options: StoreOptions = {}): Store {
  if (typeof url !== "string")
    throw new OffstageError("invalid-argument", `The address of a store must be text; found ${shownValue(url)}.`);
  checkStoreOptions("openStore()", options);
  const scheme = /^([a-z]+):/.exec(url)?.[1] ?? "";
  const open = Object.hasOwn(schemes, scheme) ? schemes[scheme] : undefined;
  if (open !== undefined) return open(url, options);
  const valid = Object.keys(schemes).join(", ");
  const shown = maskAddress(url);
  const hint = scheme === "" ? ` For a file, pass "sqlite:${shown}".` : "";
  const message = `Unknown store address "${shown}". It must start with one of these schemes: ${valid}.${hint}`;
  throw new OffstageError("invalid-argument", message);
}

function pathOf(url: string): string {
  const path = url.slice("sqlite:".length).replace(/^\/\/(?=\/|[^/])/, "");
  return path === "" ? "offstage.db" : path;
}
