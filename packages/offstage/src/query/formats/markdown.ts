// The markdown format: a readable report. All content is in code blocks, so that it cannot forge parts of the report.
import type { Message, ToolCall, ToolMessage } from "../../messages/message.ts";
import { cutText, type ExportView } from "../export/export-view.ts";
import { callsOf, contentOf, isErrorOf, linkOf, nameOfCall, roleOf, shownArguments } from "../readers.ts";

const headings = new Map([
  ["user", "User"],
  ["assistant", "Assistant"],
  ["system", "System"],
  ["developer", "System"],
  ["tool", "Tool"],
]);

/** A title, then a section for each message. Tool results follow their calls. */
export function* markdown(view: ExportView): Iterable<string> {
  yield "# Conversation\n";
  for (let i = 0; i < view.length; ) {
    yield section(view, i);
    const calls = callsOf(view.message(i));
    const end = calls.length === 0 ? i + 1 : endOfResults(view, i + 1);
    const waiting = resultsById(view, i + 1, end);
    for (const call of calls) yield renderCall(view, call, waiting.get(linkOf(call))?.pop());
    for (const index of [...waiting.values()].flat().sort((a, b) => a - b)) yield section(view, index);
    i = end;
  }
}

function endOfResults(view: ExportView, start: number): number {
  let end = start;
  while (end < view.length && roleOf(view.message(end)) === "tool") end++;
  return end;
}

// The indexes of results by call id, last first, so that pop() takes the first.
function resultsById(view: ExportView, start: number, end: number): Map<string, number[]> {
  const indexes = new Map<string, number[]>();
  for (let i = end - 1; i >= start; i--) {
    const id = linkOf(view.message(i) as ToolMessage);
    const known = indexes.get(id);
    if (known === undefined) indexes.set(id, [i]);
    else known.push(i);
  }
  return indexes;
}

function section(view: ExportView, index: number): string {
  const message = view.message(index);
  const role = roleOf(message);
  const heading = headings.get(role) ?? "Other";
  const lines = [`### ${heading}`, ...describe(view, index, role), ...contentBlock(view, message)];
  return `\n${lines.join("\n\n")}\n`;
}

function describe(view: ExportView, index: number, role: string): string[] {
  const lines: string[] = [];
  if (view.options.includeMetadata === true) {
    const time = view.timestamp(index);
    lines.push(`Message ${index}, ${view.tokens(index)} tokens${time === null ? "" : `, ${codeSpan(time)}`}`);
  }
  if (!headings.has(role)) lines.push(`Role ${codeSpan(role)}`);
  if (role === "tool") {
    const [name = "unknown"] = view.toolNames(index);
    lines.push(`Result of ${codeSpan(name)} (${codeSpan(linkOf(view.message(index) as ToolMessage))})`);
  }
  return lines;
}

function contentBlock(view: ExportView, message: Message): string[] {
  const content = contentOf(message);
  return content === undefined ? [] : [codeBlock(cutText(content, view.options.maxContentLength))];
}

function renderCall(view: ExportView, call: ToolCall, index: number | undefined): string {
  const lines = [`**Tool call** ${codeSpan(nameOfCall(call))} (${codeSpan(linkOf(call))})`, argumentsBlock(view, call)];
  if (index === undefined) lines.push("**No result**");
  else {
    const result = view.message(index);
    lines.push(isErrorOf(result) ? "**Error**" : "**Result**", ...contentBlock(view, result));
  }
  return `\n${lines.join("\n\n")}\n`;
}

function argumentsBlock(view: ExportView, call: ToolCall): string {
  const { text, isJson } = shownArguments(call);
  return codeBlock(cutText(text, view.options.maxContentLength), isJson ? "json" : "text");
}

/** A fenced block whose fence is longer than any run of backticks in the text. */
function codeBlock(text: string, language = "text"): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

/** A name as a code span on one line. */
function codeSpan(text: string): string {
  const line = cutText(text.replace(/[\s\p{Cc}]+/gu, " ").trim(), 200);
  const ticks = "`".repeat(longestRun(line) + 1);
  return line === "" ? "` `" : line.includes("`") ? `${ticks} ${line} ${ticks}` : `${ticks}${line}${ticks}`;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
