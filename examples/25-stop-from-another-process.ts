// Lesson 25: a run works in one process, and another process stops it through the store.
// The run ends with a result. Its tool is told by its signal, and the conversation stays valid.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Agent, sqliteStore, tool } from "offstage";
import { scriptedModel } from "offstage/testing";

const [path = "", role] = process.argv.slice(2);
if (role === "worker") await work();
else await stopTheOther();

// The worker: a tool that takes an hour.
async function work(): Promise<void> {
  const store = sqliteStore({ path });
  const dig = tool({
    name: "dig",
    description: "Digs for an hour.",
    execute: async (_, { signal }) => {
      console.log("worker: digging");
      await sleep(3_600_000, undefined, { signal });
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: "dig" }] }, "Found it."]);
  const agent = new Agent({ model, tools: [dig] });
  const { outcome } = await agent.run("Dig.", { session: store.session("mine") });
  console.log(`worker: ${outcome.status} (${outcome.reason}). ${outcome.message}`);
  await store.close();
}

// Another process, which has only the store.
async function stopTheOther(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "offstage-stop-"));
  const file = join(folder, "offstage.db");
  const worker = spawn(process.execPath, [fileURLToPath(import.meta.url), file, "worker"], { stdio: "inherit" });
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  const store = sqliteStore({ path: file });
  let runId: string | undefined;
  while (runId === undefined) {
    await sleep(50);
    [{ runId } = { runId: undefined }] = await store.runs.list({ status: "running" });
  }
  await sleep(200);
  console.log(`desk: stop returned ${await store.runs.stop(runId, { reason: "user pressed stop" })}`);
  await ended;
  console.log(`desk: the record says ${(await store.runs.get(runId))?.reason}`);
  await store.close();
  rmSync(folder, { recursive: true });
}
