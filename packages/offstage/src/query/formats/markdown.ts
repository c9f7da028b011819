// The markdown format: a readable report. All content is in code blocks, so that it cannot forge parts of the report.
import type { Message, ToolCall, ToolMessage } from "../../messages/message.ts";
import { cutText, type ExportView } from "../export/export-view.ts";
import { blocksOf, factsOf } from "../export/run-header.ts";
import { type GroupedRun, type StepGroup, stepGroups } from "../export/step-groups.ts";
import { contentOf, linkOf, metadataOf, nameOfCall, roleOf, shownArguments, statusOf } from "../readers.ts";
import type { RunSummary } from "../run-summary.ts";

const headings = new Map([
  ["user", "User"],
  ["assistant", "Assistant"],
  ["system", "System"],
  ["developer", "System"],
  ["tool", "Tool"],
]);

/** A title, a header for each run that is known, and a section for each message. Results and subagents follow their calls. */
export function* markdown(view: ExportView): Iterable<string> {
  yield "# Conversation\n";
  const written = new Set<string>();
  let current: RunSummary | undefined;
  for (const group of stepGroups(view, { length: view.length, at: (index) => index }, true)) {
    const { runId } = view.runPlace(group.head);
    const run = runId === undefined ? undefined : view.runs.get(runId);
    if (run === undefined && current !== undefined) yield "\n## Other messages\n";
    if (run !== undefined && run !== current) yield written.has(runId as string) ? again(run) : runHeader(view, run);
    if (runId !== undefined) written.add(runId);
    current = run;
    yield renderGroup({ view, written, depth: 0 }, group);
  }
  for (const [runId, run] of view.runs) if (!written.has(runId)) yield runHeader(view, run);
}

interface Report {
  readonly view: ExportView;
  /** The runs that have a header. */
  readonly written: Set<string>;
  /** The number of runs around this part. */
  readonly depth: number;
}

// Deeper runs are not quoted again: such quotes are unreadable.
const maxDepth = 8;

function renderGroup(report: Report, { head, calls, subagents, orphans }: StepGroup): string {
  const quoted = (runs: readonly GroupedRun[]): string => runs.map((run) => renderSubagent(report, run)).join("");
  return [
    section(report, head),
    ...calls.map(({ call, result, subagents: called }) => renderCall(report, call, { result, nested: quoted(called) })),
    quoted(subagents),
    ...orphans.map((index) => section(report, index)),
  ].join("");
}

// A quote, so that it is clear where the subagent ends.
function renderSubagent({ view, written, depth }: Report, { runId, indexes }: GroupedRun): string {
  const [first = 0] = indexes;
  const run = view.runs.get(runId);
  const { agent } = metadataOf(view.message(first));
  const title = `\n${heading(2 * depth + 4)} Subagent ${codeSpan(typeof agent === "string" ? agent : "unknown")}\n`;
  written.add(runId);
  const within = { view, written, depth: depth + 1 };
  const groups = [...stepGroups(view, indexes, depth + 1 < maxDepth)];
  const header = run === undefined ? "" : headerLines(view, run, true);
  const text = `${title}${header}${groups.map((group) => renderGroup(within, group)).join("")}`;
  return `\n> ${text.trim().replace(/\r\n|\r|\n/g, "$&> ")}\n`;
}

function runHeader(view: ExportView, run: RunSummary): string {
  return `\n## Run ${codeSpan(run.runId)}\n${headerLines(view, run, false)}`;
}

function again(run: RunSummary): string {
  return `\n## Run ${codeSpan(run.runId)}, continued\n`;
}

function headerLines(view: ExportView, run: RunSummary, isBelowCall: boolean): string {
  const facts = factsOf(run, { isBelowCall });
  const list = facts.map(([label, text]) => `- ${label}: ${codeSpan(text)}`).join("\n");
  const blocks = blocksOf(run).map(({ title, names, text }) => {
    const block = text === "" ? "" : `\n\n${codeBlock(cutText(text, view.options.maxContentLength))}`;
    return `\n${[`**${title}**`, ...names.map(codeSpan)].join(" ")}${block}\n`;
  });
  return `\n${list}\n${blocks.join("")}`;
}

function heading(level: number): string {
  return "#".repeat(Math.min(level, 6));
}

function section({ view, depth }: Report, index: number): string {
  const message = view.message(index);
  const role = roleOf(message);
  const lines = [
    `${heading(2 * depth + 3)} ${headings.get(role) ?? "Other"}`,
    ...describe(view, index, role),
    ...contentBlock(view, message),
  ];
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

interface Answer {
  /** The index of the result. */
  readonly result: number | undefined;
  readonly nested: string;
}

function renderCall({ view }: Report, call: ToolCall, { result, nested }: Answer): string {
  const called = [
    `**Tool call** ${codeSpan(nameOfCall(call))} (${codeSpan(linkOf(call))})`,
    argumentsBlock(view, call),
  ];
  return `\n${called.join("\n\n")}\n${nested}\n${renderResult(view, result).join("\n\n")}\n`;
}

const resultTitles = {
  ok: "**Result**",
  error: "**Error**",
  rejected: "**Rejected**",
  interrupted: "**Interrupted**",
} as const;

function renderResult(view: ExportView, index: number | undefined): string[] {
  if (index === undefined) return ["**No result**"];
  const result = view.message(index);
  return [resultTitles[statusOf(result)], ...contentBlock(view, result)];
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
