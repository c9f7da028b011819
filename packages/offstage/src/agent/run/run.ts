// A run while it happens: nine fields, shared by every part of the loop; and the link from a tool call to the subagent's run that
// answers it. Private to the agent room.
import type { AgentState } from "../../state/agent-state.ts";
import type { WaitingCall } from "../../state/pending-step.ts";
import type { Tool, ToolRunOptions } from "../../tools/tool.ts";
import type { TraceSpan } from "../../tracing/trace-span.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { Recorder } from "./recorder.ts";
import type { Draft, PromptParts, RunLimits, RunRequest, RunScope } from "./run-parts.ts";

export interface Run {
  readonly identity: RunIdentity;
  readonly agent: AgentConfig;
  /** The run as it was asked for. Frozen. */
  readonly request: RunRequest;
  readonly scope: RunScope;
  readonly limits: RunLimits;
  /** Turns the state into a prompt: see input/. */
  readonly input: PromptParts;
  /** Writes to the journal, the listeners, the spans and the agent's own list. */
  readonly record: Recorder;
  /** The step under way. */
  readonly draft: Draft;
  /** The newest state. Assigned in the loop and nowhere else. */
  state: AgentState;
}

export interface RunIdentity {
  readonly runId: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** The run whose tool call this run answers; undefined unless it is a subagent's. */
  readonly parent: Run | undefined;
  readonly parentToolCallId: string | undefined;
  /** 0 for a run that is not a subagent's. */
  readonly depth: number;
}

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
