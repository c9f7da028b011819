// The list of back ends. Makers of stores, their options and the schemes of addresses follow from it. A driver is loaded on first use.
import {
  numberFrom,
  type OptionRule,
  objectWith,
  oneOf,
  positiveNumber,
  someText,
  wholeFrom,
  yesOrNo,
} from "../../base/options.ts";
import type { StoreDriver } from "../ports/store-driver.ts";
import type { PostgresOptions } from "./postgres/postgres.ts";
import type { RedisOptions } from "./redis/client.ts";
import type { SqliteDriver, SqliteOptions } from "./sqlite/sqlite.ts";

export type { PostgresOptions } from "./postgres/postgres.ts";
export type { RedisOptions } from "./redis/client.ts";
export type { SqliteDriver, SqliteOptions } from "./sqlite/sqlite.ts";

/** A kind of store. */
export interface BackEnd<Options, Driver extends StoreDriver = StoreDriver> {
  /** The maker, as errors name it. */
  readonly maker: string;
  readonly rules: Readonly<Record<keyof Options, OptionRule>>;
  /** Its place: at least one of these options is given. */
  readonly needs?: readonly (keyof Options & string)[];
  /** The schemes of its addresses. */
  readonly schemes: readonly string[];
  /** The options for an address. */
  optionsOf(url: string): Options;
  /** The place, as errors name it before the driver is loaded. */
  nameOf(options: Options): string;
  load(options: Options): Promise<Driver>;
}

const someAddress: OptionRule = { ...someText, words: "an address, as text" };

const memory: BackEnd<object> = {
  maker: "memoryStore()",
  rules: {},
  schemes: ["memory"],
  optionsOf: () => ({}),
  nameOf: () => "the store in memory",
  load: async () => (await import("./memory/memory.ts")).memoryDriver(),
};

const sqlite: BackEnd<SqliteOptions, SqliteDriver> = {
  maker: "sqliteStore()",
  rules: {
    path: {
      isFit: (value) => typeof value === "string" && value !== "" && !/^(file:|[a-z][a-z0-9+.-]+:\/\/)/i.test(value),
      words: 'a path, such as "./offstage.db", and no URL',
    },
    durability: oneOf("normal", "full"),
    timeoutMs: numberFrom(0),
    maxBytes: positiveNumber,
    readOnly: yesOrNo,
  },
  schemes: ["sqlite"],
  optionsOf: (url) => ({ path: url.slice("sqlite:".length).replace(/^\/\/(?=\/|[^/])/, "") || "offstage.db" }),
  nameOf: ({ path = "offstage.db" }) => `SQLite at "${path}"`,
  load: async (options) => (await import("./sqlite/sqlite.ts")).sqliteDriver(options),
};

const postgres: BackEnd<PostgresOptions> = {
  maker: "postgresStore()",
  rules: {
    url: someAddress,
    pool: objectWith("a pool with query()", "query"),
    schema: someText,
    maxConnections: wholeFrom(1),
  },
  needs: ["url", "pool"],
  schemes: ["postgres", "postgresql"],
  optionsOf: (url) => ({ url }),
  nameOf: () => "Postgres",
  load: async (options) => (await import("./postgres/postgres.ts")).postgresDriver(options),
};

const redis: BackEnd<RedisOptions> = {
  maker: "redisStore()",
  rules: {
    url: someAddress,
    client: {
      isFit: (value) => objectWith("", "sendCommand").isFit(value) || objectWith("", "call").isFit(value),
      words: "a client with sendCommand() or call()",
    },
    prefix: someText,
    ttlMs: wholeFrom(1),
  },
  needs: ["url", "client"],
  schemes: ["redis", "rediss"],
  optionsOf: (url) => ({ url }),
  nameOf: () => "Redis",
  load: async (options) => (await import("./redis/redis.ts")).redisDriver(options),
};

export const backEnds: {
  readonly memory: BackEnd<object>;
  readonly sqlite: BackEnd<SqliteOptions, SqliteDriver>;
  readonly postgres: BackEnd<PostgresOptions>;
  readonly redis: BackEnd<RedisOptions>;
} = { memory, sqlite, postgres, redis };
