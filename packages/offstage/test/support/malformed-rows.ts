// The rows of a store with every kind of row, and ways to damage them: values of an unexpected form.
import { isOffstageError, type OffstageError } from "../../src/errors.ts";
import { Agent, type AgentState, tool } from "../../src/index.ts";
import { memoryDriver } from "../../src/sessions/drivers/memory/memory.ts";
import type { Key, Row, StoreDriver, Value } from "../../src/sessions/ports/store-driver.ts";
import { type ColumnType, tables } from "../../src/sessions/ports/tables.ts";
import { createStore, type Store } from "../../src/sessions/store.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { type PlacedRow, rowsIn } from "./stored-rows.ts";

/** The rows of a store, to open it again and again. */
export interface StoredRows {
  readonly rows: readonly PlacedRow[];
  readonly state: AgentState;
  readonly runIds: readonly string[];
  readonly waitingId: string;
  readonly traceIds: readonly string[];
  /** The results of all readers on the undamaged store. */
  readonly expected: Readonly<Record<string, string>>;
}

const echo = tool({ name: "echo", execute: () => "said" });
const huge = tool({ name: "huge", execute: () => ({ all: "x".repeat(100_000) }) });
const pay = tool({ name: "pay", needsApproval: true, execute: () => "paid" });

/** An agent with a clipped result, and a subagent that waits for approval. */
export function asker(): Agent<unknown> {
  const clerk = new Agent({
    name: "clerk",
    model: scriptedModel(({ index }) => (index === 0 ? { toolCalls: [{ name: "echo" }, { name: "pay" }] } : "Paid.")),
    tools: [echo, pay],
  });
  const calls = [{ toolCalls: [{ name: "huge" }] }, { toolCalls: [{ name: "clerk", input: { prompt: "Pay" } }] }];
  const model = scriptedModel(({ index }) => calls[index] ?? "Done.");
  return new Agent({ name: "asker", model, tools: [huge, clerk.asTool()], toolHistory: "full", maxSteps: 5 });
}

/** Returns the rows of a store with a row in every table. */
export async function storedRows(): Promise<StoredRows> {
  const driver = memoryDriver();
  const store = createStore(driver);
  const talker = new Agent({
    model: scriptedModel(({ index }) => (index % 2 ? "Yes." : { toolCalls: [{ name: "echo" }] })),
    tools: [echo],
  });
  const other = await talker.run("Hello", { session: store.session("other") });
  const done = await talker.run("Hello", { session: store.session("s") });
  const failing = new Agent({ model: scriptedModel([new Error("down"), new Error("down")]) });
  const failed = await failing.run("Fail", { session: store.session("s") }).catch((error) => error.result);
  await failing.resume(failed.runId, { store }).catch(() => {});
  const file = { type: "file", mediaType: "text/plain", data: "x".repeat(3_000) };
  await store.session("s").addItem({ role: "user", content: [{ type: "text", text: "Look\0" }, file] as never });
  await store.session("s").describe({ title: "A talk", metadata: { topic: "pay" } });
  await store.annotate({ runId: done.runId, label: "good", value: { stars: 5 }, note: "Well said." });
  await store.session("other").say("And later?");
  await store.memory("m").addItems([{ role: "user", content: "Remember." }]);
  const waiting = await asker().run("Pay", { session: store.session("s") });
  const childId = (await store.runs.get(waiting.runId))?.children[0]?.runId ?? "";
  const traceId = waiting.traceId ?? "";
  const span = { traceId, spanId: "b7ad6b7169203331", name: "loose", kind: "custom", startTime: 1.7e12 } as const;
  await store.spans.add([{ ...span, endTime: 1.7e12 + 1, duration: 1, status: "ok", metadata: { a: 1 } }]);
  const runIds = [other.runId, done.runId, failed.runId, waiting.runId, childId];
  const rows = await rowsIn(driver);
  const traceIds = [...new Set(rows.flatMap(({ table, row }) => (table === "spans" ? String(row.trace_id) : [])))];
  const about = { rows, state: waiting.state, runIds, waitingId: waiting.runId, traceIds };
  return { ...about, expected: (await readEverything(store, about)).read };
}

type About = Pick<StoredRows, "runIds" | "waitingId" | "traceIds">;

/** The codes of errors that damage may cause. */
export const refusals = ["store-corrupt", "wrong-key", "session-conflict", "run-not-found", "run-not-resumable"];

/** Returns the code of an OffstageError; for any other error, its stack. */
export function codeOf(error: unknown): string {
  if (!isOffstageError(error)) return String((error as Error).stack);
  // A run fails with the error that ended it as the cause.
  return error.code === "run-failed" && error.cause !== undefined ? codeOf(error.cause) : error.code;
}

