// Subagents: an agent as a tool of another. The parent sees one result; depth, budget, abort, usage and context reach through.
import { messageOf } from "../../errors.ts";
import type { WaitingCall } from "../../state/pending-step.ts";
import type { ToolRunOptions } from "../../tools/tool.ts";
import type { TraceSpan } from "../../tracing/trace-span.ts";
import type { Run } from "./run.ts";

/** How a tool that is a subagent finds the run that called it. */
export const callerKey: unique symbol = Symbol("offstage.caller");

/** The call a subagent answers. */
export interface CallingTool {
  readonly run: Run;
  readonly step: number;
  readonly span: TraceSpan;
  readonly toolCallId: string;
  /** What is known of it, where it waited; the subagent's run to take up again is in it. */
  readonly before: WaitingCall | undefined;
}

/** The call that runs this tool; undefined where the tool is executed by hand. */
export function callerOf(options: ToolRunOptions): CallingTool | undefined {
  return (options as { readonly [callerKey]?: CallingTool })[callerKey];
}

/** What the parent's model reads of an answer. */
export function answerText(name: string, answer: string): string {
  return `[Subagent: ${name}] ${answer}`;
}

/** What the parent's model reads of a failure. */
export function failureText(name: string, reason: unknown): string {
  return `[Subagent: ${name}] Failed: ${typeof reason === "string" ? reason : messageOf(reason)}`;
}
