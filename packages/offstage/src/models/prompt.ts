// Converts messages into a provider's prompt form, and a prompt back into messages. model-input.ts builds the list.

import { isObject, type JsonValue, parseArguments } from "../base/json.ts";
import {
  type AssistantMessage,
  type Content,
  type ContentPart,
  type Message,
  type ToolCall,
  type ToolMessage,
  textOf,
  toolCallsOf,
} from "../messages/message.ts";
import { contentParts, resultParts } from "./content-parts.ts";
import type { PromptFile, PromptMessage, PromptText, PromptToolCall } from "./model.ts";
import type { ProviderData } from "./model-settings.ts";
import type { OutgoingMessage } from "./outgoing-prompt.ts";

type InputOf = (call: ToolCall) => JsonValue | undefined;
type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];

/**
 * Turns one message into its prompt form. `toolName` returns the tool that a result came from; `inputOf` returns the parsed
 * arguments of a call if they are known already.
 */
export type ToPrompt = (message: Message, toolName: (callId: string) => string, inputOf?: InputOf) => PromptMessage;

export interface PromptFormsOptions {
  /** Converts each message. */
  readonly toPrompt: ToPrompt;
  /** The arguments of calls that are parsed already. */
  readonly inputs: ReadonlyMap<ToolCall, JsonValue>;
}

/** The prompt forms of messages in which each result follows its call, with the provider options that the messages carry. */
export function promptForms(
  messages: readonly Message[],
  { toPrompt, inputs }: PromptFormsOptions,
): readonly OutgoingMessage[] {
  let names: ReadonlyMap<string, string> | undefined;
  const toolName = (callId: string) => {
    names ??= new Map(messages.flatMap(toolCallsOf).map((call) => [call.id, call.function.name]));
    return names.get(callId) ?? "unknown_tool";
  };
  const inputOf = (call: ToolCall) => inputs.get(call);
  return messages.map((source) => ({
    prompt: withOptions(toPrompt(source, toolName, inputOf), source),
    source,
  }));
}

function withOptions(prompt: PromptMessage, { metadata }: Message): PromptMessage {
  const options = metadata?.providerOptions;
  if (options === undefined || !isObject(options) || !Object.values(options).every(isObject)) return prompt;
  return { ...prompt, providerOptions: options as ProviderData };
}

/** The prompt form of a message. `toolName` is called only for a tool result that does not name its tool. */
export const promptMessage: ToPrompt = (message, toolName, inputOf) => {
  switch (message.role) {
    case "system":
      return { role: "system", content: textOf(message) };
    case "user":
      return { role: "user", content: partsOf(message.content) };
    case "assistant":
      return { role: "assistant", content: assistantParts(message, inputOf) };
    case "tool": {
      const { tool_call_id: toolCallId, name = toolName(toolCallId) } = message;
      return {
        role: "tool",
        content: [{ type: "tool-result", toolCallId, toolName: name, output: toolOutput(message) }],
      };
    }
  }
};

function partsOf(content: Content): (PromptText | PromptFile)[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : contentParts(content);
}

function toolOutput(message: ToolMessage) {
  const { content, metadata } = message;
  if (typeof content !== "string") return { type: "content" as const, value: resultParts(content) };
  return { type: metadata?.isError ? ("error-text" as const) : ("text" as const), value: content };
}

// Sends the model's own parts back as they were, so that reasoning keeps its signatures and its place.
function assistantParts(message: AssistantMessage, inputOf?: InputOf): AssistantPart[] {
  const { content, tool_calls, metadata } = message;
  const own = metadata?.providerParts;
  const calls = (tool_calls ?? []).map((call) => callPart(call, inputOf));
  const isOwn = Array.isArray(own) && own.every(isObject) && matches(own, message, calls.length);
  const parts = isOwn ? replay(own, calls) : [...(content ? partsOf(content) : []), ...calls];
  return parts.filter(isWorthSending);
}

