// The link between a tool call and the subagent's run that answers it.
import type { WaitingCall } from "../../state/pending-step.ts";
import type { Tool, ToolRunOptions } from "../../tools/tool.ts";
import type { TraceSpan } from "../../tracing/trace-span.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { Run } from "./run.ts";

/** The key of the calling tool in a tool's options. Only subagents read it. */
export const callerKey: unique symbol = Symbol("offstage.caller");

/** The call that a subagent answers. */
export interface CallingTool {
  readonly run: Run;
  readonly step: number;
  readonly span: TraceSpan;
  readonly toolCallId: string;
  /** Set if the call waited or was interrupted. Names the subagent's run to resume. */
  readonly before: WaitingCall | undefined;
}

/** The call that runs this tool; undefined if the tool is executed by hand. */
export function callerOf(options: ToolRunOptions): CallingTool | undefined {
  return (options as { readonly [callerKey]?: CallingTool })[callerKey];
}

/** The key of the agent behind a tool that `asTool()` made. */
export const subagentKey: unique symbol = Symbol("offstage.subagent");

/** The agent that a tool runs; undefined for a tool that is not a subagent. */
export function subagentOf(tool: Tool | undefined): AgentConfig | undefined {
  return (tool as { readonly [subagentKey]?: AgentConfig } | undefined)?.[subagentKey];
}
