import { expect, test } from "vitest";
import { OffstageError } from "../../errors.ts";
import { calling, open, resultOf, said, start, step, texts, turn } from "../../testing/store-claims/claim.ts";
import { memoryDriver } from "../drivers/memory/memory.ts";
import type { Commit, StoreDriver } from "../ports/store-driver.ts";
import { createStore } from "../store.ts";
import { type Connection, connect, schemaVersion } from "./connection.ts";

const place = { table: "namespaces" as const, key: ["n"] };
const row = { namespace: "n", is_sealed: false, key_proofs: null, created_at: "2026-01-01T00:00:00.000Z" };
const write: Commit = { label: "namespace.begin", checks: [], writes: [{ table: "namespaces", row }] };
const lost = () => new OffstageError("store-connection", "lost");

function connectTo(driver: StoreDriver): Connection {
  return connect({ name: "a driver", load: async () => driver });
}

/** A driver in memory whose first commit fails; counts the commits. */
function failing(fail: () => never | Promise<never>): StoreDriver & { readonly commits: number } {
  const driver = memoryDriver();
  let commits = 0;
  return {
    ...driver,
    get commits() {
      return commits;
    },
    commit: (commit) => (++commits === 1 ? fail() : driver.commit(commit)),
  };
}

test.for([
  [
    "throws",
    () => {
      throw lost();
    },
  ],
  ["rejects", () => Promise.reject(lost())],
] as const)("a commit that %s because the connection was lost is retried, and says so", async ([, fail]) => {
  const driver = failing(fail);
  const connection = connectTo(driver);
  const sending = { isRepeated: false };
  expect((await connection.commit(write, sending)).refused).toBeUndefined();
  expect([driver.commits, sending, await connection.get([place])]).toEqual([2, { isRepeated: true }, [row]]);
});

test("a commit that fails for another reason is not retried", async () => {
  const driver = failing(() => {
    throw new OffstageError("store-full", "full");
  });
  const sending = { isRepeated: false };
  await expect(connectTo(driver).commit(write, sending)).rejects.toThrow("full");
  expect([driver.commits, sending.isRepeated]).toEqual([1, false]);
});

test("an error of a driver that is not an OffstageError becomes store-failed and names the driver", async () => {
  const cause = new Error("the disk is gone");
  const told = { code: "store-failed", message: "the store in memory failed: the disk is gone", cause };
  const driver = failing(() => {
    throw cause;
  });
  const fail = () => Promise.reject(cause);
  const connection = connectTo({ ...driver, get: fail, read: fail, select: fail });
  await expect(connection.commit(write)).rejects.toMatchObject(told);
  await expect(connection.get([place])).rejects.toMatchObject(told);
  await expect(connection.read({ table: "sessions", prefix: ["", "a"] })).rejects.toMatchObject(told);
  await expect(connection.select({ table: "sessions", where: [] })).rejects.toMatchObject(told);
});

test("the driver is loaded and opened on first use, once, however many calls wait for it", async () => {
  const driver = memoryDriver();
  const counts = { load: 0, open: 0, prepare: 0 };
  const counted: StoreDriver = {
    ...driver,
    open: () => {
      counts.open++;
      return driver.open();
    },
    prepare: (version) => {
      counts.prepare++;
      return driver.prepare(version);
    },
  };
  const load = async (): Promise<StoreDriver> => {
    counts.load++;
    return counted;
  };
  const connection = connect({ name: "a driver", load });
  expect(connection.name).toBe("a driver");
  expect(counts.load).toBe(0);
  await Promise.all([connection.ready(), connection.get([place]), connection.commit(write)]);
  expect([counts, connection.name]).toEqual([{ load: 1, open: 1, prepare: 1 }, "the store in memory"]);
});

test("a driver that could not be opened is closed, and opened again on the next use", async () => {
  const driver = memoryDriver();
  const calls: string[] = [];
  const connection = connectTo({
    ...driver,
    open: async () => {
      calls.push("open");
      if (calls.length === 1) throw new OffstageError("store-locked", "locked");
      return driver.open();
    },
    close: async () => void calls.push("close"),
  });
  await expect(connection.ready()).rejects.toThrow("locked");
  await connection.commit(write);
  expect(calls).toEqual(["open", "close", "open"]);
});

test("a newer schema is refused, and nothing is prepared or written", async () => {
  const driver = memoryDriver();
  await driver.prepare(schemaVersion + 1);
  const untouched = () => Promise.reject(new Error("touched"));
  const connection = connectTo({ ...driver, prepare: untouched, commit: untouched });
  const message = `the store in memory has schema version ${schemaVersion + 1}, but this version of Offstage supports ${schemaVersion}.`;
  for (const use of [connection.ready(), connection.commit(write), connection.get([place])]) {
    await expect(use).rejects.toMatchObject({ code: "schema-newer" });
    await expect(use).rejects.toThrow(message);
  }
});

test("a closed connection rejects every call, and a driver that was never used is not loaded to be closed", async () => {
  let loads = 0;
  const connection = connect({
    name: "a driver",
    load: async () => {
      loads++;
      return memoryDriver();
    },
  });
  await connection.close();
  await connection.close();
  for (const use of [connection.ready(), connection.commit(write), connection.get([place])])
    await expect(use).rejects.toMatchObject({ code: "store-closed" });
  expect(loads).toBe(0);
});

test("a driver without its own search gives no answer to a question", async () => {
  expect(await connectTo(memoryDriver()).select({ table: "runs", where: [] })).toBeUndefined();
});

test("a retried write that arrives again after its step is finished changes nothing", async () => {
  const inner = memoryDriver();
  let late: Commit | undefined;
  const commit = async (given: Commit) => {
    if (given.label !== "tool.intent" || late !== undefined) return inner.commit(given);
    late = given;
    throw lost();
  };
  const store = createStore({ ...inner, commit });
  const log = await open(store, "s", start("r", "now"));
  await log.intend(1, calling("a"));
  await log.step(step(1, [calling("a"), resultOf("a")]));
  const before = await store.runs.get("r");
  expect((await inner.commit(late as Commit)).refused).toHaveLength(1);
  expect(await store.runs.get("r")).toEqual(before);
  expect([before?.steps.length, before?.openStep]).toEqual([1, undefined]);
  await log.abandon();
});

test("a lost reply of the first write of a namespace leaves a store that works", async () => {
  const driver = memoryDriver();
  let isLost = false;
  const commit = async (given: Commit) => {
    const committed = await driver.commit(given);
    if (given.label !== "namespace.begin" || isLost) return committed;
    isLost = true;
    throw lost();
  };
  const store = createStore({ ...driver, commit });
  await store.session("s").addItem(said("one"));
  await turn(store, "s", 1);
  expect(isLost).toBe(true);
  expect(texts(await store.session("s").getItems())).toEqual(["one", "question 1", "answer 1"]);
});
