// Counts how far a reader has to walk to follow one durable turn with one tool call: the files and functions it visits, and
// how often it changes from one file to another. Exits with code 1 beyond a limit.
// Usage: node bench/walk.mjs [--list] [--pairs] [--max-files 45] [--max-changes 300]
// `--list` prints the visited files, `--pairs` the changes between each pair of files. `--source <folder>` measures the sources
// of another checkout.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { printTable } from "./lib/table.mjs";
import { traceCalls } from "./lib/trace-calls.mjs";

const { values: options } = parseArgs({
  options: {
    "max-files": { type: "string", default: "45" },
    "max-changes": { type: "string", default: "300" },
    source: { type: "string", default: path.join(import.meta.dirname, "../packages/offstage/src") },
    list: { type: "boolean", default: false },
    pairs: { type: "boolean", default: false },
  },
});

const calls = [];
let isMeasuring = false;
const files = traceCalls(options.source, {
  isLeftOut: (file) => file.startsWith("testing/") || file.endsWith(".test.ts"),
  onCall: (file, fn) => isMeasuring && calls.push({ file, fn }),
});

await measureTurn();
const visits = visitedFiles();
if (options.list) printVisits(visits);
if (options.pairs) printPairs();
report();

/** Measures the second turn of a session. Another session has loaded the code and the statements that are loaded on first use. */
async function measureTurn() {
  const { Agent, sqliteStore, tool } = await load("index.ts");
  const { scriptedModel } = await load("testing/index.ts");
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "offstage-walk-"));
  const turn = [{ toolCalls: [{ name: "weather", input: { city: "Oslo" } }] }, "It rains in Oslo."];
  const weather = tool({
    name: "weather",
    description: "Tells the weather of a city.",
    input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    execute: ({ city }) => `Rain in ${city}`,
  });
  const store = sqliteStore({ path: path.join(folder, "walk.db") });
  const agent = new Agent({
    name: "walker",
    model: scriptedModel([...turn, ...turn, ...turn, ...turn]),
    tools: [weather],
  });
  for (const text of ["What is the weather in Oslo?", "And now?"])
    await agent.run(text, { session: store.session("another") });
  const session = store.session("walk");
  await agent.run("What is the weather in Oslo?", { session });
  isMeasuring = true;
  const { text } = await agent.run("And now?", { session });
  isMeasuring = false;
  await store.close();
  fs.rmSync(folder, { recursive: true });
  if (text !== turn[1]) throw new Error(`The turn was to end with "${turn[1]}"; it ended with "${text}"`);
}

function load(file) {
  return import(pathToFileURL(path.join(options.source, file)).href);
}

/** Each file by first visit: its lines, its functions, and how often they were called. */
function visitedFiles() {
  const visited = new Map();
  for (const { file, fn } of calls) {
    const visit = visited.get(file) ?? {
      name: files[file],
      lines: linesOf(files[file]),
      functions: new Set(),
      calls: 0,
    };
    visit.functions.add(fn);
    visit.calls++;
    visited.set(file, visit);
  }
  return [...visited.values()];
}

function linesOf(file) {
  return fs.readFileSync(path.join(options.source, file), "utf8").split("\n").length - 1;
}

function printVisits() {
  const rows = visits.map((visit) => [visit.name, visit.lines, visit.functions.size, visit.calls]);
  printTable("Files by first visit", ["file", "lines", "functions", "calls"], rows);
}

function printPairs() {
  const pairs = Map.groupBy(changesOfFile(), ({ from, to }) => [files[from], files[to]].sort().join("  "));
  const rows = [...pairs].map(([pair, changes]) => [pair, changes.length]).sort((a, b) => b[1] - a[1]);
  printTable("Changes between two files", ["files", "changes"], rows);
}

function changesOfFile() {
  return calls
    .slice(1)
    .map(({ file }, index) => ({ from: calls[index].file, to: file }))
    .filter(({ from, to }) => from !== to);
}

function report() {
  const changes = changesOfFile().length;
  const sum = (numberOf) => visits.reduce((total, visit) => total + numberOf(visit), 0);
  const measured = [
    ["files visited", visits.length, Number(options["max-files"])],
    ["changes of file", changes, Number(options["max-changes"])],
    ["functions visited", sum((visit) => visit.functions.size)],
    ["calls", calls.length],
    ["lines of the visited files", sum((visit) => visit.lines)],
  ];
  const rows = measured.map(([what, count, limit]) => [what, count, limit ?? "", verdict(count, limit)]);
  printTable("One durable turn with one tool call", ["", "count", "at most", ""], rows);
  if (measured.some(([, count, limit]) => count > limit)) process.exitCode = 1;
}

function verdict(count, limit) {
  if (limit === undefined) return "";
  return count > limit ? "over" : "ok";
}
