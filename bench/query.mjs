// Query and export beside the plain loops one would write by hand. Usage: node --expose-gc query.mjs [sizes...]
// Contenders alternate within one process; what counts is the ratio of medians, not the milliseconds.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

// It looks at single files, so it runs the sources as they are.
import { MessageQuery } from "../packages/offstage/src/query/message-query.ts";
import { bpeTokenCounter } from "../packages/offstage/src/tokens/bpe.ts";
import { estimateTokens } from "../packages/offstage/src/tokens/estimate.ts";
import { LIMITS } from "./lib/performance-targets.mjs";
import { printVerdicts } from "./lib/verdicts.mjs";

const asked = process.argv.slice(2).map(Number).filter(Boolean);
const sizes = asked.length > 0 ? asked : [10_000, 100_000, 1_000_000];
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "offstage-query-"));
// Sums up results, so that no work can be left out as useless.
const kept = { sum: 0 };

const measured = [];
for (const size of sizes) measured.push({ size, times: await compare(size) });
estimate();
repeatedStats();
fs.rmSync(folder, { recursive: true });
printVerdicts(verdicts());

/** Prints the medians; returns them by contest. */
async function compare(size) {
  const messages = makeMessages(size);
  const query = new MessageQuery(messages);
  const rows = {};
  const times = {};
  for (const { name, naive, ours } of contests(messages, query)) {
    const rounds = Math.min(101, Math.max(7, Math.round(3_000_000 / size)));
    const [slow, fast] = await alternate(rounds, naive, ours);
    times[name] = { slow, fast };
    rows[name] = { "naive ms": round(slow), "offstage ms": round(fast), ratio: round(fast / slow) };
  }
  console.log(`\n${size.toLocaleString("en")} messages`);
  console.table(rows);
  return times;
}

function verdicts() {
  const [smaller, larger] = measured.length < 2 ? [] : measured.slice(-2);
  const { slow, fast } = measured.at(-1).times["filter by text"];
  return [
    { ...LIMITS.queryGrowth, measured: larger && growthOf(smaller, larger) },
    { ...LIMITS.queryFilter, measured: fast / slow },
  ];
}

/** The largest growth of the time per message among all contests: 1 is linear. */
function growthOf(smaller, larger) {
  const perMessage = ({ size, times }, name) => times[name].fast / size;
  return Math.max(...Object.keys(larger.times).map((name) => perMessage(larger, name) / perMessage(smaller, name)));
}

function contests(messages, query) {
  return [
    { name: "filter by role", naive: () => byRole(messages), ours: () => query.filter({ role: "tool" }) },
    {
      name: "filter by tool name",
      naive: () => byTool(messages),
      ours: () => query.filter({ toolName: "search" }),
    },
    {
      name: "filter by text",
      naive: () => byText(messages),
      ours: () => query.filter({ content: "error" }),
    },
    {
      name: "filter by pattern",
      naive: () => byText(messages),
      ours: () => query.filter({ content: "[Ee]rror", regex: true }),
    },
    { name: "stats", naive: () => statsOf(messages), ours: () => query.stats() },
    { name: "timeline", naive: () => turnsOf(messages), ours: () => query.timeline() },
    {
      name: "timeline, paired and parsed",
      naive: () => pairedTurnsOf(messages),
      ours: () => query.timeline(),
    },
    {
      name: "csv to a file",
      naive: () => csvTo(file("naive.csv"), messages),
      ours: () => exportTo(query, "csv"),
    },
    {
      name: "jsonl to a file",
      naive: () => jsonTo(file("naive.jsonl"), messages),
      ours: () => exportTo(query, "jsonl"),
    },
    {
      name: "json to a file",
      naive: () => jsonTo(file("naive.jsonl"), messages),
      ours: () => exportTo(query, "json"),
    },
  ];
}

async function alternate(rounds, naive, ours) {
  const times = [[], []];
  for (let i = 0; i < rounds + 2; i++) {
    for (const [place, work] of i % 2 === 0
      ? [
          [0, naive],
          [1, ours],
        ]
      : [
          [1, ours],
          [0, naive],
        ]) {
      if (rounds < 10) globalThis.gc?.();
      const start = performance.now();
      const result = await work();
      const time = performance.now() - start;
      kept.sum += result?.length ?? 0;
      if (i >= 2) times[place].push(time);
    }
  }
  return times.map(median);
}

function makeMessages(size) {
  const roles = ["user", "assistant", "tool", "assistant"];
  const text = sampleText();
  return Array.from({ length: size }, (_, i) => {
    const start = (i * 977) % (text.length - 300);
    const content = Buffer.from(text.slice(start, start + 40 + (i % 200))).toString();
    const name = i % 12 < 3 ? "search" : "read_file";
    if (i % 4 === 2) return { role: "tool", tool_call_id: `call_${i}`, name, content };
    if (i % 4 !== 1) return { role: roles[i % 4], content };
    const call = { id: `call_${i + 1}`, type: "function", function: { name, arguments: `{"path":"a/${i}.txt"}` } };
    return { role: "assistant", content: null, tool_calls: [call] };
  });
}

