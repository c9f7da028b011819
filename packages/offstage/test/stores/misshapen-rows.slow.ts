// Rows that are JSON of an unexpected form, as on back ends without checksums: each is treated as damaged.
import { beforeAll, describe, expect, test } from "vitest";
import { isOffstageError, type OffstageError } from "../../src/errors.ts";
import { Agent, type AgentState, tool } from "../../src/index.ts";
import { createStore, type Store } from "../../src/sessions/store.ts";
import type { StoreDriver, Write } from "../../src/sessions/store-driver.ts";
import { memoryDriver } from "../../src/sessions/stores/memory.ts";
import { scriptedModel } from "../../src/testing/index.ts";

interface KeptRow {
  readonly list: string;
  readonly key: string;
  readonly value: string;
}

/** The rows of a store, to open it again and again. */
interface Left {
  readonly rows: readonly KeptRow[];
  readonly state: AgentState;
  readonly runIds: readonly string[];
  readonly waitingId: string;
  readonly traceIds: readonly string[];
  /** The results of all readers on the undamaged store. */
  readonly expected: Readonly<Record<string, string>>;
}

let left: Left;
beforeAll(async () => {
  left = await leave();
});

const echo = tool({ name: "echo", execute: () => "said" });
const huge = tool({ name: "huge", execute: () => ({ all: "x".repeat(100_000) }) });
const pay = tool({ name: "pay", needsApproval: true, execute: () => "paid" });

function asker(): Agent<unknown> {
  const clerk = new Agent({
    name: "clerk",
    model: scriptedModel(({ index }) => (index === 0 ? { toolCalls: [{ name: "echo" }, { name: "pay" }] } : "Paid.")),
    tools: [echo, pay],
  });
  const calls = [{ toolCalls: [{ name: "huge" }] }, { toolCalls: [{ name: "clerk", input: { prompt: "Pay" } }] }];
  const model = scriptedModel(({ index }) => calls[index] ?? "Done.");
  return new Agent({ name: "asker", model, tools: [huge, clerk.asTool()], toolHistory: "full" });
}

