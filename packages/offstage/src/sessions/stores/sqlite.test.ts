import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { sessionStoreContract } from "../../testing/session-store-contract.ts";
import { turn } from "../../testing/store-claims/claim.ts";
import { createStore, type Store } from "../store.ts";
import { sqliteDriver } from "./sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-sqlite-"));
const places = new WeakMap<Store, string>();
let count = 0;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function open(path: string = join(folder, `${++count}.db`)): Store {
  const store = createStore(sqliteDriver({ path }));
  places.set(store, path);
  return store;
}

describe("a file", () => {
  for (const { name, run } of sessionStoreContract(() => open(), { reopen: (store) => open(places.get(store)) })) {
    test(name, run);
  }
});

describe("in memory", () => {
  for (const { name, run } of sessionStoreContract(() => open(":memory:"))) test(name, run);
});

// Without the lock, an old SQLite that closes the file believes it was the last user, and deletes the log of the others.
test.runIf(existsSync("/proc/locks"))(
  "opening a file twice keeps the lock that shows other processes it is open",
  async () => {
    const path = join(folder, "twice.db");
    await using store = open(path);
    await turn(store, "s", 1);
    await using second = open(path);
    await turn(second, "s", 2);
    const locks = readFileSync("/proc/locks", "utf8").split("\n");
    expect(
      locks.filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${statSync(path).ino} `)),
    ).toHaveLength(1);
  },
);

test("without node:sqlite the error names the Node version that has it", async () => {
  const builtin = process.getBuiltinModule;
  const found = (name: string) => (name === "node:sqlite" ? undefined : builtin.call(process, name));
  const spy = vi.spyOn(process, "getBuiltinModule").mockImplementation(found as typeof builtin);
  onTestFinished(() => spy.mockRestore());
  await expect(open().ready()).rejects.toMatchObject({
    code: "missing-package",
    message: expect.stringContaining("22.16 or later"),
  });
});

test("a commit resolves with nothing, or with the current rows if a check fails", async () => {
  const driver = sqliteDriver({ path: ":memory:" });
  await driver.open();
  await driver.prepare(1);
  const row = { list: "l", key: "k", value: "v" };
  expect(await driver.commit({ label: "session.add", checks: [], writes: [row] })).toBeUndefined();
  const refused = await driver.commit({ label: "session.add", checks: [{ ...row, value: undefined }], writes: [] });
  expect(refused).toEqual([{ key: "k", value: "v" }]);
  await driver.close();
});
