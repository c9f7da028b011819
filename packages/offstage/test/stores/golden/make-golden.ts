// Makes the golden file of the current schema version: `node test/stores/golden/make-golden.ts v1.sqlite`. Files of released versions
// are never made again.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, sqliteStore, tool } from "../../../src/index.ts";
import { scriptedModel } from "../../../src/testing/index.ts";
import { calling, open, resultOf, start } from "../../../src/testing/store-claims/claim.ts";

/** The folder of the golden files. */
export const goldenFolder: string = fileURLToPath(new URL(".", import.meta.url));

/** The agent of the golden file: looks something up, then asks a clerk, who pays only with approval. */
export function goldenAgent() {
  const paid: string[] = [];
  const look = tool({ name: "look", maxResultBytes: 1_000, execute: () => ({ all: "x".repeat(4_000) }) });
  const pay = tool({ name: "pay", needsApproval: true, execute: () => `paid ${paid.push("one")}` });
  const clerk = new Agent({
    name: "clerk",
    model: scriptedModel(({ messages }) => (messages.at(-1)?.role === "user" ? asking("pay") : "Paid.")),
    tools: [pay],
  });
  const results = (messages: readonly { readonly role: string }[]): number =>
    messages.slice(messages.findLastIndex(({ role }) => role === "user")).length - 1;
  const agent = new Agent({
    name: "shop",
    instructions: "You keep a shop.",
    model: scriptedModel(({ messages }) => {
      if (String(messages.findLast(({ role }) => role === "user")?.content).includes("Hello")) return "Good day.";
      return results(messages) === 0 ? asking("look") : results(messages) === 2 ? asking("clerk") : "All is paid.";
    }),
    tools: [look, clerk.asTool()],
  });
  return { agent, paid };
}

function asking(name: string) {
  return { toolCalls: [{ name, id: name, ...(name === "clerk" && { input: { prompt: "Pay." } }) }] };
}

async function make(path: string): Promise<void> {
  if (existsSync(path)) throw new Error(`${path} exists.`);
  const store = sqliteStore({ path });
  const session = store.session("golden");
  const { agent } = goldenAgent();
  const greeted = await agent.run("Hello\0 \ud800", { session });
  await session.describe({ title: "A golden talk", metadata: { topic: "gold" } });
  await store.annotate({ runId: greeted.runId, label: "good", value: 5, note: "Polite." });
  await agent.run("Pay, please.", { session });
  await store.memory("golden").addItems([{ role: "user", content: "Remember gold." }]);
  const span = {
    traceId: "f".repeat(32),
    spanId: "a".repeat(16),
    name: "loose",
    kind: "custom",
    metadata: {},
  } as const;
  await store.spans.add([
    { ...span, startTime: 1767225600000.125, endTime: 1767225600001.25, duration: 1.125, status: "ok" },
  ]);
  // A run whose process died between two calls.
  const log = await open(store, "cut off", start("cut-off", "Go on"));
  await log.intend(1, calling("a", "b"));
  await log.settle(1, resultOf("a"));
  await store.close();
}

const [, script, name] = process.argv;
if (script === fileURLToPath(import.meta.url) && name !== undefined) await make(join(goldenFolder, name));
