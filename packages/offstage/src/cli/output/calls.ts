// Tool calls as lines: a mark, the tool, its input and its result, each cut to the line.
import type { RunSummary } from "../../query/run-summary.ts";
import type { ToolCallRecord } from "../../query/tool-calls.ts";
import type { Io } from "../io.ts";
import { columnsOf, fit } from "./columns.ts";
import { markOf, styleOf } from "./words.ts";

export interface ShownCall {
  readonly toolName: string;
  readonly inputText: string;
  readonly resultText?: string | undefined;
  readonly status: "ok" | "error" | "waiting" | "interrupted" | "rejected";
  /** Its duration, as text. */
  readonly took?: string | undefined;
}

/** How a call of a list of messages ended. A call without a result was interrupted if its run has ended. */
export function statusOfCall(
  { status, runId = "" }: ToolCallRecord,
  runs: ReadonlyMap<string, RunSummary>,
): ShownCall["status"] {
  const { status: ending = "waiting" } = runs.get(runId) ?? {};
  return status ?? (ending === "waiting" || ending === "running" ? "waiting" : "interrupted");
}

/** One call in two lines: the call, and its result. */
export function callLines(io: Io, call: ShownCall, indent = "    "): string[] {
  const { toolName, inputText, resultText, status, took = "" } = call;
  const room = io.width - indent.length - 2 - (took === "" ? 0 : columnsOf(took) + 2);
  const name = fit(io.inline(toolName), Math.max(8, Math.floor(room / 2)));
  const input = fit(io.inline(inputText === "{}" ? "" : inputText, room), room - columnsOf(name) - 1);
  const used = columnsOf(name) + (input === "" ? 0 : columnsOf(input) + 1);
  const time = took === "" ? "" : `${" ".repeat(Math.max(2, room - used + 2))}${io.paint("dim", took)}`;
  const mark = io.paint(styleOf(status) ?? "dim", markOf(status));
  const first = `${indent}${mark} ${io.paint("yellow", name)}${input === "" ? "" : ` ${io.paint("dim", input)}`}${time}`;
  if (resultText === undefined) return [first];
  const result = fit(io.inline(resultText, io.width), io.width - indent.length - 4);
  return [first, `${indent}  ${io.paint("dim", "→")} ${status === "error" ? io.paint("red", result) : result}`];
}
