// Serving: many open HTTP streams in one process, and the cost of a delta beside the AI SDK's own response.
// Usage: node serve.mjs [--streams 1000] [--seconds 10] [--deltas 5000] [--rounds 7]
import { fork } from "node:child_process";
import http from "node:http";
import { parseArgs } from "node:util";
import { createUIMessageStreamResponse, streamText, toUIMessageStream } from "ai";
import { serve } from "../packages/offstage/dist/doors/serve.js";
import { Agent, memoryStore } from "../packages/offstage/dist/index.js";
import { clockMs, pacedModel } from "./lib/paced-model.mjs";
import { LIMITS } from "./lib/performance-targets.mjs";
import { median } from "./lib/statistics.mjs";
import { printTable } from "./lib/table.mjs";
import { printVerdicts } from "./lib/verdicts.mjs";

const { values: options } = parseArgs({
  options: {
    streams: { type: "string", default: "1000" },
    seconds: { type: "string", default: "10" },
    deltas: { type: "string", default: "5000" },
    rounds: { type: "string", default: "7" },
  },
});
const deltas = Number(options.deltas);
const body = (id) =>
  JSON.stringify({ id, messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "Go." }] }] });

const perSecond = await measureResponses();
const open = await measureOpenStreams(Number(options.streams), Number(options.seconds));
printVerdicts([
  { ...LIMITS.serveLatency, measured: open.p99 },
  { ...LIMITS.serveMemory, measured: open.kilobytes },
  { ...LIMITS.serveChunks, measured: perSecond.aiSdk / perSecond.offstage },
]);
process.exit();

// One response at a time, read to its end in this process, in turns.
async function measureResponses() {
  const chat = serve({
    agent: new Agent({ model: pacedModel({ deltas }) }),
    store: memoryStore(),
    authorize: () => ({}),
  });
  const init = { method: "POST", headers: { "content-type": "application/json" } };
  let session = 0;
  const contenders = {
    offstage: () => chat(new Request("http://bench/", { ...init, body: body(`s${session++}`) })),
    aiSdk: async () => {
      const result = streamText({ model: pacedModel({ deltas }), prompt: "Go." });
      return (
        result.toUIMessageStreamResponse?.() ?? createUIMessageStreamResponse({ stream: toUIMessageStream(result) })
      );
    },
  };
  const rates = { offstage: [], aiSdk: [] };
  for (let round = 0; round < Number(options.rounds); round++) {
    const names = Object.keys(contenders);
    for (const name of round % 2 === 0 ? names : names.reverse()) {
      const started = performance.now();
      const text = await (await contenders[name]()).text();
      rates[name].push((deltas / (performance.now() - started)) * 1000);
      if (!text.includes(`t${deltas - 1} `)) throw new Error(`${name} did not send the last delta.`);
    }
  }
  const figures = { offstage: median(rates.offstage), aiSdk: median(rates.aiSdk) };
  printTable(
    "Deltas per second through one response",
    ["contender", "deltas/s"],
    [
      ["offstage", Math.round(figures.offstage)],
      ["AI SDK", Math.round(figures.aiSdk)],
    ],
  );
  return figures;
}

// The server is a process of its own. The time of a delta is from the model to the client.
async function measureOpenStreams(streams, seconds) {
  const server = fork(new URL("./lib/serve-server.mjs", import.meta.url), { execArgv: ["--expose-gc"] });
  const ask = (message) =>
    new Promise((resolve) => {
      server.once("message", resolve);
      server.send(message);
    });
  const { port } = await ask("port");
  const agent = new http.Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  const { bytes: before } = await ask("memory");
  const times = [];
  let isMeasured = false;
  const openStream = (index) =>
    new Promise((resolve, reject) => {
      const request = http.request(
        { port, agent, method: "POST", headers: { "content-type": "application/json" } },
        (response) => {
          response.setEncoding("latin1");
          response.on("data", (chunk) => {
            if (!isMeasured) return;
            const now = clockMs();
            for (const [, at] of chunk.matchAll(/@([\d.]+) /g)) times.push(now - Number(at));
          });
          resolve();
        },
      );
      request.on("error", reject);
      request.end(body(`s${index}`));
    });
  for (let index = 0; index < streams; index += 50)
    await Promise.all(Array.from({ length: Math.min(50, streams - index) }, (_, offset) => openStream(index + offset)));
  await new Promise((resolve) => setTimeout(resolve, 1000));
  // Now, since the text of a run grows for as long as it streams.
  const { bytes } = await ask("memory");
  isMeasured = true;
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  isMeasured = false;
  const later = await ask("memory");
  server.kill();
  times.sort((a, b) => a - b);
  const at = (share) => times[Math.floor(times.length * share)];
  const kilobytes = (bytes - before) / streams / 1024;
  printTable(
    `${streams} open streams, 20 deltas a second each`,
    ["figure", "measured"],
    [
      ["deltas per second", Math.round(times.length / seconds)],
      ["a delta, median", `${at(0.5).toFixed(2)} ms`],
      ["a delta, p99", `${at(0.99).toFixed(1)} ms`],
      ["a delta, worst", `${times.at(-1).toFixed(1)} ms`],
      ["memory of a stream and its run", `${kilobytes.toFixed(1)} KB`],
      [`the same ${seconds} s later, with its text`, `${((later.bytes - before) / streams / 1024).toFixed(1)} KB`],
      ["resident set of the server", `${Math.round(later.rss / 1024 / 1024)} MB`],
    ],
  );
  return { p99: at(0.99), kilobytes };
}
