// Sessions with leases for tests: held in this process or on another machine, with its own clock.
import { setTimeout as sleep } from "node:timers/promises";
import { vi } from "vitest";
import { memoryDriver } from "../../src/sessions/drivers/memory/memory.ts";
import type { StoreDriver } from "../../src/sessions/ports/store-driver.ts";
import type { SessionRow } from "../../src/sessions/ports/tables.ts";
import { createStore } from "../../src/sessions/store.ts";
import { open, start } from "../../src/testing/store-claims/claim.ts";

/** Returns the head of session "a", as the driver has it. */
export async function headRow(driver: StoreDriver): Promise<SessionRow> {
  const [row] = await driver.get([{ table: "sessions", key: ["", "a"] }]);
  return row as unknown as SessionRow;
}

/** Changes columns of the head of session "a", as another process would: its version changes too. */
export async function putHead(driver: StoreDriver, change: Partial<SessionRow>): Promise<void> {
  const head = await headRow(driver);
  const row = { ...head, version: `${head.version} another1`, ...change };
  await driver.commit({ label: "session.add", checks: [], writes: [{ table: "sessions", row }] });
}

/** Rewrites the lease of session "a" as if another process held it. */
export async function pretend(driver: StoreDriver, change: (holder: string) => string, seenMsAgo = 0): Promise<void> {
  const { lease_holder } = await headRow(driver);
  await putHead(driver, { lease_holder: change(lease_holder ?? ""), lease_seen: Date.now() - seenMsAgo });
}

/** Holders of different kinds. */
export const elsewhere = (holder: string): string => `faraway ${holder.split(" ").slice(1).join(" ")}`;
export const gone = (holder: string): string => holder.replace(/^(\S+) \d+/, "$1 4194304");
export const reused = (holder: string): string => holder.replace(/^(\S+ \d+) \S*/, "$1 1");

/** Session "a", held by a run of this process. */
export async function held(): Promise<{ driver: StoreDriver; log: Awaited<ReturnType<typeof open>> }> {
  const driver = memoryDriver();
  return { driver, log: await open(createStore(driver), "a", start("r1", "one")) };
}

/** Session "a", held on another machine whose clock is off by some time, by a holder that renews its lease only on request. */
export async function heldElsewhere(
  clockAheadMs: number,
): Promise<{ driver: StoreDriver; renew: () => Promise<void> }> {
  const driver = memoryDriver();
  const isRenewal = (label: string): boolean => label === "lease.renew";
  const silent: StoreDriver = { ...driver, commit: async (each) => (isRenewal(each.label) ? {} : driver.commit(each)) };
  await open(createStore(silent), "a", start("r1", "one"));
  const renew = () => pretend(driver, elsewhere, -clockAheadMs);
  await renew();
  return { driver, renew };
}

/** Advances the clocks of this process, and gives waiting runs time to check again. */
export async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await sleep(300);
}
