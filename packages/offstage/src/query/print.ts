// Print: stats, tools and timeline for a terminal, in colour if it is one. Untrusted text comes out inert.
import { inertLine, styleText } from "../base/inert.ts";
import { checkOptions, type OptionRule, objectWith, oneOf, positiveNumber, yesOrNo } from "../base/options.ts";
import { type MessageStats, renderStats } from "./stats.ts";
import type { ToolCallRecord } from "./tool-calls.ts";
import { renderToolSummary, type ToolCallInfo } from "./tool-summary.ts";
import { renderTurn, type SubagentTurn, statusLine, type Timeline, type Turn } from "./turn.ts";

/** The target of a print: standard output, or an object like it. */
export interface PrintStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export interface PrintOptions {
  /** Default: true if the stream is a terminal whose colours are not turned off. */
  readonly color?: boolean | undefined;
  /** The columns of a line. Default: those of the terminal, else 80. */
  readonly width?: number | undefined;
  /** Compact prints a line for each, detailed cuts texts to the width, verbose prints everything. Default "detailed". */
  readonly preset?: "compact" | "detailed" | "verbose" | undefined;
  /** Default: standard output. */
  readonly stream?: PrintStream | undefined;
}

const optionRules: Readonly<Record<keyof PrintOptions, OptionRule>> = {
  color: yesOrNo,
  width: positiveNumber,
  preset: oneOf("compact", "detailed", "verbose"),
  stream: objectWith("a stream, with write(text)", "write"),
};

type Style = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "magenta";

/** The width and the colours of lines. */
export interface Pen {
  readonly width: number;
  readonly preset: NonNullable<PrintOptions["preset"]>;
  paint(style: Style, text: string): string;
}

/** The pen for these options. */
export function penOf(options: PrintOptions): Pen {
  checkOptions(options, optionRules, "print");
  const { stream = process.stdout, width = stream.columns || 80, preset = "detailed", color } = options;
  if (color === undefined) return { width, preset, paint: (style, text) => painted(style, text, stream) };
  return { width, preset, paint: (style, text) => (color ? styleText(style, text, { validateStream: false }) : text) };
}

function painted(style: Style, text: string, stream: PrintStream): string {
  return stream.isTTY === true ? styleText(style, text, { stream: stream as NodeJS.WriteStream }) : text;
}

/** Stats for a terminal. */
export function drawStats(stats: MessageStats, pen: Pen): string {
  const { totalMessages, totalTokens, estimated } = stats;
  const mark = estimated ? "about " : "";
  if (pen.preset === "compact") return `${totalMessages} messages, ${mark}${totalTokens} tokens`;
  const [title = "", ...lines] = renderStats(stats).split("\n");
  return [pen.paint("bold", title), ...lines].join("\n");
}

/** Tools for a terminal. */
export function drawTools(infos: readonly ToolCallInfo[], pen: Pen): string {
  if (infos.length === 0 || pen.preset === "verbose") return renderToolSummary(infos);
  return infos.map((info) => drawTool(info, pen)).join("\n");
}

function drawTool(info: ToolCallInfo, pen: Pen): string {
  const failed = info.errorCount === 0 ? "" : pen.paint("red", ` ${info.errorCount} failed`);
  const orphans = info.orphans.length === 0 ? "" : pen.paint("dim", ` ${info.orphans.length} without a call`);
  const title = `${pen.paint("yellow", fitted(info.toolName, pen.width - 12))} ×${info.callCount}${failed}${orphans}`;
  if (pen.preset === "compact") return title;
  return [
    title,
    ...info.calls.map((call) => drawCall(call, pen)),
    ...info.orphans.map((call) => drawCall(call, pen)),
  ].join("\n");
}

function drawCall(call: ToolCallRecord, pen: Pen, indent = "    "): string {
  const half = Math.max(8, Math.floor((pen.width - indent.length - 4) / 2));
  const given = fitted(call.inputText ?? "(no call)", half);
  const result = call.resultText === undefined ? pen.paint("dim", "(no result)") : fitted(call.resultText, half);
  return `${indent}${given} → ${call.status === "error" ? pen.paint("red", result) : result}`;
}

/** A timeline for a terminal. */
export function drawTimeline(turns: Timeline, pen: Pen): string {
  if (turns.length === 0) return "No messages.";
  if (pen.preset === "verbose") return turns.map(renderTurn).join("\n\n");
  return turns.map((turn) => (pen.preset === "compact" ? drawTurnLine(turn, pen) : drawTurn(turn, pen))).join("\n");
}

function drawTurnLine(turn: Turn, pen: Pen): string {
  const tools = turn.toolInteractions.length === 0 ? "" : ` [${turn.toolInteractions.length} tools]`;
  const half = Math.max(8, Math.floor((pen.width - 12 - tools.length) / 2));
  const asked = pen.paint("blue", fitted(turn.userContent ?? turn.systemContent ?? "", half));
  return `${pen.paint("dim", `#${turn.index}`)} ${asked} →${tools} ${fitted(turn.assistantContent ?? `(${turn.status})`, half)}`;
}

function drawTurn(turn: Turn, pen: Pen): string {
  const time = turn.durationMs === undefined ? "" : ` ${turn.durationMs} ms`;
  const title = `${pen.paint("bold", `Turn ${turn.index}`)}${pen.paint("dim", ` ${statusLine(turn)}${time}`)}`;
  return [title, ...drawEpisode(turn, pen, "  ")].join("\n");
}

const speakers: Readonly<Record<"system" | "user" | "text" | "other", readonly [style: Style, label: string]>> = {
  system: ["magenta", "system"],
  user: ["blue", "user"],
  text: ["green", "assistant"],
  other: ["dim", "other"],
};

function drawEpisode({ items, error }: Pick<Turn, "items" | "error">, pen: Pen, indent: string): string[] {
  const line = (style: Style, label: string, text: string): string =>
    `${indent}${pen.paint(style, label.padEnd(9))} ${fitted(text, pen.width - indent.length - 10)}`;
  const nested = (subagent: SubagentTurn): string[] => [
    line("bold", "subagent", `${subagent.agent ?? "unknown"} ${statusLine(subagent)}`),
    ...drawEpisode(subagent, pen, `${indent}  `),
  ];
  const lines = items.flatMap((item) => {
    if (item.type === "subagent") return nested(item.subagent);
    if (item.type !== "tool") return [line(...speakers[item.type], item.text)];
    const { call, subagents = [] } = item;
    return [line("yellow", "tool", call.toolName), ...subagents.flatMap(nested), drawCall(call, pen, `${indent}  `)];
  });
  return error === undefined ? lines : [...lines, line("red", "error", error.message)];
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** The text on one line, cut to `width` columns. */
export function fitted(text: string, width: number): string {
  const line = inertLine(text.slice(0, Math.max(1, width) * 8)).trim();
  let used = 0;
  let kept = 0;
  let end = 0;
  for (const character of line) {
    used += wide.test(character) ? 2 : 1;
    if (used > width) return `${line.slice(0, kept)}…`;
    end += character.length;
    // If the line has to be cut, one column is for the mark.
    if (used < width) kept = end;
  }
  return line;
}
