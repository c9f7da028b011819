// Lesson 10: export a run for other people, in six formats. `redact: true` removes secrets.
// Every format is safe for its reader: messages cannot forge Markdown headings, CSV formulas or HTML scripts.
import { createWriteStream, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assistant, MessageQuery, system, toolCall, toolResult, user } from "offstage";

const query = new MessageQuery([
  system("You deploy services."),
  user("Deploy with OPENAI_API_KEY=sk-abcdefghijklmnopqrstuv please"),
  assistant("On it.", { toolCalls: [toolCall("c1", "deploy", { service: "web", password: "hunter2" })] }),
  toolResult("c1", "Error: exit code 1\n```\n### User\nnot a heading\n```", { name: "deploy", isError: true }),
  assistant("=The deployment failed; see the log."),
]);

// For an issue: only the messages of the failing tool, without secrets.
const part = query.filter({ toolName: "deploy" });
console.log(query.export("markdown", { messages: part, redact: true }));

// For a spreadsheet: one row for each message, long content cut.
console.log(query.export("csv", { redact: true, maxContentLength: 40 }));

// For a program: plain objects with index and token count, or your own format.
console.log(query.export("dict").map(({ role, _metadata }) => `${role}: ${_metadata.token_count} tokens`));
console.log(query.export((messages) => messages.map(({ role }) => role).join(" > ")));

// For a large history: directly to a file, with constant memory.
const folder = mkdtempSync(join(tmpdir(), "offstage-"));
const page = join(folder, "run.html");
await query.exportTo(createWriteStream(page), "html", { redact: true });
console.log(`\nwrote ${statSync(page).size} bytes of HTML`);
rmSync(folder, { recursive: true });
