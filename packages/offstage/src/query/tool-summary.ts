// Tool summary: one entry for each tool, with its calls, arguments and results.
import { inertLine } from "../base/inert.ts";
import type { Message } from "../messages/message.ts";
import { labelled, printing } from "./self-printing.ts";
import { recordOfOrphan, recordOfPair, type ToolCallRecord, toolPairs } from "./tool-calls.ts";

/** All calls of one tool, in order. The lists are aligned: item i of each belongs to call i. */
export interface ToolCallInfo {
  readonly toolName: string;
  readonly callCount: number;
  /** The calls that failed. Those that were rejected or interrupted did not. */
  readonly errorCount: number;
  readonly arguments: readonly unknown[];
  /** The values that the calls returned, or text. An item is undefined if its call was not answered. */
  readonly results: readonly unknown[];
  readonly toolCallIds: readonly string[];
  readonly calls: readonly ToolCallRecord[];
  /** Results that answer no call in the list. */
  readonly orphans: readonly ToolCallRecord[];
}

/** Returns the tools of a list, in the order of their first call. The list and its entries render themselves under `String()`. */
export function toolSummary(list: readonly Message[]): ToolCallInfo[] {
  const { pairs, orphans } = toolPairs(list);
  const nameOf = ({ toolName }: ToolCallRecord): string => toolName;
  const called = Map.groupBy(
    pairs.map((pair) => recordOfPair(list, pair)),
    nameOf,
  );
  const unasked = Map.groupBy(
    orphans.map((index) => recordOfOrphan(list[index] as Message)),
    nameOf,
  );
  const names = new Set([...called.keys(), ...unasked.keys()]);
  const infos = Array.from(names, (name) => infoOf(name, called.get(name) ?? [], unasked.get(name) ?? []));
  return printing(infos, () => renderToolSummary(infos));
}

function infoOf(toolName: string, calls: readonly ToolCallRecord[], orphans: readonly ToolCallRecord[]): ToolCallInfo {
  const info: ToolCallInfo = {
    toolName,
    callCount: calls.length,
    errorCount: calls.filter(({ status }) => status === "error").length,
    arguments: calls.map(({ input }) => input),
    results: calls.map(({ result }) => result),
    toolCallIds: calls.map(({ toolCallId }) => toolCallId),
    calls,
    orphans,
  };
  return printing(info, () => renderTool(info));
}

/** Renders all tools as text. */
export function renderToolSummary(infos: readonly ToolCallInfo[]): string {
  return infos.length === 0 ? "No tool calls." : infos.map(renderTool).join("\n");
}

function renderTool({ toolName, callCount, errorCount, calls, orphans }: ToolCallInfo): string {
  const errors = errorCount === 0 ? "" : `, ${errorCount} failed`;
  return [
    `Tool: ${inertLine(toolName)} (called ${callCount === 1 ? "once" : `${callCount} times`}${errors})`,
    ...calls.flatMap(renderCall),
    ...orphans.map((orphan) =>
      labelled(`[${inertLine(orphan.toolCallId)}] result without a call`, orphan.resultText ?? ""),
    ),
  ].join("\n");
}

/** The word before a result: "result", or how the call ended otherwise. */
export function resultLabel({ status }: ToolCallRecord): string {
  return status === undefined || status === "ok" ? "result" : status;
}

function renderCall(call: ToolCallRecord): string[] {
  const time = call.durationMs === undefined ? "" : ` ${call.durationMs} ms`;
  return [
    `  [${inertLine(call.toolCallId)}]${time}`,
    labelled("arguments", call.inputText ?? "", "    "),
    call.resultText === undefined ? "    no result" : labelled(resultLabel(call), call.resultText, "    "),
  ];
}
