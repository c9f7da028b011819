// Makes a step from a reply and the results of its calls. Its messages have unique call ids, arguments that parse, and names that
// providers accept; the raw text stays on the step.

import { isObject, type JsonObject, type JsonValue, parseArguments } from "../../base/json.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import { user } from "../../messages/makers.ts";
import {
  type AssistantMessage,
  type Message,
  type ToolCall,
  type ToolMessage,
  type UserMessage,
  withEditedCall,
} from "../../messages/message.ts";
import { mintCallId } from "../../models/call-names.ts";
import type { ModelReply, RequestedCall } from "../../models/reply.ts";
import type { PendingStep, WaitingCall } from "../../state/pending-step.ts";
import type { Correction, Step, StepToolCall, ToolResult } from "../../state/step.ts";
import { checkOutput } from "../config/structured-output.ts";
import type { Reading } from "../ports/driver.ts";
import type { Stamp } from "../run/recorder.ts";
import type { Run } from "../run/run.ts";
import type { StepPlace } from "../run/run-parts.ts";
import { releaseText, type StampedReply } from "./call-model.ts";

/** A finished call: its complete result, and the message that the model sees. */
export interface SettledCall {
  readonly result: ToolResult;
  readonly message: ToolMessage;
  /** The input of the call as JSON text, if a person changed it when it was about to run. */
  readonly editedInput?: string | undefined;
}

/** A call that has no result yet. */
export interface UnsettledCall {
  readonly waiting: WaitingCall;
  readonly editedInput?: string | undefined;
}

/** The calls of a step after they ran, in call order. */
export type CalledTools = readonly (SettledCall | UnsettledCall)[];

interface SortedCalls {
  readonly results: ToolResult[];
  readonly messages: ToolMessage[];
  readonly waiting: WaitingCall[];
}

function sortCalls(called: CalledTools): SortedCalls {
  const calls: SortedCalls = { results: [], messages: [], waiting: [] };
  for (const each of called) {
    if ("waiting" in each) calls.waiting.push(each.waiting);
    else {
      calls.results.push(each.result);
      calls.messages.push(each.message);
    }
  }
  return calls;
}

/** The step with the input of one call replaced by a person. The model is shown it as its own, or it would repeat the original. */
export function editCall(step: Step, { toolCallId, inputText }: CallEdit): Step {
  const [reply, ...rest] = step.messages as readonly [AssistantMessage, ...Message[]];
  const toolCalls = step.toolCalls.map((call) =>
    call.toolCallId === toolCallId ? { toolCallId, toolName: call.toolName, inputText, isEdited: true } : call,
  );
  return { ...step, toolCalls, messages: [withEditedCall(reply, toolCallId, inputText), ...rest] };
}

export interface CallEdit {
  readonly toolCallId: string;
  readonly inputText: string;
}

// The step as `onApproval` changed its calls.
function withEdits(step: Step, called: CalledTools): Step {
  let edited = step;
  for (const each of called) {
    if (each.editedInput === undefined) continue;
    const { toolCallId } = "result" in each ? each.result : each.waiting;
    edited = editCall(edited, { toolCallId, inputText: each.editedInput });
  }
  return edited;
}

/** A reply as the driver and the output schema read it. */
export interface ReadReply extends Omit<StampedReply, "metadata"> {
  readonly message: AssistantMessage;
  readonly text: string;
  readonly calls: readonly StepToolCall[];
  /** Set if the model must reply again. */
  readonly correction: Correction | undefined;
  /** True if the answer does not fit, and something was said meanwhile: the model replies to that, and not to a correction. */
  readonly isDraft?: boolean;
}

/** Reads a reply, and gives its calls unique ids. */
export function readReply(run: Run, stamped: StampedReply, { step }: StepPlace): ReadReply {
  const { metadata, ...received } = stamped;
  const { reply } = received;
  const { text, calls: requested, correction } = readWithDriver(run, reply);
  const calls = identifyCalls(run, requested);
  const message = replyMessage(run, { text, reply, calls, metadata });
  if (calls.length === 0) {
    // If the run ends during this step, this is its text, streamed or not.
    run.draft.text = text;
    return { ...received, message, text, calls, correction };
  }
  run.draft.messages = [message];
  releaseText(run, step);
  return { ...received, message, text, calls, correction: undefined };
}

/** Checks an answer against the output schema. */
export async function checkAnswer(run: Run, read: ReadReply): Promise<ReadReply> {
  const correction = read.correction ?? (await outputCorrection(run, read.text));
  if (correction === undefined) return read;
  const said = (await run.record.log?.inbox()) ?? [];
  const isDraft = said.length > 0;
  return { ...read, correction: isDraft ? undefined : correction, isDraft };
}

function readWithDriver({ agent }: Run, reply: ModelReply): Reading {
  const { driver } = agent;
  if (driver === undefined) return reply;
  try {
    return driver.read(reply);
  } catch (cause) {
    const sentence = `The driver "${driver.name}" of agent "${agent.name}" threw: ${messageOf(cause)}`;
    throw new OffstageError("run-failed", sentence, { cause });
  }
}

async function outputCorrection(run: Run, text: string): Promise<Correction | undefined> {
  const { output } = run.agent;
  if (output === undefined) return undefined;
  const checked = await checkOutput(output, text, run.scope.cancellation);
  if ("correction" in checked) return checked.correction;
  run.draft.output = checked.value;
  return undefined;
}

