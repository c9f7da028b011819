// D5 in one process: three stores write with clocks that differ by an hour, while a fourth lists, pages, searches and rotates.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { memoryDriver } from "../../src/sessions/drivers/memory/memory.ts";
import { encryptedStore } from "../../src/sessions/encrypted-store.ts";
import { sqliteStore } from "../../src/sessions/open-store.ts";
import { createStore, type Store } from "../../src/sessions/store.ts";
import { recordRun } from "../../src/testing/store-claims/recorded-run.ts";
import { type Acknowledged, noCounts, readLists, readPages, readSearches } from "../support/record-readers.ts";

const hour = 3_600_000;
const [old, next] = [randomBytes(32), randomBytes(32)];

/** Records runs until it is stopped, by a clock of its own. */
async function write(
  store: Store,
  shiftMs: number,
  { done, isStopped }: { done: Acknowledged[number][]; isStopped(): boolean },
) {
  for (let n = 0; !isStopped(); n++) {
    const session = n % 5 === 4 ? `own ${shiftMs} ${n}` : `shared ${n % 2}`;
    const runId = `${shiftMs / hour}-${n}`;
    const at = new Date(Date.now() + shiftMs).toISOString();
    await recordRun(store, { session, runId, question: `question ${runId}`, at });
    done.push({ session, runId });
    await sleep(1);
  }
}

const places: Record<string, () => () => Store> = {
  memory: () => {
    const driver = memoryDriver();
    return () => createStore(driver);
  },
  SQLite: () => {
    const folder = mkdtempSync(join(tmpdir(), "offstage-reading-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    return () => sqliteStore({ path: join(folder, "record.db") });
  },
};

test.for(Object.entries(places))(
  "lists, pages, searches and rotations lose nothing while others write, on %s",
  async ([, place]) => {
    const open = place();
    const done: Acknowledged[number][] = [];
    let isStopped = false;
    const writers = [-hour, 0, hour].map((shiftMs) => {
      const store = encryptedStore(open(), { key: old, keyId: "old", earlierKeys: { next } });
      return { store, ended: write(store, shiftMs, { done, isStopped: () => isStopped }) };
    });
    const store = encryptedStore(open(), { key: next, keyId: "next", earlierKeys: { old } });
    const counts = { ...noCounts };
    while (done.length < 10) await sleep(1);
    for (let n = 0; n < 40; n++) {
      await readLists(store, done, counts);
      if (n % 4 === 0) await readPages(store, done, counts);
      if (n % 2 === 0) await readSearches(store, done, counts);
      if (n % 10 === 0) await store.rotate();
      await sleep(2);
    }
    isStopped = true;
    for (const { store: each, ended } of writers) {
      await ended;
      await each.close();
    }
    await store.rotate();
    await store.close();
    const rotated = encryptedStore(open(), { key: next, keyId: "next" });
    await readLists(rotated, done, counts);
    expect({ ...counts, pages: 0, searches: 0 }).toEqual({ ...noCounts, lists: 82 });
    expect(done.length).toBeGreaterThan(20);
    expect(await rotated.verify()).toEqual([]);
    await rotated.close();
  },
);
