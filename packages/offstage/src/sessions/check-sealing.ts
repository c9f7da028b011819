// Whether a namespace is encrypted: told by its newest session before anything is read or written, so that neither is taken for the other.
import { OffstageError } from "../errors.ts";
import { parseJson } from "../messages/json.ts";
import { isSealed } from "./sealer.ts";
import type { Row, StoreDriver } from "./store-driver.ts";

/** Throws `wrong-key` where the sessions of a namespace are encrypted, and the driver does not open them. */
export async function checkPlain(driver: StoreDriver, activity: string): Promise<void> {
  const row = await newest(driver, activity);
  if (row !== undefined && isSealed(row.value))
    throw mistaken(`${driver.name} is encrypted: open it with encryptedStore.`);
}

/** Throws `wrong-key` where they are not, and are about to be opened as if they were. The driver is the one beneath. */
export async function checkEncrypted(driver: StoreDriver, activity: string): Promise<void> {
  const row = await newest(driver, activity);
  if (row !== undefined && !row.damaged && typeof parseJson(row.value) === "string")
    throw mistaken(
      `${driver.name} is not encrypted: open it without encryptedStore, or use another place or namespace.`,
    );
}

async function newest(driver: StoreDriver, activity: string): Promise<Row | undefined> {
  return (await driver.read(activity, { limit: 1, reverse: true }))[0];
}

function mistaken(sentence: string): OffstageError {
  return new OffstageError("wrong-key", `${sentence} Nothing was changed.`);
}