function sampleText() {
  const files = ["../README.md", "../CONTRIBUTING.md", "../packages/offstage/package.json", "./query.mjs"];
  return files.map((name) => fs.readFileSync(new URL(name, import.meta.url), "utf8")).join("\n");
}

function byRole(messages) {
  const found = [];
  for (let i = 0; i < messages.length; i++) if (messages[i].role === "tool") found.push(messages[i]);
  return found;
}

function byTool(messages) {
  const found = [];
  for (const message of messages) {
    if (message.name === "search") found.push(message);
    else if (message.tool_calls)
      for (const call of message.tool_calls) if (call.function.name === "search") found.push(message);
  }
  return found;
}

function byText(messages) {
  const pattern = /error/i;
  const found = [];
  for (const message of messages) if (message.content && pattern.test(message.content)) found.push(message);
  return found;
}

function statsOf(messages) {
  const roles = {};
  for (const { role, content } of messages) {
    roles[role] ??= { count: 0, tokens: 0 };
    roles[role].count++;
    roles[role].tokens += content ? content.length >> 2 : 10;
  }
  return roles;
}

function turnsOf(messages) {
  const turns = [];
  let turn;
  for (const { role, content, tool_calls: calls } of messages) {
    if (role === "user") {
      turn = { index: turns.length, user: content, assistant: null, tools: [] };
      turns.push(turn);
    } else if (role === "tool") turn.tools.at(-1).result = content;
    else if (!calls) turn.assistant = content;
    else
      for (const { id, function: called } of calls)
        turn.tools.push({ id, name: called.name, args: called.arguments, result: null });
  }
  return turns;
}

/** The same with what makes it right: results found by call id, arguments parsed. */
function pairedTurnsOf(messages) {
  const turns = [];
  const open = new Map();
  let turn;
  for (const { role, content, tool_calls: calls, tool_call_id: id } of messages) {
    if (role === "user") {
      turn = { index: turns.length, user: content, assistant: null, tools: [] };
      turns.push(turn);
    } else if (role === "tool") {
      const call = open.get(id);
      if (call) call.result = content;
      open.delete(id);
    } else if (!calls) turn.assistant = content;
    else
      for (const { id, function: called } of calls) {
        const call = { id, name: called.name, args: JSON.parse(called.arguments), result: null };
        open.set(id, call);
        turn.tools.push(call);
      }
  }
  return turns;
}

function csvTo(name, messages) {
  return inChunks(
    name,
    messages,
    ({ role, name: tool, content }, i) => `${i},${role},${tool ?? ""},${csvCell(content ?? "")}\n`,
  );
}

function csvCell(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function jsonTo(name, messages) {
  return inChunks(name, messages, (message) => `${JSON.stringify(message)}\n`);
}

function inChunks(name, messages, lineOf) {
  const descriptor = fs.openSync(name, "w");
  let text = "";
  for (let i = 0; i < messages.length; i++) {
    text += lineOf(messages[i], i);
    if (text.length > 1 << 20) {
      fs.writeSync(descriptor, text);
      text = "";
    }
  }
  fs.writeSync(descriptor, text);
  fs.closeSync(descriptor);
}

async function exportTo(query, format) {
  await query.exportTo(fs.createWriteStream(file(`ours.${format}`)), format, { indent: 0 });
}

function file(name) {
  return path.join(folder, name);
}

/** The estimate beside the exact count: how far off, and how fast. */
function estimate() {
  const exact = bpeTokenCounter();
  const text = sampleText();
  const pieces = Array.from({ length: 400 }, (_, i) =>
    Buffer.from(text.slice((i * 131) % 4000, ((i * 131) % 4000) + 1500)).toString(),
  );
  const bytes = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  const total = (count) => pieces.reduce((sum, piece) => sum + count(piece), 0);
  const times = Array.from({ length: 21 }, () => timeOf(() => total(estimateTokens)));
  const error = total(estimateTokens) / total((piece) => exact.count(piece)) - 1;
  console.log(`\nestimate: ${round(bytes / 1e3 / median(times))} MB/s, total off by ${round(100 * error)} %`);
}

/** The second `stats()` finds its counts remembered. */
function repeatedStats() {
  const query = new MessageQuery(makeMessages(20_000), { tokenCounter: bpeTokenCounter() });
  const first = timeOf(() => query.stats());
  const second = median(Array.from({ length: 15 }, () => timeOf(() => query.stats())));
  console.log(
    `exact stats of 20,000 messages: first ${round(first)} ms, then ${round(second)} ms, ${round(first / second)}x faster`,
  );
}

function timeOf(work) {
  const start = performance.now();
  kept.sum += Number(Boolean(work()));
  return performance.now() - start;
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
}

function round(number) {
  return Math.round(number * 100) / 100;
}
