// Turn: one user message with everything up to its answer, as data and as text. timeline.ts cuts a list into turns.
import { inertLine } from "../base/inert.ts";
import type { Usage } from "../tokens/usage.ts";
import { labelled } from "./self-printing.ts";
import type { ToolCallRecord } from "./tool-calls.ts";

/** One turn. A missing text is undefined. */
export interface Turn {
  readonly index: number;
  /** System messages before or within the turn. */
  readonly systemContent: string | undefined;
  readonly userContent: string | undefined;
  /** The texts of the assistant, one below the other, including texts beside tool calls. */
  readonly assistantContent: string | undefined;
  readonly toolInteractions: readonly ToolCallRecord[];
  /** The texts of messages with unknown roles. */
  readonly otherContent: string | undefined;
  /** Completed: the assistant answered. Interrupted: its answer was cut. Open: there is no answer yet. */
  readonly status: "completed" | "interrupted" | "open";
  /**
   * The index of its first message, and the index behind its last: `query.slice(turn.start, turn.end)`. If runs overlapped, messages of
   * other turns are among them.
   */
  readonly start: number;
  readonly end: number;
  readonly runId: string | undefined;
  /** The time from its first message to its last, if they have times. */
  readonly durationMs: number | undefined;
  /** The usage that providers reported, if any did. */
  readonly usage: Usage | undefined;
}

/** A list of turns that renders itself under `String()`. */
export type Timeline = Turn[];

/** Renders all turns as text. */
export function renderTimeline(turns: Timeline): string {
  return turns.length === 0 ? "No messages." : turns.map(renderTurn).join("\n\n");
}

/** Renders one turn as text: who said what, and which tools ran. */
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
  const { toolName, toolCallId, inputText, resultText, isError } = call;
  const name = `    [${inertLine(toolName)}] id=${inertLine(toolCallId)}`;
  return [
    inputText === undefined ? `${name} (result without a call)` : name,
    ...(inputText === undefined ? [] : [labelled("arguments", inputText, "      ")]),
    resultText === undefined ? "      no result" : labelled(isError ? "error" : "result", resultText, "      "),
  ];
}
