// A store that is encrypted at rest, and the rotation of its keys.
import { anything, type OptionRule, shownValue, someText } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import { type EncryptionOptions, sealerOf } from "./encryption/sealer.ts";
import { rotate } from "./records/rotate.ts";
import { type Store, storeOf, storeOptions, storeSource } from "./store.ts";
import { type CoreOptions, checkStoreOptions, openCore, type StoreCore } from "./store-core.ts";

export type EncryptedStoreOptions = EncryptionOptions & CoreOptions;

/** A store whose content is encrypted. */
export interface EncryptedStore extends Store {
  /**
   * Encrypts every row of this namespace with the current key, and returns the number of rows. Earlier keys can be dropped once
   * this was done in every namespace and no process writes with them any more.
   */
  rotate(): Promise<number>;
  namespace(name: string): EncryptedStore;
}

// Keys are checked by the sealer, whose errors never show them.
const rules: Readonly<Record<keyof EncryptionOptions, OptionRule>> = {
  key: anything,
  keyId: someText,
  earlierKeys: anything,
};

/**
 * Wraps a store so that its content is encrypted (AES-256-GCM): messages, arguments, results, titles, metadata, errors, notes and
 * files, each bound to its tenant, session and position. Ids, times, status, token counts, and the names of agents, models and
 * tools stay readable. Use the result instead of the wrapped store. It inherits namespace, redactor, onError and keepInput unless
 * its own options set them; closing it closes the wrapped store.
 */
export function encryptedStore(store: Store, options: EncryptedStoreOptions): EncryptedStore {
  if (store?.[storeSource] === undefined)
    throw new OffstageError("invalid-argument", `encryptedStore() needs a store; found ${shownValue(store)}.`);
  checkStoreOptions("encryptedStore()", options, rules);
  const sealer = sealerOf(options);
  return encryptedOf(openCore(store[storeSource], { ...store[storeOptions], ...given(options) }, sealer));
}

function encryptedOf(core: StoreCore): EncryptedStore {
  const namespace = (name: string): EncryptedStore => encryptedOf(core.namespace(name));
  return Object.assign(storeOf(core), { namespace, rotate: () => rotate(core.cells) });
}

// Drops undefined options.
function given({ namespace, redact, onError, keepInput }: CoreOptions): CoreOptions {
  const all = { namespace, redact, onError, keepInput };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}