/** The ids of calls that cannot begin without approval. */
export function callsToApprove(run: Run, calls: readonly StepToolCall[]): string[] {
  const { tools } = run.input.setup;
  return calls
    .filter(({ toolName }) => tools.get(toolName)?.needsApproval === true)
    .map(({ toolCallId }) => toolCallId);
}

/** The step of a reply and the results of its calls so far; pending if calls still wait. */
export function stepOf(run: Run, read: ReadReply, at: StepPlace, called: CalledTools): Step | PendingStep {
  const { reply, message, text, calls, correction, isDraft = false, modelId, cost } = read;
  const { results, messages, waiting } = sortCalls(called);
  const note = correction === undefined ? [] : [noteMessage(run, correction.message, at.step)];
  const step: Step = {
    index: at.step,
    messages: [message, ...messages, ...note],
    text,
    ...(reply.reasoning !== "" && { reasoning: reply.reasoning }),
    toolCalls: calls,
    toolResults: results,
    isAnswer: calls.length === 0 && correction === undefined && !isDraft,
    ...(correction !== undefined && { correction }),
    finishReason: reply.finishReason,
    usage: reply.usage,
    ...(cost !== undefined && { cost }),
    modelId,
    startedAt: run.draft.startedAt,
    durationMs: performance.now() - run.draft.startedMs,
  };
  const edited = withEdits(step, called);
  return waiting.length === 0 ? freezeStep(edited) : { step: edited, waiting };
}

/** Freezes a step and its messages: criteria, processors and listeners get it before it is stored, and must not change it. */
export function freezeStep(step: Step): Step {
  if (Object.isFrozen(step)) return step;
  for (const message of step.messages) freezeMessage(message);
  Object.freeze(step.messages);
  Object.freeze(step.toolCalls);
  Object.freeze(step.toolResults);
  return Object.freeze(step);
}

function freezeMessage(message: Message): void {
  if (message.role === "assistant" && message.tool_calls) {
    for (const call of Object.freeze(message.tool_calls)) Object.freeze(Object.freeze(call).function);
  }
  Object.freeze(message.metadata);
  Object.freeze(message);
}

/** A pending step with further results; still pending if calls still wait. */
export function withResults({ step }: PendingStep, called: CalledTools): Step | PendingStep {
  const { results, messages, waiting } = sortCalls(called);
  const order = new Map(step.toolCalls.map(({ toolCallId }, index) => [toolCallId, index]));
  const placeOf = (id: string) => order.get(id) ?? 0;
  const [reply, ...before] = step.messages as readonly [Message, ...ToolMessage[]];
  const merged: Step = {
    ...step,
    toolResults: [...step.toolResults, ...results].sort((a, b) => placeOf(a.toolCallId) - placeOf(b.toolCallId)),
    messages: [reply, ...[...before, ...messages].sort((a, b) => placeOf(a.tool_call_id) - placeOf(b.tool_call_id))],
  };
  const edited = withEdits(merged, called);
  return waiting.length === 0 ? freezeStep(edited) : { step: edited, waiting };
}

/** Gives each call an id of its own: the provider's, unless it is empty or was used before. */
function identifyCalls(run: Run, calls: readonly RequestedCall[]): readonly StepToolCall[] {
  const used = new Set<string>();
  return calls.map(({ toolCallId: given, toolName, inputText }) => {
    const isTaken = (id: string) => id === "" || used.has(id) || run.input.modelInput.usesCallId(id);
    let toolCallId = given;
    while (isTaken(toolCallId)) toolCallId = mintCallId();
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
function replyMessage(run: Run, { text, reply, calls, metadata }: ReplyParts): AssistantMessage {
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
  const isValid = isObject(input);
  const stored: ToolCall = {
    id: toolCallId,
    type: "function",
    function: { name: storedName(run, toolName), arguments: isValid ? inputText : "{}" },
  };
  run.input.modelInput.trust(stored, isValid ? (input as JsonValue) : {});
  return stored;
}

// The model may invent any name. The names of tools were checked when the tools were created.
function storedName(run: Run, name: string): string {
  return run.input.setup.tools.has(name) ? name : name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64) || "unknown_tool";
}

export interface ResultPlace extends StepPlace {
  /** The number of the result among the run's messages. */
  readonly number: number;
  readonly result: ToolResult;
}

/** The tool message of a result. */
export function resultMessage(run: Run, { isEdited }: StepToolCall, at: ResultPlace): ToolMessage {
  const { toolCallId, toolName, content, output, isError, status, childRunId, durationMs } = at.result;
  const name = storedName(run, toolName);
  const metadata = run.record.stamp(at, at.number);
  if (isEdited) metadata.isEdited = true;
  metadata.durationMs = Math.round(durationMs * 1000) / 1000;
  if (isError) metadata.isError = true;
  if (status !== undefined) metadata.status = status;
  // The value is the content itself: JSON text, or parts.
  if (typeof output !== "string") metadata.isJson = true;
  if (childRunId !== undefined) metadata.childRunId = childRunId;
  return { role: "tool", tool_call_id: toolCallId, name, content, metadata };
}

/** A user message from the runtime to the model: a correction, or a critic's feedback. */
export function noteMessage(run: Run, text: string, step: number): UserMessage {
  return user(text, { metadata: { ...run.record.stamp({ step }), isNote: true } });
}
