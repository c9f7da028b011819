// From a reply to messages: call ids that are unique, arguments that parse, names a provider accepts. The raw text stays on the step.
import { isObject, type JsonObject, type JsonValue, parseArguments } from "../../base/json.ts";
import { user } from "../../messages/makers.ts";
import type { AssistantMessage, ToolCall, ToolMessage, UserMessage } from "../../messages/message.ts";
import type { ModelReply, RequestedCall } from "../../models/reply.ts";
import type { StepToolCall, ToolResult } from "../../state/step.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { Stamp } from "../run/recorder.ts";
import type { Run } from "../run/run.ts";
import type { StepPlace } from "../run/run-parts.ts";

/** Gives each call an id of its own: the provider's, unless it is empty or was used before. */
export function identifyCalls(run: Run, calls: readonly RequestedCall[]): readonly StepToolCall[] {
  const used = new Set<string>();
  return calls.map(({ toolCallId: given, toolName, inputText }) => {
    const isFresh = given !== "" && !used.has(given) && !run.input.modelInput.usesCallId(given);
    const toolCallId = isFresh ? given : `call_${crypto.randomUUID()}`;
    used.add(toolCallId);
    return { toolCallId, toolName, inputText };
  });
}

export interface ReplyParts {
  /** The text as the driver reads it. */
  readonly text: string;
  readonly reply: ModelReply;
  readonly calls: readonly StepToolCall[];
  readonly metadata: Stamp;
}

/** The assistant message of a reply. */
export function replyMessage(run: Run, { text, reply, calls, metadata }: ReplyParts): AssistantMessage {
  if (reply.parts !== undefined) metadata.providerParts = reply.parts;
  if (calls.length === 0) {
    if (reply.finishReason === "length") metadata.interrupted = true;
    return { role: "assistant", content: text, metadata };
  }
  const tool_calls = calls.map((call) => storedCall(run, call));
  const inputTexts = inputTextsOf(calls, tool_calls);
  if (inputTexts !== undefined) metadata.inputTexts = inputTexts;
  return { role: "assistant", content: text === "" ? null : text, tool_calls, metadata };
}

/** The number of characters kept of arguments that cannot be stored as they are. */
export const rawLength = 2000;

// The arguments as the model wrote them, for calls whose stored arguments differ.
function inputTextsOf(calls: readonly StepToolCall[], stored: readonly ToolCall[]): JsonObject | undefined {
  const changed = calls.filter(({ inputText }, place) => stored[place]?.function.arguments !== inputText);
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map(({ toolCallId, inputText }) => [toolCallId, inputText.slice(0, rawLength)]));
}

function storedCall(run: Run, { toolCallId, toolName, inputText }: StepToolCall): ToolCall {
  const input = parseArguments(inputText);
  const fits = isObject(input);
  const stored: ToolCall = {
    id: toolCallId,
    type: "function",
    function: { name: storedName(run.agent, toolName), arguments: fits ? inputText : "{}" },
  };
  run.input.modelInput.trust(stored, fits ? (input as JsonValue) : {});
  return stored;
}

// A name that the model made up may hold anything; a tool's own name was checked when the tool was made.
function storedName({ tools }: AgentConfig, name: string): string {
  return tools.has(name) ? name : name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unknown_tool";
}

/** The tool message of a result; `number` is its number among the run's messages. */
export function resultMessage(run: Run, result: ToolResult, at: StepPlace & { readonly number: number }): ToolMessage {
  const { toolCallId, toolName, content, output, isError, childRunId, durationMs } = result;
  const metadata: Stamp = { ...run.record.stamp(at, at.number), durationMs: Math.round(durationMs * 1000) / 1000 };
  if (isError) metadata.isError = true;
  if (typeof output !== "string") metadata.isJson = true;
  if (childRunId !== undefined) metadata.childRunId = childRunId;
  return { role: "tool", tool_call_id: toolCallId, name: storedName(run.agent, toolName), content, metadata };
}

/** A user message by which the runtime itself tells the model something: a correction, or a critic's feedback. */
export function noteMessage(run: Run, text: string, step: number): UserMessage {
  return user(text, { metadata: { ...run.record.stamp({ step }), isNote: true } });
}
