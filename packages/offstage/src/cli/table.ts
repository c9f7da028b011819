// The table of commands. Help, completion and docs/cli.md follow from it. To add a command: its file, and a row here.
import type { Command, CommandRow, LoadedCommand } from "./command.ts";

type Load = () => Promise<{ readonly command: Command }>;

function row(group: CommandRow["group"], line: string, summary: string, load: Load): CommandRow {
  const [name = "", ...usage] = line.split(" ");
  return { name, group, usage: usage.join(" "), summary, load: async () => (await load()).command };
}

export const commandRows: readonly CommandRow[] = [
  row("look", "sessions [text]", "conversations, the latest first", () => import("./commands/look/sessions.ts")),
  row(
    "look",
    "show <session|last>",
    "what was said; --trace: with what was done",
    () => import("./commands/look/show.ts"),
  ),
  row("look", "runs [session]", "runs, the latest first", () => import("./commands/look/runs.ts")),
  row("look", "run <run|last>", "one run: its steps, its tools, how it ended", () => import("./commands/look/run.ts")),
  row("look", "why <run|last>", "why a run ended: every vote, error and retry", () => import("./commands/look/why.ts")),
  row("look", "prompt <run|last>", "exactly what the model saw in a step", () => import("./commands/look/prompt.ts")),
  row("look", "trace <run|trace>", "the spans of a run, as a waterfall", () => import("./commands/look/trace.ts")),
  row("look", "timeline <session|run>", "said and done, side by side", () => import("./commands/look/timeline.ts")),
  row("look", "tools [session]", "tools by calls, failures and time", () => import("./commands/look/tools.ts")),
  row("look", "stats", "runs, failures, tokens and cost, as bars", () => import("./commands/look/stats.ts")),
  row("look", "grep <text>", "find text in everything said and done", () => import("./commands/look/grep.ts")),
  row("look", "tail [session]", "runs of any process, as they happen", () => import("./commands/look/tail.ts")),
  row("people", "chat [session|last]", "talk with an agent", () => import("./commands/people/chat.ts")),
  row("people", "inbox", "what waits for a person", () => import("./commands/people/inbox.ts")),
  row("people", "approve <run|last> [call]", "let a call run", () => import("./commands/people/approve.ts")),
  row("people", "reject <run|last> [call]", "refuse a call", () => import("./commands/people/reject.ts")),
  row("people", "answer <run|last> <call> [answer…]", "answer a question", () => import("./commands/people/answer.ts")),
  row("people", "stop <run|last>", "stop a run of any process", () => import("./commands/people/stop.ts")),
  row("people", "mcp", "the record, and agents, as an MCP server", () => import("./commands/people/mcp.ts")),
  row(
    "keep",
    "export <session|run>",
    "a session or a run as Markdown, HTML, JSON or CSV",
    () => import("./commands/keep/export.ts"),
  ),
  row(
    "keep",
    "import <file|folder>",
    "conversations of Claude Code, Codex and others",
    () => import("./commands/keep/import.ts"),
  ),
  row("keep", "title <session> <text…>", "give a session a title", () => import("./commands/keep/title.ts")),
  row("keep", "tag <session> [tag…]", "add tags to a session, or remove them", () => import("./commands/keep/tag.ts")),
  row("keep", "annotate <run|last>", "feedback on a run", () => import("./commands/keep/annotate.ts")),
  row("keep", "doctor", "the health of the store, and what to do", () => import("./commands/keep/doctor.ts")),
  row("keep", "prune", "remove old sessions", () => import("./commands/keep/prune.ts")),
  row("keep", "backup <file>", "copy a SQLite store while it is in use", () => import("./commands/keep/backup.ts")),
  row("keep", "completion <bash|zsh|fish>", "completion for your shell", () => import("./commands/keep/completion.ts")),
];

/** The row of a command; undefined if there is none. */
export function commandRow(name: string): CommandRow | undefined {
  return commandRows.find((each) => each.name === name);
}

/** Loads every command, for completion and for the docs. A call of one command loads only that. */
export async function loadCommands(): Promise<LoadedCommand[]> {
  return Promise.all(commandRows.map(async (row) => ({ row, command: await row.load() })));
}
