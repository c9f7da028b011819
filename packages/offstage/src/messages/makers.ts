// Makers: the short way to write a message. They add nothing of their own.
import { anything, checkOptions, type OptionRule } from "../base/options.ts";
import { messageOf, OffstageError } from "../errors.ts";
import type {
  AssistantMessage,
  Content,
  ContentPart,
  MessageMetadata,
  SystemMessage,
  ToolCall,
  ToolMessage,
  UnknownPart,
  UserMessage,
} from "./message.ts";

/** Content that may hold parts of kinds Offstage does not know. */
export type AnyContent = string | readonly (ContentPart | UnknownPart)[];

export interface MakerOptions {
  /** Ids, times and marks of the message, which stay out of the prompt. */
  readonly metadata?: MessageMetadata | undefined;
}

export interface AssistantOptions extends MakerOptions {
  readonly toolCalls?: readonly ToolCall[] | undefined;
  /** The same, under the name it has in a message. */
  readonly tool_calls?: AssistantMessage["tool_calls"] | undefined;
}

export interface ToolResultOptions extends MakerOptions {
  /** The tool's name: optional in the chat format, helpful to readers. */
  readonly name?: string | undefined;
  /** Marks the result as a failure. */
  readonly isError?: boolean | undefined;
}

const makerRules: Readonly<Record<keyof MakerOptions, OptionRule>> = { metadata: anything };
const assistantRules: Readonly<Record<keyof AssistantOptions, OptionRule>> = {
  ...makerRules,
  toolCalls: anything,
  tool_calls: anything,
};
const resultRules: Readonly<Record<keyof ToolResultOptions, OptionRule>> = {
  ...makerRules,
  name: anything,
  isError: anything,
};

/** A system message. */
export function system(content: AnyContent, options: MakerOptions = {}): SystemMessage {
  checkOptions(options, makerRules, "system message");
  return { role: "system", content: content as Content, ...metadataOf(options) };
}

/** A user message. */
export function user(content: AnyContent, options: MakerOptions = {}): UserMessage {
  checkOptions(options, makerRules, "user message");
  return { role: "user", content: content as Content, ...metadataOf(options) };
}

/** An assistant message, with tool calls if any are given. */
export function assistant(content: AnyContent | null, options: AssistantOptions = {}): AssistantMessage {
  checkOptions(options, assistantRules, "assistant message");
  const toolCalls = options.toolCalls ?? options.tool_calls ?? [];
  const calls = toolCalls.length > 0 ? { tool_calls: toolCalls } : undefined;
  return { role: "assistant", content: content as Content | null, ...calls, ...metadataOf(options) };
}

/** The result that answers one tool call. */
export function toolResult(toolCallId: string, content: AnyContent, options: ToolResultOptions = {}): ToolMessage {
  checkOptions(options, resultRules, "tool result");
  const { name, isError, metadata } = options;
  return {
    role: "tool",
    tool_call_id: toolCallId,
    ...(name === undefined ? undefined : { name }),
    content: content as Content,
    ...metadataOf(isError ? { metadata: { ...metadata, isError } } : options),
  };
}

/** One tool call. `input` is written as JSON text unless it is text already. */
export function toolCall(id: string, name: string, input: unknown = {}): ToolCall {
  return {
    id,
    type: "function",
    function: { name, arguments: typeof input === "string" ? input : jsonOf(input, name) },
  };
}

function jsonOf(input: unknown, name: string): string {
  try {
    return JSON.stringify(input) ?? "{}";
  } catch (cause) {
    const sentence = `The input of the call of "${name}" cannot be written as JSON: ${messageOf(cause)}.`;
    throw new OffstageError("invalid-argument", sentence, { cause });
  }
}

function metadataOf({ metadata }: MakerOptions): { readonly metadata?: MessageMetadata } | undefined {
  return metadata === undefined ? undefined : { metadata };
}
