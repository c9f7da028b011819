// Checks before first use whether a namespace is encrypted, by its newest session, or a trace if there are no sessions.

import { parseJson } from "../base/json.ts";
import { OffstageError } from "../errors.ts";
import type { ListNames } from "./row-keys.ts";
import { isSealed } from "./sealer.ts";
import type { Row, StoreDriver } from "./store-driver.ts";

/** Throws `wrong-key` if a namespace that is opened without encryption is encrypted. */
export async function checkPlain(driver: StoreDriver, lists: ListNames): Promise<void> {
  const row = await anyRow(driver, lists);
  if (row !== undefined && isSealed(row.value))
    throw mistaken(`${driver.name} is encrypted. Open it with encryptedStore().`);
}

/** Throws `wrong-key` if a namespace that is opened with encryption is not encrypted. `driver` is the wrapped driver. */
export async function checkEncrypted(driver: StoreDriver, lists: ListNames): Promise<void> {
  const row = await anyRow(driver, lists);
  if (row !== undefined && !row.damaged && typeof parseJson(row.value) === "string")
    throw mistaken(
      `${driver.name} is not encrypted. Open it without encryptedStore(), or use another place or namespace.`,
    );
}

// The values of both lists are ids, as JSON.
async function anyRow(driver: StoreDriver, { activity, looseTraces }: ListNames): Promise<Row | undefined> {
  const [session] = await driver.read(activity, { limit: 1, reverse: true });
  return session ?? (await driver.read(looseTraces, { limit: 1 }))[0];
}

function mistaken(sentence: string): OffstageError {
  return new OffstageError("wrong-key", `${sentence} Nothing was changed.`);
}
