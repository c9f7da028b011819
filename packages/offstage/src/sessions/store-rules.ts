// The options of each maker of stores. Checked when the maker is called, because drivers are loaded later.
import {
  anything,
  checkOptions,
  numberFrom,
  type OptionRule,
  type OptionRules,
  objectWith,
  oneOf,
  positiveNumber,
  someFunction,
  someText,
  wholeFrom,
} from "../base/options.ts";
import type { EncryptionOptions } from "./sealer.ts";
import type { CoreOptions } from "./store-core.ts";
import type { PostgresOptions, RedisOptions, SqliteOptions } from "./stores/index.ts";

type Rules<Options> = Readonly<Record<keyof Options, OptionRule>>;

const coreRules: Rules<CoreOptions> = {
  namespace: { isFit: (value) => typeof value === "string", words: "text" },
  redact: someFunction,
  onError: someFunction,
};

const sqliteRules: Rules<SqliteOptions> = {
  path: {
    isFit: (value) => typeof value === "string" && value !== "" && !/^(file:|[a-z][a-z0-9+.-]+:\/\/)/i.test(value),
    words: 'a path, such as "./offstage.db", and no URL',
  },
  durability: oneOf("normal", "full"),
  timeoutMs: numberFrom(0),
  maxBytes: positiveNumber,
};

const someAddress: OptionRule = { ...someText, words: "an address, as text" };

const postgresRules: Rules<PostgresOptions> = {
  url: someAddress,
  pool: objectWith("a pool with query()", "query"),
  prefix: someText,
  maxConnections: wholeFrom(1),
};

const redisRules: Rules<RedisOptions> = {
  url: someAddress,
  client: {
    isFit: (value) => objectWith("", "sendCommand").isFit(value) || objectWith("", "call").isFit(value),
    words: "a client with sendCommand() or call()",
  },
  prefix: someText,
  ttlMs: wholeFrom(1),
};

// Keys are checked by the sealer, whose errors never show them.
const encryptedRules: Rules<EncryptionOptions> = { key: anything, keyId: someText, earlierKeys: anything };

/** The makers of stores, as errors name them. */
type StoreMaker =
  | "createStore()"
  | "openStore()"
  | "memoryStore()"
  | "sqliteStore()"
  | "postgresStore()"
  | "redisStore()"
  | "encryptedStore()"
  | "PersistentSession.persistent()"
  | "PersistentSession.inMemory()";

const rulesOf: Readonly<Record<StoreMaker, OptionRules>> = {
  "createStore()": {},
  "openStore()": {},
  "memoryStore()": {},
  "sqliteStore()": sqliteRules,
  "postgresStore()": postgresRules,
  "redisStore()": redisRules,
  "encryptedStore()": encryptedRules,
  "PersistentSession.persistent()": sqliteRules,
  "PersistentSession.inMemory()": {},
};

/**
 * Throws `invalid-argument` for an unknown or unfit option: a misspelt path would write to the default file, a misspelt
 * redactor would redact nothing.
 */
export function checkStoreOptions(maker: StoreMaker, options: object): void {
  checkOptions(options, { ...rulesOf[maker], ...coreRules }, maker);
}
