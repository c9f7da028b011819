// D5: three processes write with clocks that differ by an hour, while lists, pages, searches and rotations run: nothing is missing.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { encryptedStore } from "../../src/sessions/encrypted-store.ts";
import { openStore } from "../../src/sessions/open-store.ts";
import type { RecordWriterOptions } from "../processes/record-writer.ts";
import { startPostgres } from "../servers/postgres-server.ts";
import { startRedis } from "../servers/redis-server.ts";
import { type Acknowledged, noCounts, readLists, readPages, readSearches } from "../support/record-readers.ts";

const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
const folder = mkdtempSync(join(tmpdir(), "offstage-reading-"));
const script = fileURLToPath(new URL("../processes/record-writer.ts", import.meta.url));
const hour = 3_600_000;
const places = [
  { name: "SQLite", url: `sqlite:${join(folder, "record.db")}` },
  { name: "Postgres", url: postgres?.url ?? "" },
  { name: "Redis", url: redis?.url ?? "" },
].filter(({ url }) => url !== "");

afterAll(async () => {
  await Promise.all([postgres?.stop(), redis?.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

interface Writer {
  /** Lets it end after its current run; rejects if it failed. */
  stop(): Promise<void>;
}

function startWriter(options: RecordWriterOptions, done: Acknowledged[number][]): Writer {
  const child = spawn(process.execPath, [script, JSON.stringify(options)], { stdio: ["pipe", "pipe", "pipe"] });
  let errors = "";
  child.stderr.on("data", (data: Buffer) => {
    errors += data.toString();
  });
  createInterface(child.stdout).on("line", (line) => done.push(JSON.parse(line)));
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", resolve);
  });
  return {
    async stop() {
      child.stdin.end();
      const code = await ended;
      if (code !== 0) throw new Error(`A writer failed: ${errors}`);
    },
  };
}

async function untilAllWrite(done: Acknowledged, count: number): Promise<void> {
  while (new Set(done.map(({ runId }) => runId.split("-")[0])).size < count) await sleep(10);
}

test.for(places)(
  "800 lists, pages and searches and 30 rotations lose nothing while others write, on $name",
  async ({ name, url }) => {
    const [old, next] = [randomBytes(32).toString("hex"), randomBytes(32).toString("hex")];
    const encryption = { key: old, keyId: "old", earlierKeys: { next } };
    const done: Acknowledged[number][] = [];
    const writers = [-hour, 0, hour].map((shiftMs, n) =>
      startWriter({ url, name: `p${n}`, shiftMs, sessions: ["anna", "bert", "cleo"], encryption }, done),
    );
    const store = encryptedStore(openStore(url), { key: next, keyId: "next", earlierKeys: { old } });
    const counts = { ...noCounts };
    let rotations = 0;
    let rotating = Promise.resolve(0);
    await untilAllWrite(done, writers.length);
    for (let n = 0; n < 400; n++) {
      await readLists(store, done, counts);
      if (n % 10 === 0) await readPages(store, done, counts);
      if (n % 5 === 0) await readSearches(store, done, counts);
      if (n % 13 === 0 && rotations++ < 30) rotating = rotating.then(() => store.rotate());
      await sleep(10);
    }
    // A rotation ends only when a pass finds nothing new: on a busy machine perhaps not before the writers do.
    await Promise.all(writers.map((writer) => writer.stop()));
    await rotating;
    await store.rotate();
    await store.close();
    await using rotated = encryptedStore(openStore(url), { key: next, keyId: "next" });
    const after = { ...noCounts };
    await readLists(rotated, done, after);
    await readPages(rotated, done, after);
    process.stdout.write(
      `${name}: ${JSON.stringify({ runs: done.length, rotations: Math.min(rotations, 30), ...counts })}\n`,
    );
    expect({ ...counts, lists: 0, pages: 0, searches: 0 }).toEqual(noCounts);
    expect({ ...after, lists: 0, pages: 0, searches: 0 }).toEqual(noCounts);
    expect([counts.lists, Math.min(rotations, 30)]).toEqual([800, 30]);
    expect(done.length).toBeGreaterThan(50);
    expect(await rotated.verify()).toEqual([]);
  },
);
