// The schema: which layout of rows a store holds, and how an older one becomes the current one. Drivers only keep the number.
import { OffstageError } from "../errors.ts";
import type { StoreDriver } from "./store-driver.ts";

/** Rewrites the rows of one version as the next; may be repeated after a crash. */
export type Migration = (driver: StoreDriver) => Promise<void>;

/** `migrations[n]` leads from version n + 1 to n + 2. The current version is one past their number. */
export const migrations: readonly Migration[] = [];

/** Opens a place and brings it to the current version; a newer one is refused and left as it is. */
export async function openSchema(driver: StoreDriver, steps: readonly Migration[] = migrations): Promise<void> {
  const current = steps.length + 1;
  const found = await driver.open();
  if (found === current) return;
  if (found > current) throw newer(driver.name, found, current);
  for (const step of found === 0 ? [] : steps.slice(found - 1)) await step(driver);
  await driver.prepare(current);
}

function newer(name: string, found: number, current: number): OffstageError {
  const message = `${name} has schema ${found}, and this Offstage knows ${current}. Update Offstage; nothing was changed.`;
  return new OffstageError("schema-newer", message);
}
