// A worker thread whose agent begins a run on a session, says so, and then hangs in a tool until it is terminated.
import { parentPort, workerData } from "node:worker_threads";
import { Agent, openStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const hang = tool({
  name: "hang",
  execute: () => {
    parentPort?.postMessage("hanging");
    // A thread with nothing to wait for would end.
    return new Promise((resolve) => setTimeout(resolve, 600_000));
  },
});
const store = openStore((workerData as { url: string }).url);
const agent = new Agent({ model: scriptedModel([{ toolCalls: [{ name: "hang" }] }, "done"]), tools: [hang] });
await agent.run("hello from a thread", { session: store.session("s") });
