// The schema version of a store, and migrations from older versions. Drivers only store the number.
import { setTimeout as sleep } from "node:timers/promises";
import { OffstageError } from "../errors.ts";
import { holderOf, isAbandoned } from "./holder.ts";
import type { Row, StoreDriver } from "./store-driver.ts";

/** Migrates rows from one version to the next. Idempotent, because it is repeated after a crash. */
export type Migration = (driver: StoreDriver) => Promise<void>;

/** `migrations[n]` migrates from version n + 1 to n + 2, so the current version is `migrations.length + 1`. */
export const migrations: readonly Migration[] = [];

const pollMs = 20;
const lock = { list: "schema", key: "lock" };

/** Opens a store and migrates it to the current version. A newer version is refused and left unchanged. */
export async function openSchema(driver: StoreDriver, steps: readonly Migration[] = migrations): Promise<void> {
  const current = steps.length + 1;
  const found = await driver.open();
  if (found === current) return;
  if (found > current) throw newer(driver.name, found, current);
  if (found === 0) return driver.prepare(current);
  await migrate(driver, steps);
}

// One process migrates. Others wait for it, or take over if it died.
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
  const message = `${name} has schema version ${found}, but this version of Offstage supports ${current}. Update Offstage. Nothing was changed.`;
  return new OffstageError("schema-newer", message);
}
