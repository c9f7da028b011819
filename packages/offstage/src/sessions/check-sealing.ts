// Whether a namespace is encrypted: told by its newest session, or a trace where it has none, before anything is read or written, so that neither is taken for the other.

import { parseJson } from "../base/json.ts";
import { OffstageError } from "../errors.ts";
import type { ListNames } from "./row-keys.ts";
import { isSealed } from "./sealer.ts";
import type { Row, StoreDriver } from "./store-driver.ts";

/** Throws `wrong-key` where a namespace is encrypted, and the driver does not open it. */
export async function checkPlain(driver: StoreDriver, lists: ListNames): Promise<void> {
  const row = await anyRow(driver, lists);
  if (row !== undefined && isSealed(row.value))
    throw mistaken(`${driver.name} is encrypted: open it with encryptedStore.`);
}

/** Throws `wrong-key` where it is not, and is about to be opened as if it were. The driver is the one beneath. */
export async function checkEncrypted(driver: StoreDriver, lists: ListNames): Promise<void> {
  const row = await anyRow(driver, lists);
  if (row !== undefined && !row.damaged && typeof parseJson(row.value) === "string")
    throw mistaken(
      `${driver.name} is not encrypted: open it without encryptedStore, or use another place or namespace.`,
    );
}

// Both lists hold ids as JSON.
async function anyRow(driver: StoreDriver, { activity, looseTraces }: ListNames): Promise<Row | undefined> {
  const [session] = await driver.read(activity, { limit: 1, reverse: true });
  return session ?? (await driver.read(looseTraces, { limit: 1 }))[0];
}

function mistaken(sentence: string): OffstageError {
  return new OffstageError("wrong-key", `${sentence} Nothing was changed.`);
}
