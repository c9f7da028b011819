// The claims that the built package keeps on every runtime. Needs no file and no Node module, so that it runs on workerd too.
import { Agent, encryptedStore, isOffstageError, memoryStore, tool, withTrace } from "offstage";
import { serve } from "offstage/serve";
import { scriptedModel } from "offstage/testing";
import { batched, memoryExporter } from "offstage/tracing";

const key = new Uint8Array(32).fill(7);
const roles = (messages) => messages.map(({ role }) => role).join(" ");
const delay = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Throws unless `value` equals `expected`, both as JSON. */
function expectEqual(value, expected) {
  const [found, wanted] = [value, expected].map((each) => JSON.stringify(each));
  if (found !== wanted) throw new Error(`expected ${wanted}, found ${found}`);
}

function weatherAgent(...answers) {
  const weather = tool({
    name: "weather",
    description: "The weather outside.",
    input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    execute: async ({ city }) => {
      await delay(1);
      return `rain in ${city}`;
    },
  });
  const script = answers.flatMap((text) => [{ toolCalls: [{ name: "weather", input: { city: "Oslo" } }] }, text]);
  return new Agent({ name: "guide", model: scriptedModel(script), tools: [weather], separateToolTrace: true });
}

/** Has two turns on a session, of which no tool message is remembered, and closes the store. */
export async function converse(store) {
  const session = store.session("anna");
  const agent = weatherAgent("Take an umbrella.", "Still raining.");
  await agent.run("What should I wear?", { session });
  await agent.run("And now?", { session });
  expectEqual(roles(await session.getItems()), "user assistant user assistant");
  const [run] = await store.runs.list({ agent: "guide" });
  expectEqual(run.status, "completed");
  await store.close();
}

const claims = {
  "an agent runs with a tool": async () => {
    const result = await weatherAgent("Take an umbrella.").run("What should I wear?");
    expectEqual(result.output, "Take an umbrella.");
    expectEqual(roles(result.state.messages), "user assistant");
    expectEqual(roles(result.messages.all()), "user assistant tool assistant");
  },
  "a run is streamed": async () => {
    let text = "";
    for await (const piece of weatherAgent("Take an umbrella.").stream("What should I wear?").text) text += piece;
    expectEqual(text.endsWith("Take an umbrella."), true);
  },
  "a run is aborted": async () => {
    const slow = tool({ name: "slow", execute: () => delay(500) });
    const agent = new Agent({ model: scriptedModel([{ toolCalls: [{ name: "slow" }] }]), tools: [slow] });
    const error = await agent.run("Go", { signal: AbortSignal.timeout(20) }).catch((reason) => reason);
    expectEqual(error.name, "TimeoutError");
  },
  "a session is kept in memory": () => converse(memoryStore()),
  "a session is encrypted": () => converse(encryptedStore(memoryStore(), { key })),
  "runs on one session wait for each other": async () => {
    const store = memoryStore();
    const session = store.session("anna");
    const agents = [weatherAgent("One."), weatherAgent("Two."), weatherAgent("Three.")];
    await Promise.all(agents.map((agent, n) => agent.run(`Question ${n}`, { session })));
    expectEqual(roles(await session.getItems()), "user assistant user assistant user assistant");
    await store.close();
  },
  "spans follow asynchronous code": async () => {
    const names = await withTrace("smoke", async (trace) => {
      await Promise.all([weatherAgent("One.").run("Go"), weatherAgent("Two.").run("Go")]);
      return trace.getSpans().map(({ name }) => name);
    });
    expectEqual(names.filter((name) => name.includes("weather")).length, 2);
  },
  "spans are exported in batches": async () => {
    const exporter = memoryExporter();
    const queue = batched(exporter, { delayMs: 1 });
    await withTrace("smoke", { exporters: [queue] }, () => weatherAgent("One.").run("Go"));
    await delay(50);
    expectEqual(exporter.spans.length > 3, true);
    await queue.shutdown();
  },
  "messages are queried and exported": async () => {
    const { messages } = await weatherAgent("Take an umbrella.").run("What should I wear?");
    expectEqual(messages.stats().totalMessages, 4);
    for (const format of ["json", "jsonl", "csv", "markdown", "html"]) {
      expectEqual(messages.export(format, { redact: true }).includes("umbrella"), true);
    }
  },
  "an agent is served": async () => {
    const store = memoryStore();
    const chat = serve({ agent: weatherAgent("Take an umbrella."), store, authorize: () => ({}), protocol: "events" });
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ id: "anna", message: "What should I wear?" });
    const text = await (await chat(new Request("http://app.test/chat", { method: "POST", headers, body }))).text();
    expectEqual([text.includes("umbrella"), text.includes("rain in Oslo")], [true, false]);
    expectEqual(roles(await (await chat(new Request("http://app.test/chat/anna"))).json()), "user assistant");
    expectEqual((await chat(new Request("http://app.test/chat/anna/stream"))).status, 204);
  },
  "misuse is refused by code": async () => {
    const error = await weatherAgent("Yes.")
      .run("Go", { nonsense: true })
      .catch((reason) => reason);
    expectEqual(isOffstageError(error, "invalid-argument"), true);
  },
};

/** Runs every claim, and those of `more`; returns the names of those that held, or throws at the first that does not. */
export async function smoke(more = {}) {
  const held = [];
  for (const [name, claim] of Object.entries({ ...claims, ...more })) {
    try {
      await claim();
    } catch (error) {
      throw new Error(`${name}: ${error?.stack ?? error}`);
    }
    held.push(name);
  }
  return held;
}
