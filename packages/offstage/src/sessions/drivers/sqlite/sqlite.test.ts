import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, test } from "vitest";
import { storeDriverContract } from "../../../testing/driver-contract.ts";
import type { StoreDriver } from "../../ports/store-driver.ts";
import { sqliteDriver } from "./sqlite.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-sqlite-"));
const places = new WeakMap<StoreDriver, string>();
let count = 0;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function open(path: string = join(folder, `${++count}.db`)): StoreDriver {
  const driver = sqliteDriver({ path });
  places.set(driver, path);
  return driver;
}

describe("a file", () => {
  for (const { name, run } of storeDriverContract(() => open(), { reopen: (driver) => open(places.get(driver)) })) {
    test(name, run);
  }
});

describe("in memory", () => {
  for (const { name, run } of storeDriverContract(() => open(":memory:"))) test(name, run);
});
