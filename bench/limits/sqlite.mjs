// The limits of SQLite and the file system: transactions, reads of the last rows, appends.
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { perSecond, sink } from "./timing.mjs";

const ROW = JSON.stringify({ role: "user", content: "x".repeat(200) });
const SESSIONS = 100;
const ROWS = 100_000;
const READS = 4000;

/** The measurements, with their databases in `folder`. */
export function sqliteLimits(folder) {
  const filled = openDatabase(folder, "filled", "NORMAL");
  insertRows(filled);
  const latest = "SELECT data FROM items WHERE session = ? ORDER BY seq DESC LIMIT 50";
  const rows = filled.prepare(latest);
  const joined = filled.prepare(`SELECT group_concat(data, ',') AS data FROM (${latest})`);
  return [
    transactions(folder, { synchronous: "NORMAL", count: 20_000 }),
    transactions(folder, { synchronous: "FULL", count: 2000 }),
    transactions(folder, { synchronous: "OFF", count: 20_000 }),
    transactions(folder, { synchronous: "memory", count: 20_000 }),
    { name: "sqlite, one transaction of 100,000 rows", unit: "rows/s", run: () => bulk(folder) },
    { name: "sqlite, read the last 50 rows", unit: "reads/s", run: () => readRows(rows) },
    { name: "sqlite, read and parse the last 50 rows", unit: "reads/s", run: () => readAndParse(rows) },
    { name: "sqlite, read the last 50 as one JSON array", unit: "reads/s", run: () => readJoined(joined) },
    { name: "append 2 JSON lines to a file", unit: "appends/s", run: () => appendLines(folder) },
  ];
}

function openDatabase(folder, name, synchronous) {
  const isInMemory = synchronous === "memory";
  const file = path.join(folder, `${name}.db`);
  for (const suffix of ["", "-wal", "-shm"]) {
    fs.rmSync(file + suffix, { force: true });
  }
  const database = new DatabaseSync(isInMemory ? ":memory:" : file);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = ${isInMemory ? "OFF" : synchronous};
    CREATE TABLE items(session TEXT, seq INTEGER, data TEXT, PRIMARY KEY(session, seq)) WITHOUT ROWID`);
  return database;
}

function sessionOf(index) {
  return `s${index % SESSIONS}`;
}

function insertRows(database) {
  const insert = database.prepare("INSERT INTO items VALUES(?, ?, ?)");
  const insertAll = () => {
    database.exec("BEGIN");
    for (let index = 0; index < ROWS; index++) {
      insert.run(sessionOf(index), index, ROW);
    }
    database.exec("COMMIT");
  };
  return ROWS * perSecond(1, insertAll);
}

function bulk(folder) {
  const database = openDatabase(folder, "bulk", "NORMAL");
  const rate = insertRows(database);
  database.close();
  return rate;
}

function transactions(folder, { synchronous, count }) {
  return {
    name: `sqlite WAL ${synchronous}, transactions of 2 rows`,
    unit: "tx/s",
    run() {
      const database = openDatabase(folder, `transactions-${synchronous}`, synchronous);
      const rate = commitPairs(database, count);
      database.close();
      return rate;
    },
  };
}

function commitPairs(database, count) {
  const insert = database.prepare("INSERT INTO items VALUES(?, ?, ?)");
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  return perSecond(count, (index) => {
    begin.run();
    insert.run(sessionOf(index), 2 * index, ROW);
    insert.run(sessionOf(index), 2 * index + 1, ROW);
    commit.run();
  });
}

function readRows(statement) {
  return perSecond(READS, (index) => sink(statement.all(sessionOf(index)).length));
}

function readAndParse(statement) {
  return perSecond(READS, (index) => {
    for (const row of statement.all(sessionOf(index))) {
      sink(JSON.parse(row.data).content.length);
    }
  });
}

function readJoined(statement) {
  return perSecond(READS, (index) => sink(JSON.parse(`[${statement.get(sessionOf(index)).data}]`).length));
}

function appendLines(folder) {
  const file = fs.openSync(path.join(folder, "lines.jsonl"), "w");
  const lines = `${ROW}\n${ROW}\n`;
  const rate = perSecond(20_000, () => fs.writeSync(file, lines));
  fs.closeSync(file);
  return rate;
}
