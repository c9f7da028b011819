// Turn: one user message with everything up to its answer, as data and as text. Cutting a list into turns is timeline.ts.
import { inertLine } from "../base/inert.ts";
import type { Usage } from "../tokens/usage.ts";
import { labelled } from "./self-printing.ts";
import type { ToolCallRecord } from "./tool-calls.ts";

/** One turn. A text that was not said is undefined. */
export interface Turn {
  readonly index: number;
  /** System messages before or within the turn. */
  readonly systemContent: string | undefined;
  readonly userContent: string | undefined;
  /** What the assistant said, text beside tool calls included, one message below the other. */
  readonly assistantContent: string | undefined;
  readonly toolInteractions: readonly ToolCallRecord[];
  /** Messages of roles nobody knows. */
  readonly otherContent: string | undefined;
  /** Completed: the assistant answered; interrupted: its answer was cut; open: no answer yet. */
  readonly status: "completed" | "interrupted" | "open";
  /**
   * The place of its first message, and the place after its last: `query.slice(turn.start, turn.end)`. Where runs were under
   * way at once, messages of other turns may stand between.
   */
  readonly start: number;
  readonly end: number;
  readonly runId: string | undefined;
  /** From its first message to its last, where they say when they were made. */
  readonly durationMs: number | undefined;
  /** What providers reported, where they did. */
  readonly usage: Usage | undefined;
}

/** A list of turns that prints itself. */
export type Timeline = Turn[];

/** All turns as text. */
export function renderTimeline(turns: Timeline): string {
  return turns.length === 0 ? "No messages." : turns.map(renderTurn).join("\n\n");
}

/** One turn as text: who said what, and which tools ran. */
export function renderTurn(turn: Turn): string {
  const { index, systemContent, userContent, assistantContent, toolInteractions, otherContent, status } = turn;
  const time = turn.durationMs === undefined ? "" : `, ${turn.durationMs} ms`;
  return [
    `Turn ${index}${status === "completed" ? "" : ` (${status})`}${time}:`,
    ...said("System", systemContent),
    ...said("User", userContent),
    ...(toolInteractions.length === 0 ? [] : ["  Tools:"]),
    ...toolInteractions.flatMap(renderCall),
    ...said("Assistant", assistantContent),
    ...said("Other", otherContent),
  ].join("\n");
}

function said(who: string, text: string | undefined): string[] {
  return text === undefined ? [] : [labelled(who, text)];
}

function renderCall(call: ToolCallRecord): string[] {
  const { toolName, toolCallId, inputText, result, isError } = call;
  const name = `    [${inertLine(toolName)}] id=${inertLine(toolCallId)}`;
  return [
    inputText === undefined ? `${name} (result without a call)` : name,
    ...(inputText === undefined ? [] : [labelled("arguments", inputText, "      ")]),
    result === undefined ? "      no result" : labelled(isError ? "error" : "result", result, "      "),
  ];
}
