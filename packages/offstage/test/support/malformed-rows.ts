// The rows of a store with every kind of row, and ways to damage them: values of an unexpected form.
import { isOffstageError, type OffstageError } from "../../src/errors.ts";
import { Agent, type AgentState, tool } from "../../src/index.ts";
import { createStore, type Store } from "../../src/sessions/store.ts";
import type { StoreDriver, Write } from "../../src/sessions/store-driver.ts";
import { memoryDriver } from "../../src/sessions/stores/memory.ts";
import { scriptedModel } from "../../src/testing/index.ts";

export interface KeptRow {
  readonly list: string;
  readonly key: string;
  readonly value: string;
}

/** The rows of a store, to open it again and again. */
export interface StoredRows {
  readonly rows: readonly KeptRow[];
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
  return new Agent({ name: "asker", model, tools: [huge, clerk.asTool()], toolHistory: "full" });
}

/** Returns the rows of a store with every kind of row. */
export async function storedRows(): Promise<StoredRows> {
  const memory = memoryDriver();
  const lists = new Set<string>();
  const store = createStore({ ...memory, commit: (commit) => noted(lists, memory, commit) });
  const talker = new Agent({
    model: scriptedModel(({ index }) => (index % 2 ? "Yes." : { toolCalls: [{ name: "echo" }] })),
    tools: [echo],
  });
  const other = await talker.run("Hello", { session: store.session("other") });
  const done = await talker.run("Hello", { session: store.session("s") });
  const failing = new Agent({ model: scriptedModel([new Error("down"), new Error("down")]) });
  const failed = await failing.run("Fail", { session: store.session("s") }).catch((error) => error.result);
  await failing.resume(failed.runId, { store }).catch(() => {});
  const waiting = await asker().run("Pay", { session: store.session("s") });
  const childId = (await store.runs.get(waiting.runId))?.children[0]?.runId ?? "";
  const traceId = waiting.traceId ?? "";
  const span = { traceId, spanId: "b7ad6b7169203331", name: "loose", kind: "custom", startTime: 1.7e12 } as const;
  await store.spans.add([{ ...span, endTime: 1.7e12 + 1, duration: 1, status: "ok", metadata: { a: 1 } }]);
  const runIds = [other.runId, done.runId, failed.runId, waiting.runId, childId];
  const rows = await Promise.all(
    [...lists].map(async (list) => (await memory.read(list)).map((row) => ({ list, ...row }))),
  );
  const traceIds = [...lists].filter((list) => list.startsWith("t/")).map((list) => list.slice(3));
  const about = { rows: rows.flat(), state: waiting.state, runIds, waitingId: waiting.runId, traceIds };
  return { ...about, expected: (await readEverything(store, about)).read };
}

function noted(lists: Set<string>, memory: StoreDriver, commit: Parameters<StoreDriver["commit"]>[0]) {
  for (const { list } of commit.writes) lists.add(list);
  return memory.commit(commit);
}

type About = Pick<StoredRows, "runIds" | "waitingId" | "traceIds">;

/** The codes of errors that damage may cause. */
export const refusals = ["store-corrupt", "session-conflict", "run-not-found", "run-not-resumable"];

/** Returns the code of an OffstageError; for any other error, its stack. */
export function codeOf(error: unknown): string {
  return isOffstageError(error) ? error.code : String((error as Error).stack);
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
    sessions: () => store.sessions.list(),
    session: () => store.sessions.get("s"),
    "all runs": () => store.runs.list(),
    "its runs": () => s.runs(),
    "waiting runs": () => store.runs.list({ status: "waiting" }),
    spans: () => store.spans.list({ sessionId: "s" }),
    "spans of the run": () => store.spans.list({ runId: waitingId }),
    journal: async () => (await store.runs.journal(waitingId)) !== undefined,
    ...Object.fromEntries(runIds.map((id) => [`run ${id}`, () => store.runs.get(id)])),
    ...Object.fromEntries(traceIds.map((traceId) => [`trace ${traceId}`, () => store.spans.list({ traceId })])),
    problems: () => store.verify(),
  };
  const read: Record<string, string> = {};
  const thrown: string[] = [];
  for (const [name, reader] of Object.entries(readers)) {
    const text = await reader().then(
      (value) => JSON.stringify(value),
      (error) => void thrown.push(codeOf(error)),
    );
    if (text !== undefined) read[name] = text;
  }
  return { read, thrown };
}

/** Returns values that a row of this kind never has. */
export function malformedValues(row: KeptRow): string[] {
  const plain = ["null", "5", '"x"', "{}", "[null]", "[[]]"];
  const value: unknown = JSON.parse(row.value);
  // An empty list of spans is valid.
  const isSpans = ["step row t", "trace spans"].includes(kindOf(row));
  if (isSpans) return plain;
  return [...plain, "[]", ...(Array.isArray(value) ? [JSON.stringify(value.slice(1))] : [])];
}

/** Returns the row with one element replaced, for every element down to `depth`. */
export function withOneReplaced({ value }: Pick<KeptRow, "value">, depth = 2): string[] {
  const row: unknown = JSON.parse(value);
  if (typeof row !== "object" || row === null || depth === 0) return [];
  const put = (key: string, element: unknown) =>
    JSON.stringify(Array.isArray(row) ? row.with(Number(key), element) : { ...row, [key]: element });
  return Object.entries(row).flatMap(([key, element]) => [
    ...[null, {}].map((other) => put(key, other)),
    ...withOneReplaced({ value: JSON.stringify(element) }, depth - 1).map((each) => put(key, JSON.parse(each))),
  ]);
}

/** Opens a store with one row replaced. Returns it with the errors it reports and the current value of the row. */
export async function openWith(rows: readonly KeptRow[], { list, key }: KeptRow, value: string) {
  const driver = memoryDriver();
  await driver.prepare(1);
  const writes: Write[] = rows.map((row) => (row.list === list && row.key === key ? { list, key, value } : row));
  await driver.commit({ label: "session.add", checks: [], writes });
  const reported: OffstageError[] = [];
  const store = createStore(driver, { onError: (error) => reported.push(error) });
  return { store, reported, now: async () => (await driver.get([{ list, key }]))[0]?.value };
}

/** Returns the kind of a row, by its list and key. */
export function kindOf({ list, key }: KeptRow): string {
  const names: Readonly<Record<string, string>> = {
    a: "activity",
    h: "head",
    m: "message",
    j: "run",
    r: "place",
    t: "trace",
    l: "loose trace",
  };
  const letter = list.charAt(0);
  return letter === "s"
    ? `step row ${key.charAt(key.indexOf(".") + 1)}`
    : `${names[letter]} ${letter === "t" ? key.split(".")[0] : ""}`.trim();
}
