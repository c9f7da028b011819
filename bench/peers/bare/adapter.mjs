// The limit: what a minimal hand-written loop costs in this engine. Not a framework.
// Variants of the SQLite session: none reads the whole conversation each turn (a stateless server), ":cached" keeps it
// in memory and only appends rows, ":window" reads the last 50 rows.
// Variant of the stream: ":source" reads the scripted model's stream and does nothing else.
import { AsyncLocalStorage } from "node:async_hooks";
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { deltaCounter } from "../../lib/clock.mjs";
import {
  addOne,
  DELTA,
  INSTRUCTIONS,
  lookUpOrder,
  loopScript,
  overlappingScript,
  PROMPT,
  promptGauge,
  sessionScript,
} from "../../lib/script.mjs";
import { pulledStream } from "../../lib/scripted-model.mjs";

const currentSpan = new AsyncLocalStorage();
let lastSpanId = 0;

function withSpan(sink, name, work) {
  const parent = currentSpan.getStore();
  const span = { id: ++lastSpanId, parent: parent?.id, name, start: performance.now(), end: 0, attributes: undefined };
  sink.push(span);
  return currentSpan.run(span, async () => {
    try {
      return await work(span);
    } finally {
      span.end = performance.now();
    }
  });
}

function modelOf(script, gauge = promptGauge()) {
  return async (messages) => {
    gauge.see(messages.length);
    return script.next(messages.length);
  };
}

function toolsOf(work) {
  return { add_one: async ({ x }) => work(x) };
}

function callMessage(reply) {
  const call = { id: reply.id, type: "function", function: { name: reply.name, arguments: reply.json } };
  return { role: "assistant", content: null, tool_calls: [call] };
}

function resultMessage(reply, content) {
  return { role: "tool", tool_call_id: reply.id, name: reply.name, content };
}

async function runLoop({ model, tools, messages, maxSteps }) {
  for (let step = 0; step < maxSteps; step++) {
    const reply = await model(messages);
    if (!reply.isToolCall) {
      messages.push({ role: "assistant", content: reply.text });
      return reply.text;
    }
    messages.push(callMessage(reply));
    const input = JSON.parse(reply.json);
    const tool = tools[reply.name];
    if (tool === undefined || typeof input.x !== "number") {
      throw new Error("bad call");
    }
    messages.push(resultMessage(reply, await tool(input)));
  }
  throw new Error("too many steps");
}

function runTracedLoop(sink, { model, tools, messages, maxSteps }) {
  const callModel = async (span) => {
    const reply = await model(messages);
    span.attributes = { in: 10, out: 5 };
    return reply;
  };
  return withSpan(sink, "agent", async () => {
    for (let step = 0; step < maxSteps; step++) {
      const reply = await withSpan(sink, "model", callModel);
      if (!reply.isToolCall) {
        messages.push({ role: "assistant", content: reply.text });
        return reply.text;
      }
      messages.push(callMessage(reply));
      const input = JSON.parse(reply.json);
      const content = await withSpan(sink, "tool", async (span) => {
        span.attributes = { name: reply.name, input: reply.json };
        return tools[reply.name](input);
      });
      messages.push(resultMessage(reply, content));
    }
    throw new Error("too many steps");
  });
}

export async function loop({ steps, tracing, overlapping = false }) {
  const model = modelOf(overlapping ? overlappingScript(steps) : loopScript(steps));
  const tools = toolsOf(addOne);
  return {
    async run() {
      const messages = [
        { role: "system", content: INSTRUCTIONS },
        { role: "user", content: PROMPT },
      ];
      const sink = [];
      const options = { model, tools, messages, maxSteps: steps + 5 };
      const text = await (tracing ? runTracedLoop(sink, options) : runLoop(options));
      return { text, spans: sink.length, keep: [messages, sink] };
    },
  };
}

const SYSTEM_MESSAGE = { role: "system", content: INSTRUCTIONS };

export async function session({ store, folder, variant }) {
  const gauge = promptGauge();
  const agent = { model: modelOf(sessionScript(), gauge), tools: toolsOf(lookUpOrder), maxSteps: 10 };
  const opened = store === "memory" ? memorySession(agent) : sqliteSession(agent, { folder, variant });
  return { ...opened, longestPrompt: () => gauge.longest };
}

function memorySession(agent) {
  const messages = [SYSTEM_MESSAGE];
  return {
    async turn(text) {
      messages.push({ role: "user", content: text });
      return runLoop({ ...agent, messages });
    },
    async history() {
      return messages.length - 1;
    },
  };
}

function sqliteSession(agent, { folder, variant }) {
  const rows = openRows(folder);
  const cached = [SYSTEM_MESSAGE];
  const load = () => {
    if (variant === "cached") {
      return cached;
    }
    return [SYSTEM_MESSAGE, ...(variant === "window" ? rows.readLatest() : rows.readAll())];
  };
  return {
    async turn(text) {
      const messages = load();
      const known = messages.length;
      messages.push({ role: "user", content: text });
      const answer = await runLoop({ ...agent, messages });
      rows.append(messages.slice(known));
      return answer;
    },
    async history() {
      return rows.readAll().length;
    },
    close: rows.close,
  };
}

function openRows(folder) {
  fs.mkdirSync(folder, { recursive: true });
  const database = new DatabaseSync(path.join(folder, "session.db"));
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE items(session TEXT, seq INTEGER, data TEXT, PRIMARY KEY(session, seq)) WITHOUT ROWID`);
  const insert = database.prepare("INSERT INTO items VALUES('s1', ?, ?)");
  const all = database.prepare("SELECT data FROM items WHERE session = 's1' ORDER BY seq");
  const latest = database.prepare("SELECT data FROM items WHERE session = 's1' ORDER BY seq DESC LIMIT 50");
  let sequence = 0;
  return {
    readAll: () => all.all().map((row) => JSON.parse(row.data)),
    readLatest: () =>
      latest
        .all()
        .reverse()
        .map((row) => JSON.parse(row.data)),
    append(messages) {
      database.exec("BEGIN");
      for (const message of messages) {
        insert.run(sequence++, JSON.stringify(message));
      }
      database.exec("COMMIT");
    },
    close: () => database.close(),
  };
}

async function* streamModel(deltas) {
  for (let index = 0; index < deltas; index++) {
    yield { type: "text-delta", delta: DELTA };
  }
}

async function* streamAgent(deltas) {
  let text = "";
  yield { type: "start" };
  for await (const event of streamModel(deltas)) {
    text += event.delta;
    yield event;
  }
  yield { type: "finish", text };
}

export async function stream({ deltas, variant }) {
  const open = variant === "source" ? pulledStream : streamAgent;
  return {
    async run() {
      const counter = deltaCounter();
      for await (const event of open(deltas)) {
        if (event.type === "text-delta") {
          counter.add();
        }
      }
      return counter;
    },
  };
}