async function leave(): Promise<Left> {
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

type About = Pick<Left, "runIds" | "waitingId" | "traceIds">;

const refusals = ["store-corrupt", "session-conflict", "run-not-found", "run-not-resumable"];

/** The code of an OffstageError; for any other error, its stack. */
function codeOf(error: unknown): string {
  return isOffstageError(error) ? error.code : String((error as Error).stack);
}

/** The result of each reader, as text, and the codes of errors. */
async function readEverything(store: Store, { runIds, waitingId, traceIds }: About) {
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

/** Values that a row of this kind never has. */
function misshapen(row: KeptRow): string[] {
  const plain = ["null", "5", '"x"', "{}", "[null]", "[[]]"];
  const value: unknown = JSON.parse(row.value);
  // An empty list of spans is valid.
  const isSpans = ["step row t", "trace spans"].includes(kindOf(row));
  if (isSpans) return plain;
  return [...plain, "[]", ...(Array.isArray(value) ? [JSON.stringify(value.slice(1))] : [])];
}

/** The row with one element replaced, at every level. */
function withOneReplaced({ value }: Pick<KeptRow, "value">, depth = 2): string[] {
  const row: unknown = JSON.parse(value);
  if (typeof row !== "object" || row === null || depth === 0) return [];
  const put = (key: string, element: unknown) =>
    JSON.stringify(Array.isArray(row) ? row.with(Number(key), element) : { ...row, [key]: element });
  return Object.entries(row).flatMap(([key, element]) => [
    ...[null, {}].map((other) => put(key, other)),
    ...withOneReplaced({ value: JSON.stringify(element) }, depth - 1).map((each) => put(key, JSON.parse(each))),
  ]);
}

/** A store with one row replaced, the errors it reported, and the current value of the row. */
async function opened(rows: readonly KeptRow[], { list, key }: KeptRow, value: string) {
  const driver = memoryDriver();
  await driver.prepare(1);
  const writes: Write[] = rows.map((row) => (row.list === list && row.key === key ? { list, key, value } : row));
  await driver.commit({ label: "session.add", checks: [], writes });
  const reported: OffstageError[] = [];
  const store = createStore(driver, { onError: (error) => reported.push(error) });
  return { store, reported, now: async () => (await driver.get([{ list, key }]))[0]?.value };
}

function kindOf({ list, key }: KeptRow): string {
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

test("the store contains every kind of row", () => {
  const kinds = new Set(left.rows.map(kindOf));
  expect([...kinds].sort()).toEqual(
    [
      "activity",
      "head",
      "loose trace",
      "message",
      "place",
      "run",
      ...["a", "c", "i", "r", "s", "t", "v"].map((kind) => `step row ${kind}`),
      "trace run",
      "trace spans",
    ].sort(),
  );
});

const others = ["other items", "other run"];

describe("a row of an unexpected form", () => {
  test("in the list of traces is reported by verify()", async () => {
    for (const row of left.rows.filter((each) => kindOf(each) === "loose trace")) {
      for (const value of misshapen(row)) {
        const { store } = await opened(left.rows, row, value);
        expect((await store.verify()).map(({ problem }) => problem).join(), value).toContain("the list of traces");
      }
    }
  });

  test("is reported by its readers, causes no other error, and stays unchanged", async () => {
    // Full values may have any form; the list of traces is read only by verify() and rotate().
    for (const row of left.rows.filter((each) => !["step row v", "loose trace"].includes(kindOf(each)))) {
      for (const value of misshapen(row)) {
        const { store, reported, now } = await opened(left.rows, row, value);
        const { read, thrown } = await readEverything(store, left);
        const at = `${row.list} ${row.key} = ${value}`;
        expect(new Set([...thrown, "store-corrupt"]), at).toEqual(new Set(["store-corrupt"]));
        expect(reported.length + thrown.length, at).toBeGreaterThan(0);
        expect(
          reported.every(({ code }) => code === "store-corrupt"),
          at,
        ).toBe(true);
        expect(await now(), at).toBe(value);
        if (row.list.includes("other") || row.value.includes("other") || row.list.includes(left.runIds[0] ?? ""))
          continue;
        for (const name of others) expect(read[name], at).toBe(left.expected[name]);
      }
    }
  });

  test("hides only its own content from readers", async () => {
    const items = JSON.parse(left.expected.items ?? "") as unknown[];
    const runs = JSON.parse(left.expected["all runs"] ?? "") as { readonly runId: string }[];
    const sessions = JSON.parse(left.expected.sessions ?? "") as { readonly sessionId: string }[];
    for (const row of left.rows) {
      for (const value of misshapen(row)) {
        const { store } = await opened(left.rows, row, value);
        const held: unknown = JSON.parse(row.value);
        if (row.list === "m//s")
          expect(await store.session("s").getItems()).toEqual(
            items.toSpliced(Number.parseInt(row.key.slice(1), 36), 1),
          );
        if (row.list.startsWith("j/"))
          expect(await store.runs.list()).toEqual(runs.filter(({ runId }) => runId !== (held as string[])[0]));
        if (row.list.startsWith("a/"))
          expect(await store.sessions.list()).toEqual(sessions.filter(({ sessionId }) => sessionId !== held));
      }
    }
  });

  test("with one element replaced causes no error without a code", async () => {
    for (const row of left.rows) {
      for (const value of withOneReplaced(row)) {
        const { store, now } = await opened(left.rows, row, value);
        const { thrown } = await readEverything(store, left);
        const at = `${row.list} ${row.key} = ${value.slice(0, 2_000)}`;
        expect(refusals, at).toEqual(expect.arrayContaining(thrown));
        expect(await now(), at).toBe(value);
      }
    }
  });
});

describe("resuming and starting runs beside a row of an unexpected form", () => {
  const sources: Readonly<Record<string, (left: Left) => AgentState | string>> = {
    "by id": ({ waitingId }) => waitingId,
    "by state": ({ state }) => state,
  };
  for (const [name, sourceOf] of Object.entries(sources))
    test(`works or fails with a known code, ${name}`, async () => {
      for (const row of left.rows) {
        for (const value of [...misshapen(row), ...withOneReplaced(row, 1)]) {
          const { store } = await opened(left.rows, row, value);
          const at = `${row.list} ${row.key} = ${value.slice(0, 2_000)}`;
          const session = store.session("s");
          const agent = asker();
          const codes: string[] = [];
          await agent.resume(sourceOf(left), { store }).catch((error) => codes.push(codeOf(error)));
          await agent.run("And?", { session }).catch((error) => codes.push(codeOf(error)));
          expect(refusals, at).toEqual(expect.arrayContaining(codes));
        }
      }
    });
});

test("resuming a waiting run whose row has any element replaced works or fails with a known code", async () => {
  const row = left.rows.find(({ list, value }) => list === "j//s" && value.includes(left.waitingId)) as KeptRow;
  for (const value of withOneReplaced(row, 6)) {
    const { store } = await opened(left.rows, row, value);
    const codes: string[] = [];
    await asker()
      .resume(left.waitingId, { store })
      .catch((error) => codes.push(codeOf(error)));
    expect(refusals, value).toEqual(expect.arrayContaining(codes));
  }
});

test("notes of an unexpected form are ignored: the run still waits, and nothing is paid", async () => {
  const row = left.rows.find(({ list, value }) => list === "j//s" && value.includes(left.waitingId)) as KeptRow;
  const run = JSON.parse(row.value) as unknown[];
  const rest = run[10] as { readonly notes: object };
  for (const notes of [{}, ...Object.keys(rest.notes).map((name) => ({ ...rest.notes, [name]: 5 }))]) {
    const value = JSON.stringify(run.with(10, { ...rest, notes }));
    const { store } = await opened(left.rows, row, value);
    const { outcome } = await asker().resume(left.waitingId, { store });
    expect(outcome.status, value).toBe("waiting");
  }
});

test("a waiting mark of an unexpected form is ignored", async () => {
  for (const value of ["null", "5", "{}", "[null]", '["x"]', "[[],{}]"]) {
    const [{ list }] = left.rows.filter((row) => row.list === "h//s") as [KeptRow];
    const { store } = await opened(
      [...left.rows, { list, key: "waiting", value }],
      { list, key: "waiting", value },
      value,
    );
    const agent = new Agent({ model: scriptedModel(["Yes."]) });
    expect((await agent.run("Hello", { session: store.session("s") })).output).toBe("Yes.");
  }
});

test("a place that leads to another run is damage, and no reader loops", async () => {
  const parent = left.rows.find(({ list, value }) => list === "j//s" && value.includes(left.waitingId)) as KeptRow;
  const n = Number.parseInt(parent.key.slice(1), 36);
  for (const row of left.rows.filter(({ list, key }) => list.startsWith("r/") && key === "at")) {
    const value = JSON.stringify(["s", n]);
    if (row.value === value) continue;
    const { store, reported } = await opened(left.rows, row, value);
    const runId = row.list.slice("r//".length);
    expect(await store.runs.get(runId)).toBeUndefined();
    expect(reported).toMatchObject([{ code: "store-corrupt" }]);
    await store.runs.get(left.waitingId);
    await store.verify();
    const codes: string[] = [];
    await asker()
      .resume(runId, { store })
      .catch((error) => codes.push(codeOf(error)));
    expect(refusals).toEqual(expect.arrayContaining(codes));
    expect(codes).toHaveLength(1);
  }
});
