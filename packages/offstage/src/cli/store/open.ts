// Opens the store that the options name: for reading only, unless the command writes. Collects damaged rows, to be told once.
import { existsSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { type ErrorCode, isOffstageError, OffstageError } from "../../errors.ts";
import { encryptedStore } from "../../sessions/encrypted-store.ts";
import { openStore, type StoreOptions, sqliteStore } from "../../sessions/open-store.ts";
import type { StoreDriver } from "../../sessions/ports/store-driver.ts";
import { type Store, storeOf, storeOptions, storeSource } from "../../sessions/store.ts";
import { openCore } from "../../sessions/store-core.ts";
import type { GlobalOptions, OpenStoreOptions, World } from "../io.ts";

/** The store of one call of the command line. */
export interface CliStore {
  open(options: OpenStoreOptions): Promise<Store>;
  /** The rows that could not be read so far. */
  readonly damage: readonly OffstageError[];
  close(): Promise<void>;
}

const defaultAddress = "sqlite:./offstage.db";

/** Makes the opener of a store. Nothing is opened before it is called. */
export function cliStore(world: World, globals: GlobalOptions): CliStore {
  const damage: OffstageError[] = [];
  const opened: Store[] = [];
  return {
    damage,
    async open(options) {
      const report = (error: OffstageError): void => {
        if (!damage.some(({ message }) => message === error.message)) damage.push(error);
      };
      const common = { onError: report, ...(globals.namespace !== undefined && { namespace: globals.namespace }) };
      const base = storeAt(addressOf(world, globals), { ...options, world, common });
      const store = options.base === true ? base : sealed(base, world, globals);
      opened.push(store);
      if (options.base !== true) await ready(store);
      return store;
    },
    async close() {
      await Promise.all(opened.map((store) => store.close()));
    },
  };
}

/** The address of the store: the option, the environment, or the file beside. */
export function addressOf({ env }: World, { store }: GlobalOptions): string {
  const address = store ?? (env.OFFSTAGE_STORE || defaultAddress);
  // A path, also one with the letter of a drive.
  return /^[a-z]{2,}:/i.test(address) ? address : `sqlite:${address}`;
}

interface Place extends OpenStoreOptions {
  readonly world: World;
  readonly common: StoreOptions;
}

function storeAt(address: string, { writes = false, creates = false, world, common }: Place): Store {
  if (!address.startsWith("sqlite:")) return writes ? openStore(address, common) : readOnly(openStore(address, common));
  const path = address.slice("sqlite:".length).replace(/^\/\/(?=\/|[^/])/, "") || "offstage.db";
  const file = path === ":memory:" || isAbsolute(path) ? path : resolve(world.cwd, path);
  if (!creates && file !== ":memory:" && !existsSync(file)) {
    const message = `There is no store at "${path}". Name one with --store, or begin one: offstage chat --demo`;
    throw new OffstageError("store-failed", message);
  }
  return sqliteStore({ ...common, path: file, readOnly: !writes && file !== ":memory:" });
}

/** The same store, which cannot write. Only SQLite has an option for that. */
function readOnly(store: Store): Store {
  const { name, load } = store[storeSource];
  const guarded = async (): Promise<StoreDriver> => {
    const driver = await load();
    const refuse = (code: ErrorCode, what: string) => async (): Promise<never> => {
      throw new OffstageError(code, `${driver.name} ${what}`);
    };
    return {
      ...driver,
      prepare: refuse("store-failed", "has no record of Offstage, and reading does not create one."),
      commit: refuse("store-read-only", "is open for reading only."),
    };
  };
  return storeOf(openCore({ name, load: guarded }, store[storeOptions]));
}

function sealed(store: Store, { env }: World, { keyEnv }: GlobalOptions): Store {
  if (keyEnv === undefined) return store;
  const key = env[keyEnv];
  if (!key) throw new OffstageError("wrong-key", `--key-env names the variable "${keyEnv}", which is not set.`);
  return encryptedStore(store, { key });
}

async function ready(store: Store): Promise<void> {
  try {
    await store.ready();
  } catch (error) {
    if (!isOffstageError(error, "wrong-key")) throw error;
    const hint = "Pass the variable that holds its key with --key-env; leave it out for a store that is not encrypted.";
    throw new OffstageError("wrong-key", `${error.message} ${hint}`, { cause: error });
  }
}
