// A worker for the tests of offstage/dbos. Its agents have tools whose effects are counted in a file.
import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, postgresStore, tool } from "offstage";
import { dbosEngine } from "offstage/dbos";
import { scriptedModel } from "offstage/testing";

const { url, effects, latencyMs = 50, engine: options = {} } = JSON.parse(process.argv[2] ?? "{}");
const note = (line) => effects === undefined || appendFileSync(effects, `${line}\n`);

const numbered = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
const once = (line) => readFileSync(effects, "utf8").includes(`${line}\n`) || note(line);
// The one may run again after a crash, because its effect has a key; the other may not.
const keyed = tool({
  name: "keyed",
  description: "Has an effect.",
  input: numbered,
  idempotent: true,
  execute: ({ n }, { runId }) => void once(`${runId} ${n}`),
});
const unkeyed = tool({
  name: "unkeyed",
  description: "Has an effect.",
  input: numbered,
  execute: ({ n }, { runId }) => void note(`${runId} ${n}`),
});
const payment = tool({
  name: "payment",
  description: "Pays.",
  input: numbered,
  needsApproval: true,
  execute: ({ n }, { runId }) => void note(`${runId} ${n}`),
});
const bomb = tool({
  name: "bomb",
  description: "Kills the worker.",
  input: numbered,
  idempotent: true,
  execute: (_, { runId }) => {
    note(`${runId} bomb`);
    process.kill(process.pid, "SIGKILL");
    return sleep(10_000);
  },
});

// Calls the tool `times` times in a turn, then answers.
function scripted(toolName, times) {
  const reply = async ({ messages }) => {
    await sleep(latencyMs);
    const turn = messages.slice(messages.findLastIndex(({ role }) => role === "user"));
    const done = turn.filter(({ role }) => role === "tool").length;
    return done < times ? { toolCalls: [{ name: toolName, input: { n: done } }] } : `done ${times}`;
  };
  return scriptedModel(
    Array.from({ length: 10_000 }, () => reply),
    { record: false },
  );
}

let outages = 0;
const flaky = scriptedModel(
  Array.from({ length: 100 }, () => () => {
    if (outages++ < 2) throw Object.assign(new Error("the model is down"), { statusCode: 503 });
    return "back again";
  }),
);

const agents = [
  new Agent({ name: "desk", model: scripted("keyed", 3), tools: [keyed] }),
  new Agent({ name: "quick", model: scripted("keyed", 0) }),
  new Agent({ name: "careful", model: scripted("unkeyed", 3), tools: [unkeyed] }),
  new Agent({ name: "teller", model: scripted("payment", 1), tools: [payment] }),
  new Agent({ name: "poison", model: scripted("bomb", 1), tools: [bomb] }),
  new Agent({ name: "flaky", model: flaky, retry: { maxRetries: 0 } }),
];
const store = postgresStore({ url, maxConnections: 10 });
const engine = dbosEngine({ store, agents, pollMs: 50, watchMs: 500, retryDelayMs: 100, ...options });
await engine.start();
process.send?.("started");
process.on("message", async ({ close, schedule }) => {
  if (schedule !== undefined) await engine.schedule(schedule);
  if (close === undefined) return;
  await engine.close(close);
  await store.close();
  process.exit(0);
});
