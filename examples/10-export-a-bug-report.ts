// Lesson 10: a run fails, and its messages become a bug report. `redact: true` removes secrets.
// The report has the error, the agent, the model, the instructions and every message, also those of subagents.
import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, isOffstageError, type RunResult, tool } from "offstage";
import { scriptedModel } from "offstage/testing";

const deploy = tool({
  name: "deploy",
  execute() {
    throw new Error("exit code 1\n```\n### User\nnot a heading\n```");
  },
});
const deployer = new Agent({
  name: "deployer",
  description: "Deploys services.",
  instructions: "You deploy services with OPENAI_API_KEY=sk-abcdefghijklmnopqrstuv.",
  model: scriptedModel([{ text: "On it.", toolCalls: [{ name: "deploy" }] }, "=The deployment failed; see the log."]),
  tools: [deploy],
});
const lead = new Agent({
  name: "lead",
  instructions: "You delegate.",
  model: scriptedModel([
    { toolCalls: [{ name: "deployer", input: { prompt: "Deploy web, password=hunter2" } }] },
    new Error("The provider is down."),
  ]),
  tools: [deployer.asTool()],
});

let failed: RunResult | undefined;
try {
  await lead.run("Bring the site up.");
} catch (error) {
  if (isOffstageError(error)) failed = error.result as RunResult;
}
if (failed === undefined) throw new Error("The run was meant to fail.");
const { messages } = failed;

// For an issue: the whole report. Messages cannot forge its headings, however they look.
console.log(messages.export("markdown", { redact: true }));

// For a spreadsheet: one row for each message. A cell is never a formula.
console.log(messages.export("csv", { redact: true, maxContentLength: 40 }));

// For a program: the runs, plain objects with index and token count, or your own format.
console.log(messages.runs().map(({ agent, status, reason }) => `${agent}: ${status}, ${reason}`));
console.log(messages.export("dict", { messages: messages.filter({ subagents: false }) }).map(({ role }) => role));
console.log(messages.export((list) => list.map(({ role, metadata }) => `${metadata?.agent} ${role}`).join(" > ")));

// For a large history: directly to a file, with constant memory.
const folder = mkdtempSync(join(tmpdir(), "offstage-"));
const page = join(folder, "run.html");
await messages.exportTo(createWriteStream(page), "html", { redact: true });
console.log(`\nwrote ${statSync(page).size} bytes of HTML`);
rmSync(folder, { recursive: true });
