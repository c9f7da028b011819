import { expect, test } from "vitest";
import { turn } from "../../testing/store-claims/claim.ts";
import { memoryDriver } from "../drivers/memory/memory.ts";
import type { Row, StoreDriver, Write } from "../ports/store-driver.ts";
import type { TableName } from "../ports/tables.ts";
import { createStore, type Store } from "../store.ts";

/** The rows of session "a" in a table. */
function rowsOf(driver: StoreDriver, table: TableName): Promise<Row[]> {
  return driver.read({ table, prefix: ["", "a"] });
}

async function write(driver: StoreDriver, writes: readonly Write[]): Promise<void> {
  await driver.commit({ label: "session.add", checks: [], writes });
}

type Damage = (driver: StoreDriver) => Promise<readonly Write[]>;

const removing =
  (table: TableName, isWanted: (row: Row) => boolean, ...columns: readonly string[]): Damage =>
  async (driver) =>
    (await rowsOf(driver, table))
      .filter(isWanted)
      .map((row) => ({ table, remove: ["", "a", ...columns.map((column) => row[column] as string | number)] }));

const changing =
  (table: TableName, isWanted: (row: Row) => boolean, change: Row): Damage =>
  async (driver) =>
    (await rowsOf(driver, table)).filter(isWanted).map((row) => ({ table, row: { ...row, ...change } }));

const first = ({ run_id }: Row): boolean => run_id === "run-a-1";
const question = (row: Row): boolean => first(row) && row.position === 1;

/** Calls of a third step in the run of this turn, with the message that made them. */
const openStep =
  (n: number): Damage =>
  async (driver) => {
    const runId = `run-a-${n}`;
    const reply = (await rowsOf(driver, "messages")).find((row) => row.run_id === runId && row.tool_calls !== null);
    const call = (await rowsOf(driver, "tool_calls")).find((row) => row.run_id === runId);
    const [head] = await driver.get([{ table: "sessions", key: ["", "a"] }]);
    const seq = Number(head?.next_seq) + n;
    return [
      { table: "messages", row: { ...reply, step: 3, seq } },
      { table: "tool_calls", row: { ...call, step: 3, status: "intended" } },
      { table: "sessions", row: { ...head, next_seq: seq + 100 } },
    ];
  };

test.each<[string, Damage]>([
  ["should have 4 messages and has 3", removing("messages", question, "seq")],
  ["has a message past its end", changing("messages", question, { position: 99 })],
  ["should have 3 runs and has 2", changing("sessions", () => true, { run_count: 3 })],
  ["has a run past its end", changing("sessions", () => true, { next_run: 2 })],
  ["has step 2 at position 1", removing("steps", (row) => first(row) && row.step === 1, "run_id", "step")],
  ["has unanswered calls in step 1: call-1", removing("messages", (row) => first(row) && row.role === "tool", "seq")],
  ["has ended but has no end time", changing("runs", first, { ended_at: null })],
  ["is completed but has an open step", openStep(1)],
])("verify() reports what is wrong, and nothing else: %s", async (problem, damage) => {
  const driver = memoryDriver();
  const store = createStore(driver);
  await turn(store, "a", 1);
  await turn(store, "a", 2);
  expect(await store.verify()).toEqual([]);
  await write(driver, await damage(driver));
  expect(await store.verify()).toEqual([expect.objectContaining({ problem })]);
});

