import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { Agent, sqliteStore } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { ended, open, said, start, texts, turn } from "../../src/testing/store-claims/claim.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-lost-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function remove(path: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
}

// A check of the file is valid for 20 ms.
const nextLook = () => sleep(25);

const agent = new Agent({ model: scriptedModel(() => "Hello.") });

test("a run on a deleted file fails with an error that names the file", async () => {
  const path = join(folder, "deleted.db");
  await using store = sqliteStore({ path });
  const session = store.session("s");
  await agent.run("One", { session });
  remove(path);
  await nextLook();
  const failure = agent.run("Two", { session });
  await expect(failure).rejects.toMatchObject({ code: "store-gone" });
  await expect(failure).rejects.toThrow(/deleted\.db" was deleted or replaced while it was open.*store\.backup\(\)/);
  await expect(session.addItem(said("three"))).rejects.toMatchObject({ code: "store-gone" });
  expect(existsSync(path)).toBe(false);
});

test("a run on a replaced file fails, and leaves the new file unchanged", async () => {
  const [path, other] = [join(folder, "replaced.db"), join(folder, "other.db")];
  const another = sqliteStore({ path: other });
  await turn(another, "s", 1);
  await another.close();
  await using store = sqliteStore({ path });
  await turn(store, "s", 1);
  renameSync(other, path);
  await nextLook();
  const before = readFileSync(path);
  await expect(turn(store, "s", 2)).rejects.toMatchObject({ code: "store-gone" });
  expect(readFileSync(path)).toEqual(before);
});

test("the content of a deleted file can be saved, and the store opened again", async () => {
  const [path, saved] = [join(folder, "saved-from.db"), join(folder, "saved.db")];
  const store = sqliteStore({ path });
  await turn(store, "s", 1);
  remove(path);
  await nextLook();
  await expect(turn(store, "s", 2)).rejects.toMatchObject({ code: "store-gone" });
  await store.backup(saved);
  await store.close();
  renameSync(saved, path);
  await using again = sqliteStore({ path });
  await turn(again, "s", 3);
  expect(texts(await again.session("s").getItems())).toEqual(["question 1", "answer 1", "question 3", "answer 3"]);
});

test("a file that is deleted during a run is detected at the end of the run", async () => {
  const path = join(folder, "during.db");
  await using store = sqliteStore({ path });
  const log = await open(store, "s", start("r1", "one"));
  remove(path);
  await nextLook();
  await expect(log.end(ended("late"))).rejects.toMatchObject({ code: "store-gone" });
});

test("a file that was moved away and back is accepted", async () => {
  const path = join(folder, "moved.db");
  await using store = sqliteStore({ path });
  await turn(store, "s", 1);
  renameSync(path, `${path}.away`);
  await nextLook();
  await expect(turn(store, "s", 2)).rejects.toMatchObject({ code: "store-gone" });
  renameSync(`${path}.away`, path);
  await turn(store, "s", 3);
  expect(await store.session("s").getItemCount()).toBe(4);
});

test("a relative path means the same file after the working directory changed", async () => {
  const before = process.cwd();
  const elsewhere = join(folder, "elsewhere");
  mkdirSync(elsewhere);
  process.chdir(folder);
  try {
    await using store = sqliteStore({ path: "relative.db" });
    await turn(store, "s", 1);
    process.chdir(elsewhere);
    await nextLook();
    await turn(store, "s", 2);
    expect(await store.session("s").getItemCount()).toBe(4);
  } finally {
    process.chdir(before);
  }
});
