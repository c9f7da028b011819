// A store for the command line to read: a shop's agents with tools, a subagent, a failed run, a stopped one and one that waits.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, isOffstageError, type RunResult, type Store, sqliteStore, tool } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";

export const secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";

export interface Shop {
  readonly path: string;
  readonly folder: string;
  /** The ids of runs, by what they are. */
  readonly runs: Readonly<Record<"answered" | "toolFailed" | "failed" | "stopped" | "waiting", string>>;
}

const usage = { inputTokens: 3100, outputTokens: 45 };
const model = (script: readonly ScriptEntry[]) => scriptedModel(script, { modelId: "gpt-5-mini", provider: "openai" });
const call = (name: string, input: object = {}) => ({ toolCalls: [{ name, input }], usage });
const input = { type: "object", properties: { order: { type: "string" } } };

export const lookUp = tool({
  name: "look_up_order",
  description: "Finds an order.",
  input,
  execute: (given) => ({ ...(given as object), state: "shipped" }),
});
const till = tool({
  name: "till",
  execute: () => Promise.reject(new Error(`The till is locked. The key is ${secret}.`)),
});
const refund = tool({ name: "refund", input: { type: "object" }, needsApproval: true, execute: () => "paid" });

/** Fills a new SQLite file. */
export async function openShop(): Promise<Shop> {
  const folder = mkdtempSync(join(tmpdir(), "offstage-cli-"));
  const path = join(folder, "offstage.db");
  const store = sqliteStore({ path });
  const runs = await fillShop(store);
  await store.close();
  return { path, folder, runs };
}

/** Fills a store. */
export async function fillShop(store: Store): Promise<Shop["runs"]> {
  const reviewer = new Agent({
    name: "reviewer",
    model: model([call("look_up_order", { order: "A-17" }), { text: "It went to the old address.", usage }]),
    tools: [lookUp],
  });
  const desk = new Agent({
    name: "desk",
    instructions: "You help customers.",
    model: model([
      { ...call("reviewer", { prompt: "Is A-17 right?" }), text: "I will check." },
      { text: "Your order went to the old address.", usage },
      call("till"),
      { text: "I cannot open the till.", usage },
    ]),
    tools: [till, reviewer.asTool()],
  });
  const anna = store.session("anna");
  const answered = (await desk.run("Where is my order A-17?", { session: anna })).runId;
  const toolFailed = (await desk.run("Then give me my money back.", { session: anna })).runId;
  const broken = new Agent({
    name: "desk",
    model: model([call("look_up_order"), new Error("The provider is down.")]),
    tools: [lookUp],
  });
  const failed = await failedRun(broken, store);
  const looper = new Agent({ name: "looper", maxSteps: 1, model: model([call("look_up_order")]), tools: [lookUp] });
  const stopped = (await looper.run("Go on for ever.", { session: store.session("loop") })).runId;
  const payer = new Agent({ name: "payer", model: model([call("refund", { euros: 80 })]), tools: [refund] });
  const waiting = (await payer.run("Refund 80 euros.", { session: store.session("money") })).runId;
  await store.annotate({ runId: failed, label: "bad", note: "It should have asked.", by: "anna" });
  return { answered, toolFailed, failed, stopped, waiting };
}

async function failedRun(agent: Agent, store: Store): Promise<string> {
  try {
    return (await agent.run("What about B-2?", { session: store.session("broken") })).runId;
  } catch (error) {
    if (isOffstageError(error)) return (error.result as RunResult).runId;
    throw error;
  }
}
