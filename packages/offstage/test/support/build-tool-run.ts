// Runs one tool without an agent.
import { Cancellation } from "../../src/base/cancellation.ts";
import { AgentContext } from "../../src/state/agent-context.ts";
import type { StepToolCall, ToolResult } from "../../src/state/step.ts";
import { callQuestions } from "../../src/tools/ask.ts";
import type { CallSite } from "../../src/tools/run-tool.ts";
import { runTool } from "../../src/tools/run-tool.ts";
import { splitTools, type Tool, type ToolOptions, tool } from "../../src/tools/tool.ts";
import type { ToolWaiting } from "../../src/tools/tool-answer.ts";

type AnyOptions = Partial<ToolOptions<Record<string, unknown>, Record<string, unknown>>>;

/** A tool named "search" that accepts anything and returns "found", by default. */
export function buildTool(options: AnyOptions = {}): Tool {
  return tool({ name: "search", input: {}, execute: () => "found", ...options });
}

/** A call of that tool. */
export function buildCall(changes: Partial<StepToolCall> = {}): StepToolCall {
  return { toolCallId: "c1", toolName: "search", inputText: "{}", ...changes };
}

export interface BuildRunOptions extends Partial<Omit<CallSite, "tools" | "about">> {
  readonly call?: Partial<StepToolCall>;
  readonly tools?: readonly Tool[];
}

/** Runs one call with every approval given and returns its result. Throws if it waits nevertheless. */
export async function runBuilt(options: BuildRunOptions = {}): Promise<ToolResult> {
  const { call, tools = [buildTool()], cancellation = new Cancellation() } = options;
  const { promise: waiting, resolve: wait } = Promise.withResolvers<ToolWaiting>();
  const questions = callQuestions({ answers: [], recorded: (text) => text, answer: async () => undefined, wait });
  const about: CallSite["about"] = (own) => ({
    get signal() {
      return own.signal;
    },
    context: new AgentContext(),
    toolCallId: call?.toolCallId ?? "c1",
    runId: "run-1",
    step: 1,
    agent: "agent",
    ask: questions.ask,
    asked: [],
    progress: () => undefined,
  });
  const { askedMs } = questions;
  const onWait: CallSite["onWait"] = (listener) => void waiting.then(listener);
  const run = { permit: async () => "run", started: () => undefined, guard: undefined, onWait, askedMs, ...options };
  const site = { ...run, tools: splitTools(tools).tools, cancellation, about } as CallSite;
  const result = await runTool(buildCall(call), site);
  if (!("output" in result)) throw new Error("The call waits.");
  return result;
}

/** Returns the result of a tool that returns `value`. */
export function givenBack(value: unknown, options: AnyOptions = {}): Promise<ToolResult> {
  return runBuilt({ tools: [buildTool({ ...options, execute: () => value })] });
}