// Models write blank text beside their calls, and providers refuse to read it back.
function isWorthSending(part: AssistantPart): boolean {
  return part.type !== "text" || part.providerOptions !== undefined || part.text.trim() !== "";
}

function callPart(call: ToolCall, inputOf?: InputOf): PromptToolCall {
  const input = inputOf?.(call) ?? parseArguments(call.function.arguments) ?? {};
  return { type: "tool-call", toolCallId: call.id, toolName: call.function.name, input };
}

type OwnPart = Record<string, unknown>;

// Parts replace the message only while both have the same text and calls: an edited message is sent as edited.
function matches(parts: readonly unknown[], message: AssistantMessage, callCount: number): boolean {
  let text = "";
  let count = 0;
  for (const part of parts as readonly OwnPart[]) {
    if (part.type === "text") text += part.text;
    if (part.type === "tool-call" && part.providerExecuted !== true) count++;
  }
  return count === callCount && text === textOf(message);
}

function replay(parts: readonly unknown[], calls: readonly PromptToolCall[]): AssistantPart[] {
  let next = 0;
  return (parts as readonly OwnPart[]).flatMap((part): AssistantPart[] => {
    const { providerMetadata, ...rest } = part;
    const options = providerMetadata === undefined ? undefined : { providerOptions: providerMetadata as ProviderData };
    if (part.type === "tool-call" && part.providerExecuted !== true) {
      return [{ ...(calls[next++] as PromptToolCall), ...options }];
    }
    if (!replayed.has(part.type as string)) return [];
    return [{ ...promptForm(rest), ...options } as unknown as AssistantPart];
  });
}

// Results of a provider's own tools have one form in replies and another in prompts.
function promptForm(part: OwnPart): OwnPart {
  const { result, isError, ...rest } = part;
  if (part.type === "tool-call") return { ...part, input: parseArguments(String(part.input)) ?? {} };
  return part.type === "tool-result"
    ? { ...rest, output: { type: isError === true ? "error-json" : "json", value: result ?? null } }
    : part;
}

const replayed = new Set(["text", "reasoning", "reasoning-file", "file", "custom", "tool-call", "tool-result"]);

/** The messages of a prompt. */
export function promptMessages(prompt: readonly PromptMessage[]): Message[] {
  return prompt.flatMap(messagesOf);
}

function messagesOf(message: PromptMessage): Message[] {
  switch (message.role) {
    case "system":
      return [{ role: "system", content: message.content }];
    case "user":
      return [{ role: "user", content: contentOf(message.content) }];
    case "assistant":
      return [assistantOf(message.content)];
    case "tool":
      return message.content.map((part) => ({
        role: "tool" as const,
        tool_call_id: part.toolCallId,
        name: part.toolName,
        content: typeof part.output.value === "string" ? part.output.value : contentOf(part.output.value),
        ...(part.output.type === "error-text" ? { metadata: { isError: true } } : undefined),
      }));
    default:
      return [message as unknown as Message];
  }
}

function assistantOf(parts: readonly AssistantPart[]): Message {
  const content = contentOf(parts.filter((part) => part.type === "text" || part.type === "file"));
  const calls = parts.flatMap((part): ToolCall[] => {
    if (part.type !== "tool-call" || (part as { providerExecuted?: boolean }).providerExecuted) return [];
    const { toolCallId: id, toolName: name, input } = part;
    return [{ id, type: "function", function: { name, arguments: JSON.stringify(input) } }];
  });
  return {
    role: "assistant",
    content: content === "" && calls.length > 0 ? null : content,
    ...(calls.length > 0 ? { tool_calls: calls } : undefined),
  };
}

function contentOf(parts: readonly (PromptText | PromptFile)[]): string | ContentPart[] {
  if (parts.every((part) => part.type === "text")) return parts.map((part) => part.text).join("");
  return parts.map((part) => (part.type === "text" ? { type: "text", text: part.text } : { ...part })) as ContentPart[];
}