test.for([
  ["messages", { created_at: "yesterday" }],
  ["messages", { metadata: "{" }],
  ["messages", { role: "nobody" }],
  ["runs", { status: "nonsense" }],
  ["runs", { totals: "[]" }],
  ["steps", { verdicts: "5" }],
  ["steps", { duration_ms: "long" }],
  ["tool_calls", { started_at: "?" }],
  ["tool_calls", { status: "nonsense" }],
  ["spans", { metadata: "[" }],
  ["annotations", { value: "{" }],
  ["contents", { content: null }],
  ["memories", { message: "{" }],
] as const)("verify() reports a row of the table %s with %j, and changes nothing", async ([table, change]) => {
  const driver = memoryDriver();
  const store = createStore(driver);
  const log = await turn(store, "a", 1);
  await fill(store, log.runId);
  expect(await store.verify()).toEqual([]);
  const prefix = table === "memories" ? ["", "m"] : ["", table === "spans" ? "" : "a"];
  const [row] = await driver.read({ table, prefix, limit: 1 });
  await write(driver, [{ table, row: { ...row, ...change } }]);
  const found = await store.verify();
  expect(found.length).toBeGreaterThan(0);
  expect(await driver.read({ table, prefix, limit: 1 })).toEqual([{ ...row, ...change }]);
});

async function fill(store: Store, runId: string): Promise<void> {
  const span = { traceId: "f".repeat(32), spanId: "a".repeat(16), name: "work", kind: "custom", metadata: {} } as const;
  await store.spans.add([{ ...span, startTime: 1, endTime: 2, duration: 1, status: "ok" }]);
  await store.annotate({ runId, label: "good", value: 1 });
  await store.memory("m").addItems([{ role: "user", content: "x" }]);
  const file = { type: "file", mediaType: "text/plain", data: "x".repeat(5_000) };
  await store.session("a").addItem({ role: "user", content: [file] as never });
}

test("verify() reports a message that belongs to no run and cannot be read", async () => {
  const driver = memoryDriver();
  const store = createStore(driver);
  await store.session("a").addItem({ role: "user", content: "hello", metadata: { id: "1" } });
  await write(driver, await changing("messages", () => true, { metadata: "{" })(driver));
  expect(await store.verify()).toMatchObject([{ problem: expect.stringContaining("Damage in") }]);
});

test("verify() reports an unreadable row once, however many runs have problems", async () => {
  const driver = memoryDriver();
  const store = createStore(driver);
  for (let n = 1; n <= 4; n++) await turn(store, "a", n);
  for (const n of [1, 2, 3]) await write(driver, await openStep(n)(driver));
  await write(driver, await changing("runs", ({ run_id }) => run_id === "run-a-4", { started_at: "?" })(driver));
  const problems = (await store.verify()).map(({ problem }) => problem);
  expect(problems.filter((problem) => problem.startsWith("Damage in"))).toHaveLength(1);
  expect(problems.filter((problem) => problem === "is completed but has an open step")).toHaveLength(3);
});

/** A store in which another process adds a message during reads of the conversation. */
function disturbed(times: number) {
  const driver = memoryDriver();
  const other = createStore(driver);
  let left = times;
  const read: StoreDriver["read"] = async (range) => {
    if (range.table === "messages" && range.order === "said" && left-- > 0)
      await other.session("a").addItem({ role: "user", content: "?" });
    return driver.read(range);
  };
  return { driver, store: createStore({ ...driver, read }), other };
}

test("verify() checks a session again if it changed meanwhile, and still finds its problems", async () => {
  const { driver, store, other } = disturbed(3);
  await turn(other, "a", 1);
  await write(driver, await removing("messages", question, "seq")(driver));
  expect(await store.verify()).toEqual([{ sessionId: "a", problem: "should have 5 messages and has 4" }]);
});

test("verify() reports a session that changes during every check", async () => {
  const { store, other } = disturbed(Number.POSITIVE_INFINITY);
  await turn(other, "a", 1);
  expect(await store.verify()).toEqual([{ sessionId: "a", problem: expect.stringContaining("verify again") }]);
});

test("verify() ignores a session that is deleted meanwhile", async () => {
  const driver = memoryDriver();
  const other = createStore(driver);
  await turn(other, "a", 1);
  let isDeleted = false;
  const read: StoreDriver["read"] = async (range) => {
    if (!isDeleted && range.table === "runs" && range.order === "id") {
      isDeleted = true;
      await other.sessions.delete("a");
    }
    return driver.read(range);
  };
  expect(await createStore({ ...driver, read }).verify()).toEqual([]);
  expect(isDeleted).toBe(true);
});
