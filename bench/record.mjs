// Questions over a large record: lists, searches and numbers on SQLite, and on Postgres with `--postgres`.
// Usage: node record.mjs [--sessions 5000] [--postgres] [--postgres-sessions 50000] [--rounds 7]
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
// It looks at a driver, so it runs the sources as they are.
import { postgresStore, sqliteStore } from "../packages/offstage/src/sessions/open-store.ts";
import { fillRecord, messagesPerTurn, turnsPerSession } from "./lib/fill-record.mjs";
import { LIMITS } from "./lib/performance-targets.mjs";
import { median } from "./lib/statistics.mjs";
import { printTable } from "./lib/table.mjs";
import { printVerdicts } from "./lib/verdicts.mjs";

const { values: options } = parseArgs({
  options: {
    sessions: { type: "string", default: "5000" },
    postgres: { type: "boolean", default: false },
    "postgres-sessions": { type: "string", default: "50000" },
    rounds: { type: "string", default: "7" },
  },
});

const onSqlite = await measureSqlite(Number(options.sessions));
const onPostgres = options.postgres ? await measurePostgres(Number(options["postgres-sessions"])) : undefined;
printVerdicts([
  { ...LIMITS.recordList, measured: onSqlite.list },
  { ...LIMITS.recordSearch, measured: onSqlite.search },
  { ...LIMITS.recordNumbers, measured: onSqlite.numbers },
  { ...LIMITS.recordPostgres, measured: onPostgres && worstOf(onPostgres) },
]);

async function measureSqlite(sessions) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "offstage-record-"));
  const store = sqliteStore({ path: path.join(folder, "record.db") });
  try {
    return await measure(store, "SQLite", sessions);
  } finally {
    await store.close();
    fs.rmSync(folder, { recursive: true });
  }
}

async function measurePostgres(sessions) {
  const { startPostgres } = await import("../packages/offstage/test/servers/postgres-server.ts");
  const server = await startPostgres();
  const { default: pg } = await import("../packages/offstage/node_modules/pg/lib/index.js").catch(() => import("pg"));
  const pool = new pg.Pool({ connectionString: server.url, max: 4 });
  const store = postgresStore({ pool });
  try {
    return await measure(store, "Postgres", sessions, async () => {
      await pool.query("CREATE EXTENSION IF NOT EXISTS pg_trgm").catch(() => {});
      await pool
        .query("CREATE INDEX messages_trgm ON offstage.messages USING gin (content gin_trgm_ops)")
        .catch((error) => console.log(`Without pg_trgm: ${error.message}`));
      await pool.query("ANALYZE");
    });
  } finally {
    await store.close();
    await pool.end();
    await server.stop();
  }
}

async function measure(store, name, sessions, prepare) {
  await fillRecord(store, sessions);
  await prepare?.();
  const times = {
    list: await timeOf(() => store.sessions.list({ limit: 50 })),
    listAll: await timeOf(() => store.sessions.list()),
    runs: await timeOf(() => store.runs.list({ status: ["failed", "waiting"], limit: 50 })),
    search: await timeOf(() => firstHits(store, { text: "needle", limit: 50 })),
    numbers: await timeOf(() => store.numbers({ by: ["day", "agent"] })),
    numbersByTool: await timeOf(() => store.numbers({ by: ["tool"] })),
  };
  const count = sessions * turnsPerSession * messagesPerTurn;
  printTable(
    `${name}: ${count.toLocaleString("en")} messages in ${sessions.toLocaleString("en")} sessions`,
    ["question", "ms"],
    Object.entries(times).map(([question, ms]) => [question, ms.toFixed(1)]),
  );
  return times;
}

async function firstHits(store, options) {
  const found = [];
  for await (const hit of store.search(options)) found.push(hit);
  return found;
}

async function timeOf(work) {
  const times = [];
  for (let round = 0; round < Number(options.rounds); round++) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  return median(times);
}

/** The largest ratio of a question on Postgres to its limit on SQLite. */
function worstOf(times) {
  const { recordList, recordSearch, recordNumbers } = LIMITS;
  return Math.max(
    times.list / recordList.limit,
    times.search / recordSearch.limit,
    times.numbers / recordNumbers.limit,
  );
}
