// Lesson 13: a process is killed during a run, and another process resumes the run by its id.
// A finished tool does not run again. The model is told about the tool that was interrupted.
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, sqliteStore, tool } from "offstage";
import { scriptedModel } from "offstage/testing";

const isChild = process.argv[2] !== undefined;
const folder = process.argv[2] ?? mkdtempSync(join(tmpdir(), "offstage-"));
const effects = join(folder, "effects.txt");

const charge = tool({
  name: "charge_card",
  description: "Charges the card.",
  execute() {
    appendFileSync(effects, "card charged\n");
    return "charged 40 EUR";
  },
});
const print = tool({
  name: "print_ticket",
  description: "Prints the ticket.",
  execute() {
    if (isChild) process.kill(process.pid, "SIGKILL"); // simulates a crash
    return "printed";
  },
});

const model = scriptedModel(({ messages }) => {
  const results = messages.filter(({ role }) => role === "tool");
  if (results.length === 0) return { toolCalls: [{ name: "charge_card" }] };
  if (results.length === 1) return { toolCalls: [{ name: "print_ticket" }] };
  return `The card is charged. About the ticket I was told: "${results[1]?.content}"`;
});
const agent = new Agent({ model, tools: [charge, print] });
const store = sqliteStore({ path: join(folder, "shop.db") });

if (isChild) {
  await agent.run("One ticket, please.", { session: store.session("anna") });
} else {
  const { signal } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), folder], { stdio: "inherit" });
  console.log(`The first process ended with ${signal}.`);
  const [run] = await store.runs.list({ status: "interrupted" });
  console.log(`Its run is ${run?.status}.`);
  const result = await agent.resume(run?.runId ?? "", { store });
  console.log(`\n${result.outcome.status}: ${result.output}`);
  console.log(`\nThe card was charged ${readFileSync(effects, "utf8").split("\n").length - 1} time.`);
  console.log("\nThe conversation:");
  for (const { role, content } of await store.session("anna").getItems()) console.log(`  ${role}: ${content}`);
  await store.close();
  rmSync(folder, { recursive: true });
}
