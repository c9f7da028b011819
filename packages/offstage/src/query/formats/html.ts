// The html format: one self-contained page. It has no script, and all content is escaped.
import { inertText } from "../../base/inert.ts";
import type { ToolCall } from "../../messages/message.ts";
import { cutText, type ExportView, toolCallIdsOf } from "../export/export-view.ts";
import { blocksOf, factsOf } from "../export/run-header.ts";
import { callsOf, contentOf, linkOf, metadataOf, nameOfCall, roleOf, shownArguments, statusOf } from "../readers.ts";
import type { RunSummary } from "../run-summary.ts";

const style = `
:root { color-scheme: light dark; --page: #f6f6f4; --card: #fff; --ink: #1d1d1b; --faint: #6b6b66; --line: #deded8;
  --user: #2563a8; --assistant: #3d7a3d; --tool: #8a5a00; --system: #6d4a9c; --error: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --page: #161618; --card: #1f1f22; --ink: #e8e8e4; --faint: #9a9a94;
  --line: #34343a; --user: #7db4f0; --assistant: #86c986; --tool: #e0b060; --system: #bfa0e8; --error: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1rem 4rem; max-width: 52rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .25rem; }
.count { color: var(--faint); margin: 0 0 1.5rem; }
article { background: var(--card); border: 1px solid var(--line); border-left: 4px solid var(--who, var(--faint));
  border-radius: 6px; padding: .75rem 1rem; margin: 0 0 .75rem; break-inside: avoid-page; }
.user { --who: var(--user); } .assistant { --who: var(--assistant); } .tool { --who: var(--tool); }
.system { --who: var(--system); } .error { --who: var(--error); }
header { display: flex; flex-wrap: wrap; gap: .75rem; align-items: baseline; font-size: .85rem; color: var(--faint); }
header b { color: var(--who, var(--ink)); font-size: .95rem; }
header a { margin-left: auto; color: inherit; text-decoration: none; }
pre { margin: .5rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; unicode-bidi: plaintext; }
.tool pre, details pre, code { font: .875em/1.5 ui-monospace, Menlo, Consolas, monospace; }
details { margin: .5rem 0 0; border-top: 1px solid var(--line); padding-top: .5rem; }
summary { cursor: pointer; }
.run { margin: 1.5rem 0 .75rem; }
.run h2, .run h3 { font-size: 1.1rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
.subagent { border-left: 4px solid var(--line); padding: .25rem 0 .25rem 1rem; margin: 0 0 .75rem; }
.subagent .run { margin-top: .25rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0; font-size: .9rem; }
dt { color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
@media print { body { max-width: none; padding: 0; background: none; } details > * { display: block; } header a { display: none; } }
`;

/** A page with a header for each run that is known, and a card for each message. */
export function* html(view: ExportView): Iterable<string> {
  const policy = "default-src 'none'; style-src 'unsafe-inline'";
  yield `<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n`;
  yield `<meta http-equiv="Content-Security-Policy" content="${policy}">\n<title>Conversation</title>\n<style>${style}</style>\n</head>\n`;
  yield `<body>\n<h1>Conversation</h1>\n<p class="count">${view.length === 1 ? "1 message" : `${view.length} messages`}</p>\n`;
  yield* cards(view);
  yield "</body>\n</html>\n";
}

// Deeper runs get no section of their own.
const maxDepth = 50;

// A card for each message. Cards of a subagent are in a section of their own, between the call and its result.
function* cards(view: ExportView): Iterable<string> {
  const written = new Set<string | undefined>();
  let outer: string | undefined;
  // The subagents around the message, the innermost last.
  const open: string[] = [];
  for (let i = 0; i < view.length; i++) {
    const { runId, parentRunId } = view.runPlace(i);
    for (; open.length > 0 && open.at(-1) !== runId && open.at(-1) !== parentRunId; open.pop()) yield "</section>\n";
    const caller = open.at(-1) ?? outer;
    const isNew = !written.has(runId);
    const isCalled = runId !== caller && parentRunId !== undefined && parentRunId === caller;
    if (isCalled && runId !== undefined && open.length < maxDepth) {
      open.push(runId);
      yield `<section class="subagent">\n${subagentHeader(view, i, isNew)}`;
    } else if (open.length === 0 && runId !== outer) {
      yield outerHeader(view, runId, { isNew, wasKnown: view.runs.has(outer ?? "") });
      outer = runId;
    }
    written.add(runId);
    yield card(view, i);
  }
  yield "</section>\n".repeat(open.length);
  for (const runId of view.runs.keys())
    if (!written.has(runId)) yield outerHeader(view, runId, { isNew: true, wasKnown: true });
}

