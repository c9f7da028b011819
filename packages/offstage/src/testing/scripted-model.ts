// The scripted model: plays a list of replies, and throws on any request that a provider would refuse. The one fake model.

import { isObject } from "../base/json.ts";
import { checkOptions, type OptionRule, someText, yesOrNo } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import type {
  Model,
  ModelCallOptions,
  ModelContent,
  ModelResult,
  ModelStreamPart,
  ModelUsage,
  PromptMessage,
  PromptToolCall,
} from "../models/model.ts";
import { promptMessages } from "../models/prompt.ts";
import { checkReturned, checkScript, type ScriptedReply, type ScriptedToolCall } from "./scripted-reply.ts";

type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];

/** One request to the model. */
export interface ScriptedRequest {
  /** The prompt as messages of Offstage. */
  readonly messages: readonly Message[];
  /** The request as the model port passes it. */
  readonly options: ModelCallOptions;
  /** The number of the request, from 0. */
  readonly index: number;
}

type Reply = string | ScriptedReply | Error;

/** Text, a reply, an error to throw, or a function of the request that returns one of these. */
export type ScriptEntry = Reply | ((request: ScriptedRequest) => Reply | Promise<Reply>);

export interface ScriptedModelOptions {
  /** Keep the requests. Default true. */
  readonly record?: boolean | undefined;
  /** Default "scripted". */
  readonly modelId?: string | undefined;
  /** Default "offstage". */
  readonly provider?: string | undefined;
}

const rules: Readonly<Record<keyof ScriptedModelOptions, OptionRule>> = {
  record: yesOrNo,
  modelId: someText,
  provider: someText,
};

export interface ScriptedModel extends Model {
  /** The requests in order; empty with `record: false`. */
  readonly requests: readonly ScriptedRequest[];
  /** The number of requests, recorded or not. */
  readonly callCount: number;
}

/**
 * A model that plays these replies in order, streamed word by word. Throws `invalid-argument` if an entry is no reply. A request
 * beyond the last entry fails with `script-exhausted`.
 */
export function scriptedModel(
  script: readonly ScriptEntry[] | ((request: ScriptedRequest) => Reply | Promise<Reply>),
  options: ScriptedModelOptions = {},
): ScriptedModel {
  checkOptions(options, rules, "scriptedModel()");
  checkScript(script);
  const { record = true, modelId = "scripted", provider = "offstage" } = options;
  const requests: ScriptedRequest[] = [];
  let callCount = 0;
  const play = async (call: ModelCallOptions): Promise<ModelResult> => {
    const index = callCount++;
    call.abortSignal?.throwIfAborted();
    checkRequest(call.prompt, index);
    const request = requestOf(call, index);
    if (record) requests.push(request);
    return resultOf(await replyFor(script, request), `${index}`);
  };
  return {
    specificationVersion: "v4",
    provider,
    modelId,
    requests,
    get callCount() {
      return callCount;
    },
    doGenerate: play,
    doStream: async (call) => ({ stream: streamOf(await play(call), call.abortSignal) }),
  };
}

// The messages are made when they are read: few requests are ever looked at. A prompt may be valid for its call only, so it is copied.
function requestOf(options: ModelCallOptions, index: number): ScriptedRequest {
  const prompt = [...options.prompt];
  let messages: readonly Message[] | undefined;
  return {
    get messages() {
      messages ??= promptMessages(prompt);
      return messages;
    },
    options,
    index,
  };
}

async function replyFor(script: Parameters<typeof scriptedModel>[0], request: ScriptedRequest): Promise<ScriptedReply> {
  if (typeof script !== "function" && request.index >= script.length) {
    throw new OffstageError(
      "script-exhausted",
      `The model was called ${request.index + 1} times and its script has ${script.length} ${script.length === 1 ? "entry" : "entries"}. Add a reply, or stop the run earlier.`,
    );
  }
  const entry = typeof script === "function" ? script : (script[request.index] as ScriptEntry);
  const reply = typeof entry === "function" ? await entry(request) : entry;
  if (typeof entry === "function") checkReturned(reply, request.index);
  if (reply instanceof Error) throw reply;
  return typeof reply === "string" ? { text: reply } : reply;
}

function checkRequest(prompt: readonly PromptMessage[], index: number): void {
  if (prompt.length === 0) throw violation(index, "it has no messages");
  if (isPaired(prompt)) return;
  const outline = prompt.flatMap(outlineOf).join(", ");
  throw violation(index, `its tool calls and results do not pair up: ${outline}`);
}

