// Lesson 32: a budget. All runs of a store together may cost so much a day; agents and processes share it by sharing the store.
// A run that reaches it is stopped after its step, with the reason "budget". Later runs are stopped before their first step.
import { Agent, sqliteStore, tool } from "offstage";
import { budget } from "offstage/costs";
import { scriptedModel } from "offstage/testing";

await using store = sqliteStore({ path: ":memory:" }); // a file or a server, if several processes share it

// Each model call costs 3 cents at the list price of Claude Sonnet 4.5.
const usage = { inputTokens: 9_000, outputTokens: 200 };
const model = scriptedModel(
  ({ index }) => (index % 2 === 0 ? { toolCalls: [{ name: "look" }], usage } : { text: "All is well.", usage }),
  { modelId: "claude-sonnet-4-5" },
);
const look = tool({ name: "look", description: "Looks around.", execute: () => "Nothing to see." });
const agent = new Agent({ model, tools: [look], stopWhen: budget(store, { perDay: 0.15 }) });

for (const name of ["anna", "ben", "carla", "dora"]) {
  const { outcome, steps, cost = 0 } = await agent.run("Is everything all right?", { session: store.session(name) });
  const [today] = await store.numbers({ by: "day" });
  console.log(`${name}: ${outcome.status} (${outcome.reason}) after ${steps.length} steps, $${cost.toFixed(2)}`);
  console.log(`  today: $${today?.cost.toFixed(2)}`);
}

// A limit for one run is `costLimit(0.5)`. For both, pass a list: stopWhen: [costLimit(0.5), budget(store, { perDay: 20 })].
const [stopped] = await store.runs.list({ status: "stopped" });
console.log(`\nThe newest stopped run is ${stopped?.sessionId}'s: ${stopped?.reason}`);
