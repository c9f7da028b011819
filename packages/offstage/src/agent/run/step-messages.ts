// From a reply to messages: ids that can be trusted, arguments that parse, names a provider takes. Raw text stays on the step.
import { isoNow } from "../../base/clock.ts";
import { isObject, type JsonObject, type JsonValue, parseArguments, setField } from "../../base/json.ts";
import type { Mutable } from "../../base/mutable.ts";
import { user } from "../../messages/makers.ts";
import type { AssistantMessage, Message, ToolCall, ToolMessage, UserMessage } from "../../messages/message.ts";
import type { ModelReply, RequestedCall } from "../../models/reply.ts";
import type { StepToolCall, ToolResult } from "../../state/step.ts";
import type { Usage } from "../../tokens/usage.ts";
import type { TraceSpan } from "../../tracing/trace-span.ts";
import type { Reading } from "../ports/driver.ts";
import { linkSpan, messageId, nextMessageId, type Run, type Stamp, stamp } from "./run.ts";

/** The calls with an id of their own each: a provider's id is kept unless it is empty or was used before. */
export function identifyCalls(run: Run, calls: readonly RequestedCall[]): readonly StepToolCall[] {
  const used = calls.length > 1 ? new Set<string>() : undefined;
  return calls.map(({ toolCallId: given, toolName, inputText }) => {
    const isFresh = given !== "" && !used?.has(given) && !run.modelInput.usesCallId(given);
    const toolCallId = isFresh ? given : `call_${crypto.randomUUID()}`;
    used?.add(toolCallId);
    return { toolCallId, toolName, inputText };
  });
}

export interface ReplyParts {
  readonly reading: Reading;
  readonly reply: ModelReply;
  readonly calls: readonly StepToolCall[];
  readonly stamped: Stamp;
}

/** What the message of a reply carries. One literal, for the most part: V8 gives an object that grows later more room. */
export function replyStamp(run: Run, { usage }: ModelReply, { step, span }: { step: number; span: TraceSpan }): Stamp {
  const { runId, config } = run;
  const metadata: Stamp = {
    id: nextMessageId(run),
    createdAt: isoNow(),
    runId,
    step,
    agent: config.name,
    usage: usage as Usage & JsonObject,
  };
  if (run.isTraced) linkSpan(metadata, span);
  return metadata;
}

/** The assistant message of a reply. */
export function replyMessage(run: Run, { reading, reply, calls, stamped: metadata }: ReplyParts): AssistantMessage {
  if (reply.parts !== undefined) metadata.providerParts = reply.parts;
  if (calls.length === 0 && reply.finishReason === "length") metadata.interrupted = true;
  if (calls.length === 0) return answerMessage(run, reading.text, metadata);
  const tool_calls = calls.map((call) => storedCall(run, call));
  const inputTexts = inputTextsOf(calls, tool_calls);
  if (inputTexts !== undefined) metadata.inputTexts = inputTexts;
  return { role: "assistant", content: reading.text === "" ? null : reading.text, tool_calls, metadata };
}

// Frozen, so that a session may keep it as it is; a provider's own parts are not for keeping.
function answerMessage(run: Run, content: string, metadata: Stamp): AssistantMessage {
  const message: AssistantMessage = { role: "assistant", content, metadata };
  if (metadata.providerParts !== undefined) return message;
  Object.freeze(metadata.usage);
  Object.freeze(metadata);
  run.frozenAnswer = Object.freeze(message);
  return message;
}

/** How much is kept of arguments that cannot be stored as they are. */
export const rawLength = 2000;

// What the model wrote, where it is not what is stored.
function inputTextsOf(calls: readonly StepToolCall[], stored: readonly ToolCall[]): JsonObject | undefined {
  let raw: Record<string, string> | undefined;
  for (let i = 0; i < calls.length; i++) {
    const call = calls[i] as StepToolCall;
    if (stored[i]?.function.arguments === call.inputText) continue;
    raw ??= {};
    setField(raw, call.toolCallId, call.inputText.slice(0, rawLength));
  }
  return raw;
}

function storedCall(run: Run, { toolCallId, toolName, inputText }: StepToolCall): ToolCall {
  const input = parseArguments(inputText);
  const isFit = isObject(input);
  const stored: ToolCall = {
    id: toolCallId,
    type: "function",
    function: { name: storedName(run, toolName), arguments: isFit ? inputText : "{}" },
  };
  run.modelInput.trust(stored, isFit ? (input as JsonValue) : {});
  return stored;
}

const validName = /^[A-Za-z0-9_-]{1,64}$/;

function storedName({ config }: Run, name: string): string {
  // That of a tool was checked when it was made.
  if (config.tools.has(name)) return name;
  return validName.test(name) ? name : name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unknown_tool";
}

interface ResultPlace {
  readonly step: number;
  readonly span: TraceSpan;
  readonly number: number;
}

/** The tool message of a result. */
export function resultMessage(run: Run, result: ToolResult, { step, span, number }: ResultPlace): ToolMessage {
  const { runId, config } = run;
  const metadata: Stamp = {
    id: messageId(run, number),
    createdAt: isoNow(),
    runId,
    step,
    agent: config.name,
    durationMs: Math.round(result.durationMs * 1000) / 1000,
  };
  if (run.isTraced) linkSpan(metadata, span);
  if (result.isError) metadata.isError = true;
  if (typeof result.output !== "string") metadata.isJson = true;
  if (result.childRunId !== undefined) metadata.childRunId = result.childRunId;
  const { toolCallId, toolName, content } = result;
  return { role: "tool", tool_call_id: toolCallId, name: storedName(run, toolName), content, metadata };
}

/** What the model is told by us: a correction, or a critic's feedback. */
export function noteMessage(run: Run, text: string, step: number): UserMessage {
  return user(text, { metadata: { ...stamp(run, step), isNote: true } });
}

/** New input as it joins the conversation: stamped, its own metadata kept, and safe from those who are shown it. */
export function stampInput(run: Run, messages: readonly Message[]): Message[] {
  return messages.map((message) => {
    // Written to afterwards: what follows a spread in a literal is set the slow way.
    const metadata: Stamp = { ...stamp(run), ...message.metadata };
    metadata.runId = run.runId;
    const stamped: Mutable<Message> = { ...message };
    stamped.metadata = Object.freeze(metadata);
    return Object.freeze(stamped);
  });
}
