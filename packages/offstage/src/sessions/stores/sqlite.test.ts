import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, test } from "vitest";
import { sessionStoreContract } from "../../testing/session-store-contract.ts";
import { openStoreOn, type Store } from "../store.ts";
import { sqliteDriver } from "./sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-sqlite-"));
const places = new WeakMap<Store, string>();
let count = 0;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function open(path: string = join(folder, `${++count}.db`)): Store {
  const store = openStoreOn(sqliteDriver({ path }));
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
