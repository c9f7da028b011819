// Turn: one user message with everything up to its answer, as data and as text. timeline.ts cuts a list into turns.
import { inertLine } from "../base/inert.ts";
import type { Usage } from "../tokens/usage.ts";
import { labelled } from "./self-printing.ts";
import type { ToolCallRecord } from "./tool-calls.ts";
import { resultLabel } from "./tool-summary.ts";

/**
 * Completed: the assistant answered. Interrupted: its answer was cut. Open: there is no answer yet. If the query knows the run of an
 * open turn: how that run ended.
 */
export type TurnStatus = "completed" | "interrupted" | "open" | "stopped" | "failed" | "waiting";

/** One turn. A missing text is undefined. */
export interface Turn {
  readonly index: number;
  /** System messages before or within the turn. */
  readonly systemContent: string | undefined;
  readonly userContent: string | undefined;
  /** The texts of the assistant, one below the other, including texts beside tool calls. */
  readonly assistantContent: string | undefined;
  /** The calls of the turn's own run. Those of subagents are in the items. */
  readonly toolInteractions: readonly ToolCallRecord[];
  /** The texts of messages with unknown roles. */
  readonly otherContent: string | undefined;
  /** Texts and tool calls in order. */
  readonly items: readonly TurnItem[];
  readonly status: TurnStatus;
  /** Why the run ended, if the turn has no complete answer and the query knows the run. */
  readonly reason: string | undefined;
  /** The error of a failed run, if the query knows the run. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
  /**
   * The index of its first message, and the index behind its last: `query.slice(turn.start, turn.end)`. If runs overlapped, messages of
   * other turns are among them.
   */
  readonly start: number;
  readonly end: number;
  readonly runId: string | undefined;
  /** The time from its first message to its last, if they have times. */
  readonly durationMs: number | undefined;
  /** The usage that providers reported, if any did, including that of subagents. */
  readonly usage: Usage | undefined;
}

/** A part of a turn: something said, or a tool call. `text` is said by the assistant. */
export type TurnItem =
  | { readonly type: "system" | "user" | "text" | "other"; readonly text: string }
  | { readonly type: "tool"; readonly call: ToolCallRecord; readonly subagents?: readonly SubagentTurn[] }
  | { readonly type: "subagent"; readonly subagent: SubagentTurn };

/** The run of a subagent, in the item of the call that started it, or as an item of its own if that call is unknown. */
export interface SubagentTurn extends Pick<Turn, "items" | "status" | "reason" | "error"> {
  readonly runId: string;
  readonly agent: string | undefined;
}

/** A list of turns that renders itself under `String()`. */
export type Timeline = Turn[];

/** Renders all turns as text. */
export function renderTimeline(turns: Timeline): string {
  return turns.length === 0 ? "No messages." : turns.map(renderTurn).join("\n\n");
}

/** Renders one turn as text: who said what, and which tools ran, in order. */
export function renderTurn(turn: Turn): string {
  const time = turn.durationMs === undefined ? "" : `, ${turn.durationMs} ms`;
  const status = turn.status === "completed" ? "" : ` (${statusLine(turn)})`;
  return [`Turn ${turn.index}${status}${time}:`, ...renderEpisode(turn, "  ")].join("\n");
}

/** The status on one line, with its reason. */
export function statusLine({ status, reason }: Pick<Turn, "status" | "reason">): string {
  return reason === undefined ? status : `${status}: ${inertLine(reason)}`;
}

const labels = { system: "System", user: "User", text: "Assistant", other: "Other" } as const;

function renderEpisode({ items, error }: Pick<Turn, "items" | "error">, indent: string): string[] {
  const lines = items.flatMap((item, place) => {
    if (item.type === "subagent") return renderSubagent(item.subagent, indent);
    if (item.type !== "tool") return [labelled(labels[item.type], item.text, indent)];
    const isFirst = items[place - 1]?.type !== "tool";
    return [...(isFirst ? [`${indent}Tools:`] : []), ...renderCall(item.call, item.subagents ?? [], `${indent}  `)];
  });
  return error === undefined ? lines : [...lines, labelled("Error", error.message, indent)];
}

function renderCall(call: ToolCallRecord, subagents: readonly SubagentTurn[], indent: string): string[] {
  const { toolName, toolCallId, inputText, resultText } = call;
  const name = `${indent}[${inertLine(toolName)}] id=${inertLine(toolCallId)}`;
  const within = `${indent}  `;
  return [
    inputText === undefined ? `${name} (result without a call)` : name,
    ...(inputText === undefined ? [] : [labelled("arguments", inputText, within)]),
    ...subagents.flatMap((subagent) => renderSubagent(subagent, within)),
    resultText === undefined ? `${within}no result` : labelled(resultLabel(call), resultText, within),
  ];
}

function renderSubagent(subagent: SubagentTurn, indent: string): string[] {
  const { agent = "unknown", status } = subagent;
  const shown = status === "completed" ? "" : ` (${statusLine(subagent)})`;
  return [`${indent}Subagent ${inertLine(agent)}${shown}:`, ...renderEpisode(subagent, `${indent}  `)];
}
