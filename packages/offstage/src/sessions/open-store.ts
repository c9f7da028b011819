// Makers of stores: one for each back end, and one that chooses by address. Nothing is opened or loaded before first use.
import { shownValue, someText } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import {
  backEnds,
  type PostgresOptions,
  type RedisOptions,
  type SqliteDriver,
  type SqliteOptions,
} from "./drivers/index.ts";
import { maskAddress } from "./ports/address.ts";
import type { VerifyOptions, Violation } from "./records/verify.ts";
import { type Store, storeOf } from "./store.ts";
import { type CoreOptions, checkStoreOptions, coreOn } from "./store-core.ts";

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
  return storeOf(coreOn(backEnds.memory, options));
}

/** Creates a store in a SQLite file. */
export function sqliteStore(options: SqliteStoreOptions = {}): SqliteStore {
  const core = coreOn(backEnds.sqlite, options);
  const store = storeOf(core);
  const driver = async (): Promise<SqliteDriver> => (await core.connection.ready()) as SqliteDriver;
  const { verify: verifyRows } = store;
  const backup = async (path: string): Promise<void> => {
    if (!someText.isFit(path))
      throw new OffstageError("invalid-argument", `backup() needs the path of a new file; found ${shownValue(path)}.`);
    // Copies the file as it is, so that encrypted rows stay encrypted.
    await (await driver()).backup(path);
  };
  const verify = async (given?: VerifyOptions): Promise<Violation[]> => {
    await (await driver()).check();
    return verifyRows(given);
  };
  return Object.assign(store, { backup, verify });
}

/** Creates a store in a Postgres database. Needs the package "pg", or a pool. */
export function postgresStore(options: PostgresStoreOptions): Store {
  return storeOf(coreOn(backEnds.postgres, options));
}

/** Creates a store on a Redis server. Needs the package "@redis/client", or a client. */
export function redisStore(options: RedisStoreOptions): Store {
  return storeOf(coreOn(backEnds.redis, options));
}

const makers = { memory: memoryStore, sqlite: sqliteStore, postgres: postgresStore, redis: redisStore } as const;

/** Creates the store for an address: "sqlite:./offstage.db", "postgres://…", "redis://…" or "memory:". */
export function openStore(url: string, options: StoreOptions = {}): Store {
  if (typeof url !== "string")
    throw new OffstageError("invalid-argument", `The address of a store must be text; found ${shownValue(url)}.`);
  checkStoreOptions("openStore()", options);
  const scheme = /^([a-z]+):/.exec(url)?.[1] ?? "";
  const names = Object.keys(backEnds) as (keyof typeof backEnds)[];
  const name = names.find((each) => backEnds[each].schemes.includes(scheme));
  if (name !== undefined) return makers[name]({ ...options, ...backEnds[name].optionsOf(url) });
  const valid = names.flatMap((each) => backEnds[each].schemes).join(", ");
  const shown = maskAddress(url);
  const hint = scheme === "" ? ` For a file, pass "sqlite:${shown}".` : "";
  const message = `Unknown store address "${shown}". It must start with one of these schemes: ${valid}.${hint}`;
  throw new OffstageError("invalid-argument", message);
}
