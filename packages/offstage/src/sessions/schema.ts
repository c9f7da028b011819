// The schema: which layout of rows a store holds, and how an older one becomes the current one. Drivers only keep the number.
import { setTimeout as sleep } from "node:timers/promises";
import { OffstageError } from "../errors.ts";
import { holderOf, isAbandoned } from "./holder.ts";
import type { Row, StoreDriver } from "./store-driver.ts";

/** Rewrites the rows of one version as the next; may be repeated after a crash. */
export type Migration = (driver: StoreDriver) => Promise<void>;

/** `migrations[n]` leads from version n + 1 to n + 2. The current version is one past their number. */
export const migrations: readonly Migration[] = [];

const pollMs = 20;
const lock = { list: "schema", key: "lock" };

/** Opens a place and brings it to the current version; a newer one is refused and left as it is. */
export async function openSchema(driver: StoreDriver, steps: readonly Migration[] = migrations): Promise<void> {
  const current = steps.length + 1;
  const found = await driver.open();
  if (found === current) return;
  if (found > current) throw newer(driver.name, found, current);
  if (found === 0) return driver.prepare(current);
  await migrate(driver, steps);
}

// One process migrates; others wait for it, or take over where it died.
async function migrate(driver: StoreDriver, steps: readonly Migration[]): Promise<void> {
  const mine = JSON.stringify({ holder: holderOf("migration"), seen: Date.now() });
  for (let held: Row | undefined; ; ) {
    const free = held === undefined || isAbandoned(JSON.parse(held.value), Date.now());
    const check = { ...lock, value: held?.value };
    const refused = free
      ? await driver.commit({ label: "store.migrate", checks: [check], writes: [{ ...lock, value: mine }] })
      : [held];
    if (refused === undefined) break;
    await sleep(pollMs);
    [held] = await driver.get([lock]);
  }
  const found = await driver.open();
  for (const step of steps.slice(found - 1)) await step(driver);
  if (found <= steps.length) await driver.prepare(steps.length + 1);
  await driver.commit({ label: "store.migrate", checks: [], writes: [lock] });
}

function newer(name: string, found: number, current: number): OffstageError {
  const message = `${name} has schema ${found}, and this Offstage knows ${current}. Update Offstage; nothing was changed.`;
  return new OffstageError("schema-newer", message);
}
