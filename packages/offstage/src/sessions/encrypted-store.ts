// A store that is encrypted at rest, and the rotation of its keys.

import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import { checkEncrypted } from "./check-sealing.ts";
import { encryptedDriver } from "./encrypted-driver.ts";
import { repeated } from "./opened-driver.ts";
import type { ListNames } from "./row-keys.ts";
import type { EncryptionOptions } from "./sealer.ts";
import type { SessionCells } from "./session-cell.ts";
import { listSessions, listsOf } from "./session-list.ts";
import { readLooseTraces } from "./span-rows.ts";
import { type Store, storeDriver, storeOf, storeOptions } from "./store.ts";
import { type CoreOptions, openCore, type StoreCore } from "./store-core.ts";
import { checkStoreOptions } from "./store-rules.ts";

export type EncryptedStoreOptions = EncryptionOptions & CoreOptions;

/** A store whose values are encrypted. */
export interface EncryptedStore extends Store {
  /**
   * Encrypts every row of this namespace with the current key, and returns the number of rows. Earlier keys can be dropped once
   * this was done in every namespace and no process writes with them any more.
   */
  rotate(): Promise<number>;
  namespace(name: string): EncryptedStore;
}

/**
 * Wraps a store so that its values are encrypted (AES-256-GCM), each bound to its tenant, session and position. Ids of sessions,
 * runs and traces stay readable, because rows are found by them. Use the result instead of the wrapped store. It inherits
 * namespace, redactor and onError unless its own options set them; closing it closes the wrapped store.
 */
export function encryptedStore(store: Store, options: EncryptedStoreOptions): EncryptedStore {
  if (store?.[storeDriver] === undefined)
    throw new OffstageError("invalid-argument", `encryptedStore() needs a store; found ${shownValue(store)}.`);
  checkStoreOptions("encryptedStore()", options);
  const beneath = store[storeDriver];
  const driver = encryptedDriver(beneath, options);
  const look = async (lists: ListNames): Promise<void> => {
    await repeated(driver, () => checkEncrypted(beneath, lists));
    await repeated(driver, () => driver.prove());
  };
  const core = openCore(driver, { ...store[storeOptions], ...given(options) }, look);
  return encryptedOf(core);
}

function encryptedOf(core: StoreCore): EncryptedStore {
  const namespace = (name: string): EncryptedStore => encryptedOf(core.namespace(name));
  return Object.assign(storeOf(core), { namespace, rotate: () => rotate(core.cells) });
}

// Drops undefined options.
function given({ namespace, redact, onError }: CoreOptions): CoreOptions {
  return {
    ...(namespace !== undefined && { namespace }),
    ...(redact !== undefined && { redact }),
    ...(onError !== undefined && { onError }),
  };
}

async function rotate(cells: SessionCells): Promise<number> {
  const { context } = cells;
  const done = new Set<string>();
  let count = 0;
  const rotateAll = async (lists: readonly string[]): Promise<void> => {
    for (const list of lists) {
      // Several sessions may share a trace.
      if (!done.has(list)) count += await rotateList(cells, list);
      done.add(list);
    }
  };
  await rotateAll([context.lists.activity, context.lists.looseTraces]);
  for (const { sessionId } of await listSessions(cells)) await rotateAll(await listsOf(cells.of(sessionId)));
  await rotateAll((await readLooseTraces(context)).map(context.lists.trace));
  return count;
}

// A row that changes meanwhile is encrypted with the current key by that change.
async function rotateList({ context: { driver } }: SessionCells, list: string): Promise<number> {
  const rows = (await driver.read(list)).filter((row) => !row.damaged);
  for (const { key, value } of rows) {
    const row = { list, key, value };
    await driver.commit({ label: "store.migrate", checks: [row], writes: [row] });
  }
  return rows.length;
}