interface Before {
  /** False if the run has a header already. */
  readonly isNew: boolean;
  /** True if the cards above are those of a run with a header. */
  readonly wasKnown: boolean;
}

function outerHeader(view: ExportView, runId: string | undefined, { isNew, wasKnown }: Before): string {
  const run = runId === undefined ? undefined : view.runs.get(runId);
  if (run === undefined) return wasKnown ? header("<h2>Other messages</h2>") : "";
  const title = `Run <code>${escaped(run.runId)}</code>`;
  return isNew ? header(`<h2>${title}</h2>`, aboutRun(view, run, false)) : header(`<h2>${title}, continued</h2>`);
}

function subagentHeader(view: ExportView, index: number, isNew: boolean): string {
  const { agent } = metadataOf(view.message(index));
  const title = `Subagent <code>${escaped(typeof agent === "string" ? agent : "unknown")}</code>`;
  if (!isNew) return header(`<h3>${title}, continued</h3>`);
  const run = view.runs.get(view.runPlace(index).runId ?? "");
  return header(`<h3>${title}</h3>`, run && aboutRun(view, run, true));
}

function header(title: string, body = ""): string {
  return `<div class="run">\n${title}\n${body}</div>\n`;
}

function aboutRun(view: ExportView, run: RunSummary, isBelowCall: boolean): string {
  const facts = factsOf(run, { isBelowCall }).map(([label, text]) => `<dt>${label}</dt><dd>${escaped(text)}</dd>\n`);
  const blocks = blocksOf(run).map(({ title, names, text }) => {
    const summary = [title, ...names.map((name) => `<code>${escaped(name)}</code>`)].join(" ");
    const block = text === "" ? "" : textBlock(view, text);
    return `<details${title === "Instructions" ? "" : " open"}><summary>${summary}</summary>${block}</details>\n`;
  });
  return `<dl>\n${facts.join("")}</dl>\n${blocks.join("")}`;
}

const known = new Set(["user", "assistant", "system", "tool"]);

function card(view: ExportView, index: number): string {
  const message = view.message(index);
  const role = roleOf(message);
  const kind = `${known.has(role) ? role : "other"}${statusOf(message) === "error" ? " error" : ""}`;
  const content = contentOf(message);
  const body = content === undefined ? "" : textBlock(view, content);
  const calls = callsOf(message).map((call) => renderCall(view, call));
  return `<article class="${kind}" id="m${index}">\n${head(view, index, role)}${body}${calls.join("")}</article>\n`;
}

function head(view: ExportView, index: number, role: string): string {
  const message = view.message(index);
  const name = role === "tool" ? `<code>${escaped(view.toolNames(index).join(", ") || "unknown")}</code>` : "";
  const id = role === "tool" ? `<code>${escaped(toolCallIdsOf(message).join(", "))}</code>` : "";
  const time = view.timestamp(index);
  const facts = [`${view.tokens(index)} tokens`, ...(time === null ? [] : [escaped(time)])].join(" · ");
  const ending = { ok: "", error: "failed", rejected: "rejected", interrupted: "interrupted" }[statusOf(message)];
  const error = ending === "" ? "" : `<span>${ending}</span>`;
  const title = `<b>${escaped(role)}</b>${name}${id}${error}<span>${facts}</span>`;
  return `<header>${title}<a href="#m${index}">#${index}</a></header>\n`;
}

function renderCall(view: ExportView, call: ToolCall): string {
  const title = `calls <code>${escaped(nameOfCall(call))}</code> <code>${escaped(linkOf(call))}</code>`;
  return `<details open><summary>${title}</summary>${textBlock(view, shownArguments(call).text)}</details>\n`;
}

function textBlock(view: ExportView, text: string): string {
  // Browsers drop the first newline of a block.
  return `<pre dir="auto">\n${escaped(cutText(text, view.options.maxContentLength))}</pre>\n`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return inertText(text).replace(/[&<>"']/g, (character) => entities[character] as string);
}
