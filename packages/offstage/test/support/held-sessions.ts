// Sessions that somebody holds, for tests of leases: here, elsewhere, with a clock of their own.
import { setTimeout as sleep } from "node:timers/promises";
import { vi } from "vitest";
import { formatHead, type Lease, parseHead } from "../../src/sessions/session-head.ts";
import { createStore } from "../../src/sessions/store.ts";
import type { RowPlace, StoreDriver } from "../../src/sessions/store-driver.ts";
import { memoryDriver } from "../../src/sessions/stores/memory.ts";
import { open, start } from "../../src/testing/store-claims/claim.ts";

/** The head of session "a". */
export const place: RowPlace = { list: "h//a", key: "head" };

/** Rewrites the lease of session "a" as if somebody else held it. */
export async function pretend(driver: StoreDriver, change: (holder: string) => string, seenMsAgo = 0): Promise<void> {
  const [row] = await driver.get([place]);
  const head = parseHead(row?.value ?? "", "memory");
  const lease = { ...(head.lease as Lease), holder: change(head.lease?.holder ?? ""), seen: Date.now() - seenMsAgo };
  const value = formatHead({ ...head, lease });
  await driver.commit({ label: "session.add", checks: [], writes: [{ ...place, value }] });
}

/** Holders as they look from here. */
export const elsewhere = (holder: string): string => `faraway ${holder.split(" ").slice(1).join(" ")}`;
export const gone = (holder: string): string => holder.replace(/^(\S+) \d+/, "$1 4194304");
export const reused = (holder: string): string => holder.replace(/^(\S+ \d+) \S*/, "$1 1");

/** Session "a", held by a run of this process. */
export async function held(): Promise<{ driver: StoreDriver; log: Awaited<ReturnType<typeof open>> }> {
  const driver = memoryDriver();
  return { driver, log: await open(createStore(driver), "a", start("r1", "one")) };
}

/** Session "a" held elsewhere, by one who shows a sign of life only when told to; its clock is off by so much. */
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

/** Time goes by, as far as clocks of this process tell; then whoever waits has the time to look again. */
export async function pass(ms: number): Promise<void> {
  vi.advanceTimersByTime(ms);
  await sleep(300);
}
