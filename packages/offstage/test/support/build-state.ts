// Builders of steps and states with good defaults, so that a test states only what matters to it.
import { assistant, toolCall, toolResult } from "../../src/messages/makers.ts";
import { AgentState } from "../../src/state/agent-state.ts";
import type { Step, ToolResult } from "../../src/state/step.ts";
import { noUsage, type Usage } from "../../src/tokens/usage.ts";

/** A step that answers, by default. */
export function buildStep(changes: Partial<Step> = {}): Step {
  const text = changes.text ?? "the answer";
  return {
    index: 1,
    messages: [assistant(text)],
    text,
    toolCalls: [],
    toolResults: [],
    isAnswer: true,
    finishReason: "stop",
    usage: noUsage,
    modelId: "scripted",
    startedAt: "2026-01-01T00:00:00.000Z",
    durationMs: 5,
    ...changes,
  };
}

export interface BuildCallOptions {
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly text?: string;
  readonly isError?: boolean;
}

/** A step that called tools, one call per entry. */
export function buildToolStep(calls: readonly BuildCallOptions[] = [{}], changes: Partial<Step> = {}): Step {
  const made = calls.map(({ id, name = "search", input = {}, isError = false }, i) => {
    const call = { toolCallId: id ?? `c${i + 1}`, toolName: name, inputText: JSON.stringify(input) };
    const content = isError ? "it failed" : "found";
    const result: ToolResult = {
      toolCallId: call.toolCallId,
      toolName: name,
      output: content,
      content,
      isError,
      durationMs: 1,
    };
    return { call, result, message: toolResult(call.toolCallId, content, { name, isError }) };
  });
  const text = calls[0]?.text ?? "";
  const toolCalls = made.map(({ call }) => toolCall(call.toolCallId, call.toolName, call.inputText));
  return buildStep({
    messages: [assistant(text === "" ? null : text, { toolCalls }), ...made.map(({ message }) => message)],
    text,
    toolCalls: made.map(({ call }) => call),
    toolResults: made.map(({ result }) => result),
    isAnswer: false,
    finishReason: "tool-calls",
    ...changes,
  });
}

export interface BuildStateOptions {
  readonly steps?: readonly Step[];
  readonly usageByModel?: Readonly<Record<string, Usage>>;
  readonly startedAt?: number;
}

/** A state with one user message and these steps. */
export function buildState(options: BuildStateOptions = {}): AgentState {
  const { steps = [], usageByModel = {}, startedAt = Date.now() } = options;
  const started = AgentState.empty().withUserMessage("hi").withRun({ runId: "run-1", startedAt });
  return steps.reduce((state, step, i) => state.withStep({ ...step, index: i + 1 }, usageByModel), started);
}

/** A usage with these token counts. */
export function buildUsage(inputTokens: number, outputTokens = 0): Usage {
  return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
}
