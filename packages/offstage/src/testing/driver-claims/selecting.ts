// Claims about `select`, against the reference. A driver without it passes: the store computes these answers itself.
import assert from "node:assert/strict";
import type { Put, Row, Selection, StoreDriver } from "../../sessions/ports/store-driver.ts";
import type { Claim } from "../contract-case.ts";
import { message, put, rowsOf, session, timeAt, write } from "./claim-rows.ts";
import { selectReference } from "./reference.ts";

const hour = 3_600_000;
const agents = ["writer", "Writer", "critic"];
const contents = [
  "Grüße aus Zürich",
  "GRÜSSE AUS ZÜRICH",
  "100% of it",
  "100 of it",
  "a_b",
  "axb",
  "",
  null,
  "K is Kelvin",
];

const runs: readonly Put[] = Array.from({ length: 24 }, (_, n) =>
  put("runs", {
    namespace: n % 8 === 7 ? "other" : "n",
    session_id: `s${n % 3}`,
    number: n,
    run_id: `run ${n}`,
    seq: (n * 7) % 24,
    agent: agents[n % 3] as string,
    model: n % 4 === 0 ? null : `model ${n % 2}`,
    status: n % 5 === 0 ? "failed" : "completed",
    input_tokens: n % 6 === 0 ? null : n * 10,
    output_tokens: null,
    cost_usd: n % 2 === 0 ? n / 4 : null,
    started_at: timeAt(n * 5 * hour),
    ended_at: n % 3 === 0 ? null : timeAt(n * 5 * hour + 1),
    duration_ms: n % 4 === 1 ? null : n + 0.5,
  }),
);

const said: readonly Put[] = contents.flatMap((content, n) => [
  message(n, { content, is_error: n % 2 === 0, run_id: n % 3 === 0 ? null : `run ${n}`, created_at: timeAt(n) }),
  message(n, { session_id: "t", namespace: "other", content, position: n }),
]);

const sessions: readonly Put[] = ["a", "b", "c"].map((id, n) => session(id, { activity: (n * 2) % 3, title: id }));

/** Asks a driver that holds all rows above, and compares the answer with the reference. */
function selecting(name: string, selections: readonly Selection[], compare = sameRows): Claim<StoreDriver> {
  return {
    name: `select: ${name}`,
    async claim(driver) {
      if (driver.select === undefined) return;
      await write(driver, ...runs, ...said, ...sessions);
      for (const selection of selections) {
        const rows = [...runs, ...said, ...sessions].filter(({ table }) => table === selection.table);
        const expected = selectReference(rowsOf(rows), selection);
        compare(await driver.select(selection), expected, selection);
      }
    },
  };
}

// The order of rows matters only if the selection asks for one; that of the values of a group never does.
function sameRows(found: readonly Row[], expected: readonly Row[], selection: Selection): void {
  const plain = (rows: readonly Row[]): string[] => {
    const texts = rows.map((row) => JSON.stringify(Object.entries(row).map(sortedValues).sort()));
    return selection.newestBy === undefined ? texts.sort() : texts;
  };
  assert.deepEqual(plain(found), plain(expected), JSON.stringify(selection));
}

function sortedValues([name, value]: [string, Row[string]]): [string, unknown] {
  return name === "values" ? [name, (JSON.parse(String(value)) as unknown[]).map(String).sort()] : [name, value];
}

function includesRows(found: readonly Row[], expected: readonly Row[], selection: Selection): void {
  const texts = new Set(found.map((row) => JSON.stringify(Object.entries(row).sort())));
  const missing = expected.filter((row) => !texts.has(JSON.stringify(Object.entries(row).sort())));
  assert.deepEqual(missing, [], JSON.stringify(selection));
}

const ofRuns = (selection: Partial<Selection>): Selection => ({ table: "runs", where: [], ...selection });
const ofMessages = (selection: Partial<Selection>): Selection => ({ table: "messages", where: [], ...selection });
const inN = { column: "namespace", in: ["n"] };

