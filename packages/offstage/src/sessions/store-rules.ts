// What the options of a store may be, by back end. Checked where they are given: drivers are loaded later.
import {
  anything,
  checkOptions,
  numberFrom,
  type OptionRule,
  type OptionRules,
  oneOf,
  positiveNumber,
  someText,
  wholeFrom,
} from "../base/options.ts";
import type { EncryptionOptions } from "./sealer.ts";
import { coreRules } from "./store-core.ts";
import type { PostgresOptions, RedisOptions, SqliteOptions } from "./stores/index.ts";

type Rules<Options> = Readonly<Record<keyof Options, OptionRule>>;

const sqliteRules: Rules<SqliteOptions> = {
  path: {
    isFit: (value) => typeof value === "string" && value !== "" && !value.startsWith("file:"),
    words: 'a path, such as "./offstage.db", and no URL',
  },
  durability: oneOf("normal", "full"),
  timeoutMs: numberFrom(0),
  maxBytes: positiveNumber,
};

// An address, a pool or a client is checked by its driver, which can say what is wrong with it.
const postgresRules: Rules<PostgresOptions> = {
  url: anything,
  pool: anything,
  prefix: someText,
  maxConnections: wholeFrom(1),
};
const redisRules: Rules<RedisOptions> = { url: anything, client: anything, prefix: someText, ttlMs: wholeFrom(1) };
const encryptedRules: Rules<EncryptionOptions> = { key: anything, keyId: someText, earlierKeys: anything };

type StoreKind = "memory" | "sqlite" | "postgres" | "redis" | "encrypted";

const kinds: Readonly<Record<StoreKind, { readonly owner: string; readonly rules: OptionRules }>> = {
  memory: { owner: "memoryStore()", rules: {} },
  sqlite: { owner: "sqliteStore()", rules: sqliteRules },
  postgres: { owner: "postgresStore()", rules: postgresRules },
  redis: { owner: "redisStore()", rules: redisRules },
  encrypted: { owner: "encryptedStore()", rules: encryptedRules },
};

/**
 * Throws `invalid-argument` unless they can be meant: a path misspelt would write to the default file, a redactor misspelt would
 * redact nothing.
 */
export function checkStoreOptions(kind: StoreKind, options: object): void {
  const { owner, rules } = kinds[kind];
  checkOptions(options, { ...rules, ...coreRules }, owner);
}
