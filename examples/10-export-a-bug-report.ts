// Lesson 10: hand a run to somebody else. Six formats, safe for the place they end up in, secrets taken out on demand.
// Markdown cannot be forged by what was said, CSV cells are no formulas, the HTML page runs no script.
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

// For an issue: only what concerns the failing tool, without secrets.
const part = query.filter({ toolName: "deploy" });
console.log(query.export("markdown", { messages: part, redact: true }));

// For a spreadsheet: one row for each message, long content cut.
console.log(query.export("csv", { redact: true, maxContentLength: 40 }));

// For a program: plain objects with index and token count, or a format of your own.
console.log(query.export("dict").map(({ role, _metadata }) => `${role}: ${_metadata.token_count} tokens`));
console.log(query.export((messages) => messages.map(({ role }) => role).join(" > ")));

// For a large history: straight to a file, with constant memory.
const folder = mkdtempSync(join(tmpdir(), "offstage-"));
const page = join(folder, "run.html");
await query.exportTo(createWriteStream(page), "html", { redact: true });
console.log(`\nwrote ${statSync(page).size} bytes of HTML`);
rmSync(folder, { recursive: true });