export const selectClaims: readonly Claim<StoreDriver>[] = [
  selecting("all rows, with all columns", [ofRuns({}), ofMessages({}), { table: "steps", where: [] }]),
  selecting("a value of a list, also null", [
    ofRuns({ where: [{ column: "agent", in: ["writer", "critic", "none"] }] }),
    ofRuns({ where: [{ column: "agent", in: [] }] }),
    ofRuns({ where: [{ column: "model", in: [null] }] }),
    ofRuns({ where: [{ column: "model", in: ["model 1", null] }] }),
    ofRuns({ where: [{ column: "number", in: [1, 2, 23] }] }),
    ofMessages({ where: [{ column: "is_error", in: [true] }] }),
    ofMessages({ where: [{ column: "is_error", in: [false, true] }] }),
    ofRuns({ where: [{ column: "started_at", in: [timeAt(5 * hour)] }] }),
    ofMessages({ where: [{ column: "content", in: ["'; DROP TABLE messages; --", "100% of it"] }] }),
  ]),
  selecting("from and before, of numbers and times", [
    ofRuns({ where: [{ column: "input_tokens", from: 50 }] }),
    ofRuns({ where: [{ column: "input_tokens", from: 50, before: 110 }] }),
    ofRuns({ where: [{ column: "cost_usd", before: 2.5 }] }),
    ofRuns({ where: [{ column: "started_at", from: timeAt(10 * hour), before: timeAt(50 * hour) }] }),
    ofRuns({ where: [{ column: "ended_at", before: timeAt(35 * hour + 1) }] }),
    ofRuns({ where: [{ column: "ended_at", from: timeAt(35 * hour + 1) }] }),
  ]),
  selecting("several conditions", [
    ofRuns({ where: [inN, { column: "agent", in: ["Writer"] }, { column: "input_tokens", from: 100 }] }),
    ofRuns({ where: [inN, { column: "number", from: 3 }, { column: "number", before: 9 }] }),
    ofMessages({ where: [inN, { column: "run_id", in: [null] }, { column: "is_error", in: [true] }] }),
  ]),
  selecting(
    "text in any case never finds too little",
    ["grüsse", "grüße", "GRÜß", "zÜRICH", "100% OF", "A_B", "k is", "", "'", "\\"].map((contains) =>
      ofMessages({ where: [inN, { column: "content", contains }] }),
    ),
    includesRows,
  ),
  selecting("the newest by an order, and a limit", [
    ofRuns({ where: [inN], newestBy: "started" }),
    ofRuns({ where: [inN, { column: "status", in: ["failed"] }], newestBy: "started", limit: 3 }),
    ofRuns({ where: [inN], newestBy: "started", limit: 1 }),
    { table: "sessions", where: [inN], newestBy: "activity", limit: 2 },
    ofRuns({ where: [inN], newestBy: "started", limit: 0 }),
  ]),
  selecting("counts and sums by group", [
    ofRuns({ groups: { by: ["agent"], sum: ["input_tokens", "output_tokens", "cost_usd"] } }),
    ofRuns({ where: [inN], groups: { by: ["agent", "model"], sum: ["cost_usd"] } }),
    ofRuns({ where: [inN], groups: { by: ["model"], sum: [] } }),
    ofMessages({ groups: { by: ["is_error", "namespace"], sum: ["seq"] } }),
    ofRuns({ groups: { by: [], sum: ["input_tokens"] } }),
    ofRuns({ where: [{ column: "agent", in: ["none"] }], groups: { by: ["agent"], sum: ["cost_usd"] } }),
  ]),
  selecting("groups by UTC day, different values, and lists of values", [
    ofRuns({ groups: { by: [{ day: "started_at" }], sum: ["input_tokens"] } }),
    ofRuns({ where: [inN], groups: { by: [{ day: "started_at" }, "agent"], sum: [] } }),
    ofRuns({ groups: { by: ["agent"], sum: [], distinct: "session_id" } }),
    ofRuns({ groups: { by: ["agent"], sum: ["cost_usd"], values: "duration_ms" } }),
    ofRuns({ groups: { by: ["model"], sum: [], distinct: "run_id", values: "run_id" } }),
    ofRuns({ where: [{ column: "number", in: [1] }], groups: { by: ["agent"], sum: [], values: "duration_ms" } }),
  ]),
];
