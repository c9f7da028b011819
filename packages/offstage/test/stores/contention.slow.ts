import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "../../src/sessions/open-store.ts";
import { checkRuns, countFaults } from "../processes/check-turns.ts";
import { spawnWriter } from "../processes/spawn-writer.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-contention-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("4 processes with 100 runs each on one session give one serial order", async () => {
  const path = join(folder, "serial.db");
  const writers = ["a", "b", "c", "d"].map((name) =>
    spawnWriter({ url: `sqlite:${path}`, sessionId: "s", name, turns: 100 }),
  );
  const done = await Promise.all(writers.map((writer) => writer.done));
  const acknowledged = done.flatMap((each) => each.acknowledged);
  expect([acknowledged.length, done.map(({ errors }) => errors).join("")]).toEqual([400, ""]);
  const store = sqliteStore({ path });
  expect(await countFaults(store, acknowledged)).toEqual({ lost: 0, duplicated: 0, partial: 0 });
  expect(await checkRuns(store)).toEqual({ completed: 400, interrupted: 0 });
  expect(await store.session("s").getItemCount()).toBe(800);
  await store.close();
  process.stdout.write("4 x 100 runs: 0 interleaved, 0 lost\n");
});

test("8 processes that open a new file at the same time lose no row", async () => {
  const path = join(folder, "fresh.db");
  const names = Array.from({ length: 8 }, (_, n) => `p${n}`);
  const done = await Promise.all(
    names.map((name) => spawnWriter({ url: `sqlite:${path}`, sessionId: name, name, turns: 20 }).done),
  );
  expect(done.map(({ errors }) => errors).join("")).toBe("");
  const store = sqliteStore({ path });
  for (const name of names) expect(await store.session(name).getItemCount()).toBe(40);
  expect(await store.verify()).toEqual([]);
  await store.close();
});

test("a reader never sees half a turn while another process adds 10,000", async () => {
  const path = join(folder, "reader.db");
  const writer = spawnWriter({ url: `sqlite:${path}`, sessionId: "s", name: "w", turns: 10_000, isPlain: true });
  await writer.started;
  const store = sqliteStore({ path });
  let [reads, partial, isDone] = [0, 0, false];
  const finished = writer.done.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    const items = await store.session("s").getItems(20);
    reads++;
    if (items.length % 2 === 1 || items[0]?.role !== "user") partial++;
    await new Promise((resolve) => setImmediate(resolve));
  }
  const { errors } = await finished;
  expect(errors).toBe("");
  expect([partial, await store.session("s").getItemCount()]).toEqual([0, 20_000]);
  await store.close();
  process.stdout.write(`${reads} reads during 10,000 appends: 0 partial turns\n`);
});