// Every provider refuses a call without its result, a result without its call, repeated ids and empty messages. Shares no code with
// the check that the runtime makes before it sends a prompt.
function isPaired(prompt: readonly PromptMessage[]): boolean {
  const seen = new Set<string>();
  const open = new Set<string>();
  const isNewCall = ({ toolCallId: id, toolName, input }: PromptToolCall): boolean => {
    const isNew = id !== "" && toolName !== "" && isObject(input) && !seen.has(id);
    seen.add(id);
    open.add(id);
    return isNew;
  };
  const follows = (message: PromptMessage): boolean => {
    if (message.role === "tool") return message.content.every(({ toolCallId }) => open.delete(toolCallId));
    if (open.size > 0) return false;
    if (message.role !== "assistant") return true;
    const calls = callsOf(message);
    return calls.every(isNewCall) && (calls.length > 0 || message.content.some(isVisible));
  };
  return prompt.every(follows) && open.size === 0;
}

function isVisible(part: AssistantPart): boolean {
  return part.type === "file" || (part.type === "text" && part.text.trim() !== "");
}

// Without the calls that the provider runs itself.
function callsOf({ content }: { readonly content: readonly AssistantPart[] }): PromptToolCall[] {
  const calls = content.filter((part) => part.type === "tool-call");
  return calls.filter((call) => (call as { providerExecuted?: boolean }).providerExecuted !== true);
}

function outlineOf(message: PromptMessage): string[] {
  if (message.role === "tool") return message.content.map(({ toolCallId }) => `tool(${toolCallId})`);
  const calls = message.role === "assistant" ? callsOf(message) : [];
  return [calls.length === 0 ? message.role : `assistant[${calls.map((call) => call.toolCallId).join(" ")}]`];
}

function violation(index: number, why: string): OffstageError {
  return new OffstageError("script-violation", `Request ${index + 1} would be refused by a provider: ${why}.`);
}

function resultOf(reply: ScriptedReply, key: string): ModelResult {
  const { text, reasoning, toolCalls = [], usage, finishReason } = reply;
  const content: ModelContent[] = [];
  if (reasoning !== undefined) content.push({ type: "reasoning", text: reasoning });
  if (text !== undefined) content.push({ type: "text", text });
  for (const [index, call] of toolCalls.entries()) content.push(callContent(call, `call_${key}_${index}`));
  const unified = finishReason ?? (toolCalls.length > 0 ? "tool-calls" : "stop");
  return { content, finishReason: { unified, raw: undefined }, usage: usageOf(usage), warnings: [] };
}

function callContent(call: ScriptedToolCall, id: string): ModelContent {
  const input = call.arguments ?? JSON.stringify(call.input ?? {});
  return { type: "tool-call", toolCallId: call.id ?? id, toolName: call.name, input };
}

function usageOf(usage: ScriptedReply["usage"]): ModelUsage {
  const { inputTokens = 10, outputTokens = 5, ...details } = usage ?? {};
  return {
    inputTokens: { total: inputTokens, cacheRead: details.cachedInputTokens, cacheWrite: details.cacheWriteTokens },
    outputTokens: { total: outputTokens, reasoning: details.reasoningTokens },
  };
}

async function* streamOf(result: ModelResult, signal: AbortSignal | undefined): AsyncGenerator<ModelStreamPart> {
  for (const [index, part] of result.content.entries()) {
    for (const piece of piecesOf(part, `${index}`)) {
      signal?.throwIfAborted();
      yield piece;
    }
  }
  yield { type: "finish", finishReason: result.finishReason, usage: result.usage };
}

function* piecesOf(part: ModelContent, id: string): Generator<ModelStreamPart> {
  if (part.type === "tool-call") {
    const callId = part.toolCallId ?? "";
    yield { type: "tool-input-start", id: callId, toolName: part.toolName ?? "" };
    yield { type: "tool-input-delta", id: callId, delta: String(part.input) };
    yield { type: "tool-input-end", id: callId };
    yield part as ModelStreamPart;
    return;
  }
  yield { type: `${part.type}-start`, id };
  for (const word of part.text?.match(/\S+\s*|\s+/g) ?? []) yield { type: `${part.type}-delta`, id, delta: word };
  yield { type: `${part.type}-end`, id };
}
