// A process that runs an agent under a shared budget until the budget stops it, and prints how many steps it took.
import { writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { budget } from "../../src/doors/costs.ts";
import { Agent, openStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

export interface SpenderOptions {
  readonly url: string;
  readonly namespace: string;
  readonly name: string;
  readonly perDay: number;
}

const { url, namespace, name, perDay } = JSON.parse(process.argv[2] ?? "{}") as SpenderOptions;
const store = openStore(url).namespace(namespace);
// One dollar for each model call; three calls for each run.
const usage = { inputTokens: 1_000_000, outputTokens: 0 };
const model = scriptedModel(
  async ({ index }) => {
    // As slow as a fast model, so that the processes overlap.
    await sleep(10);
    return index % 3 === 2 ? { text: "Done.", usage } : { toolCalls: [{ name: "look" }], usage };
  },
  { record: false },
);
const agent = new Agent({
  model,
  tools: [tool({ name: "look", execute: () => "seen" })],
  toolHistory: "none",
  prices: { scripted: { input: 1, output: 0 } },
  stopWhen: budget(store, { perDay }),
});
let steps = 0;
for (let turn = 0; ; turn++) {
  const result = await agent.run(`Turn ${turn}`, { session: store.session(name) });
  steps += result.steps.length;
  if (result.outcome.reason === "budget") break;
}
await store.close();
writeSync(1, `${steps}\n`);
