// Sessions with leases for tests: held in this process or on another machine, with its own clock.
import { setTimeout as sleep } from "node:timers/promises";
import { vi } from "vitest";
import { formatHead, type Lease, parseHead } from "../../src/sessions/session-head.ts";
import { createStore } from "../../src/sessions/store.ts";
import type { RowPlace, StoreDriver } from "../../src/sessions/store-driver.ts";
import { memoryDriver } from "../../src/sessions/stores/memory.ts";
import { open, start } from "../../src/testing/store-claims/claim.ts";

/** The head of session "a". */
export const place: RowPlace = { list: "h//a", key: "head" };

/** Rewrites the lease of session "a" as if another process held it. */
export async function pretend(driver: StoreDriver, change: (holder: string) => string, seenMsAgo = 0): Promise<void> {
  const [row] = await driver.get([place]);
  const head = parseHead(row?.value ?? "", "memory");
  const lease = { ...(head.lease as Lease), holder: change(head.lease?.holder ?? ""), seen: Date.now() - seenMsAgo };
  const value = formatHead({ ...head, lease });
  await driver.commit({ label: "session.add", checks: [], writes: [{ ...place, value }] });
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
  const silent: StoreDriver = { ...driver, commit: async (each) => (isRenewal(each.label) ? [] : driver.commit(each)) };
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