/** Returns the result of each reader, as text, and the codes of errors. */
export async function readEverything(store: Store, { runIds, waitingId, traceIds }: About) {
  const [s, other] = [store.session("s"), store.session("other")];
  const readers: Record<string, () => Promise<unknown>> = {
    "other items": () => other.getItems(),
    "other run": () => store.runs.get(runIds[0] ?? ""),
    items: () => s.getItems(),
    "latest items": () => s.getItems(3),
    count: () => s.getItemCount(),
    transcript: () => s.transcript(),
    query: async () => (await s.query()).all(),
    sessions: () => store.sessions.list(),
    "sessions by status": () => store.sessions.list({ status: "waiting", text: "talk", metadata: { topic: "pay" } }),
    session: () => store.sessions.get("s"),
    "all runs": () => store.runs.list({ subagents: true }),
    "its runs": () => s.runs(),
    "waiting runs": () => store.runs.list({ status: "waiting", text: "pay", metadata: { topic: "pay" } }),
    search: async () => (await store.query({ text: "said" })).all(),
    numbers: () => store.numbers({ by: ["agent"] } as never),
    spans: () => store.spans.list({ sessionId: "s" }),
    "spans of the run": () => store.spans.list({ runId: waitingId }),
    memory: () => store.memory("m").getItems(),
    journal: async () => (await store.runs.journal(waitingId)) !== undefined,
    ...Object.fromEntries(
      runIds.flatMap((id) => [
        [`run ${id}`, () => store.runs.get(id)],
        [`input of ${id}`, () => store.runs.input(id, 2)],
        [`feedback on ${id}`, () => store.runs.annotations(id)],
      ]),
    ),
    ...Object.fromEntries(traceIds.map((traceId) => [`trace ${traceId}`, () => store.spans.list({ traceId })])),
    problems: () => store.verify(),
  };
  const read: Record<string, string> = {};
  const thrown: string[] = [];
  for (const [name, reader] of Object.entries(readers)) {
    const text = await reader().then(
      (value) => JSON.stringify(value) ?? "undefined",
      (error) => void thrown.push(isOffstageError(error) ? error.code : `${name}: ${codeOf(error)}`),
    );
    if (text !== undefined) read[name] = text;
  }
  return { read, thrown };
}

// Values that no column of a type has.
const unfit: Readonly<Record<ColumnType, readonly Value[]>> = {
  text: [5, true],
  json: [5, "", "no JSON", "{"],
  integer: ["many", 1.5, true, 2 ** 60],
  real: ["long", true],
  boolean: [7, "yes"],
  time: ["yesterday", "", 5],
};

/** Values of other forms that a column takes, but that its readers do not expect. */
const strange: Readonly<Record<ColumnType, readonly Value[]>> = {
  text: ["", "nonsense"],
  json: ["null", "5", '"x"', "{}", "[]", "[null]", "[[]]", '{"a":null}'],
  integer: [-1, 0, 2 ** 40],
  real: [-1, 1e300],
  boolean: [true, false],
  time: ["1970-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"],
};

/** A row with one column replaced. */
export interface Damage {
  readonly placed: PlacedRow;
  readonly column: string;
  readonly value: Value;
}

/** Returns a row with each column outside its key replaced by each value of an unexpected type. */
export function unfitDamages(placed: PlacedRow): Damage[] {
  return damagesOf(placed, (type, isOptional) => (isOptional ? unfit[type] : [null, ...unfit[type]]));
}

/** Returns a row with each column outside its key replaced by other values of its type, and by null if it may be null. */
export function strangeDamages(placed: PlacedRow): Damage[] {
  return damagesOf(placed, (type, isOptional) => (isOptional ? [null, ...strange[type]] : strange[type]));
}

function damagesOf(
  placed: PlacedRow,
  valuesFor: (type: ColumnType, isOptional: boolean) => readonly Value[],
): Damage[] {
  const { columns, key } = tables[placed.table];
  const inKey = new Set([...key.scope, ...key.by]);
  return Object.entries(columns).flatMap(([column, { type, isOptional }]) => {
    if (inKey.has(column)) return [];
    const others = valuesFor(type, isOptional).filter((value) => value !== placed.row[column]);
    return others.map((value) => ({ placed, column, value }));
  });
}

/** Names a damage in a message. */
export function shownDamage({ placed: { table, row }, column, value }: Damage): string {
  return `${table} ${JSON.stringify(keyOf({ table, row }))}: ${column} = ${JSON.stringify(value)}`;
}

function keyOf({ table, row }: PlacedRow): Key {
  const { key } = tables[table];
  return [...key.scope, ...key.by].map((column) => row[column] as string | number);
}

const mostReads = 20_000;

// A reader that never ends would not let a test time out, so it fails.
function bounded(driver: StoreDriver): StoreDriver {
  let reads = 0;
  const count = (): void => {
    if (++reads > mostReads) throw new Error("a reader does not end");
  };
  return {
    ...driver,
    read: async (range) => {
      count();
      return driver.read(range);
    },
    get: async (places) => {
      count();
      return driver.get(places);
    },
  };
}

/** Opens a store with one column of a row replaced. Returns it with the errors it reports and the current row. */
export async function openWith(rows: readonly PlacedRow[], { placed, column, value }: Damage) {
  const driver: StoreDriver = memoryDriver();
  await driver.prepare(1);
  const damaged: Row = { ...placed.row, [column]: value };
  const writes = rows.map((each) => (each === placed ? { table: each.table, row: damaged } : each));
  await driver.commit({ label: "session.add", checks: [], writes });
  const reported: OffstageError[] = [];
  const store = createStore(bounded(driver), { onError: (error) => reported.push(error) });
  const now = async () => (await driver.get([{ table: placed.table, key: keyOf(placed) }]))[0];
  return { store, reported, damaged, now, [Symbol.asyncDispose]: () => store.close() };
}
