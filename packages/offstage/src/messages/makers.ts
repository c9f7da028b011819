// Makers: the short way to write a message. They add nothing that was not asked for.
import type {
  AssistantMessage,
  Content,
  MessageMetadata,
  SystemMessage,
  ToolCall,
  ToolMessage,
  UserMessage,
} from "./message.ts";

export interface MakerOptions {
  /** Ids, times and marks that travel with the message and stay out of the prompt. */
  readonly metadata?: MessageMetadata;
}

export interface AssistantOptions extends MakerOptions {
  readonly toolCalls?: readonly ToolCall[];
  /** The same, as a message calls them. */
  readonly tool_calls?: AssistantMessage["tool_calls"];
}

export interface ToolResultOptions extends MakerOptions {
  /** The tool's name; optional in the chat format, helpful to readers. */
  readonly name?: string;
  /** Marks the result as a failure. */
  readonly isError?: boolean;
}

/** A system message. */
export function system(content: Content, options: MakerOptions = {}): SystemMessage {
  return { role: "system", content, ...metadataOf(options) };
}

/** A user message. */
export function user(content: Content, options: MakerOptions = {}): UserMessage {
  return { role: "user", content, ...metadataOf(options) };
}

/** An assistant message, with tool calls if any are given. */
export function assistant(content: Content | null, options: AssistantOptions = {}): AssistantMessage {
  const toolCalls = options.toolCalls ?? options.tool_calls ?? [];
  const calls = toolCalls.length > 0 ? { tool_calls: toolCalls } : undefined;
  return { role: "assistant", content, ...calls, ...metadataOf(options) };
}

/** The result that answers one tool call. */
export function toolResult(toolCallId: string, content: Content, options: ToolResultOptions = {}): ToolMessage {
  const { name, isError, metadata } = options;
  return {
    role: "tool",
    tool_call_id: toolCallId,
    ...(name === undefined ? undefined : { name }),
    content,
    ...metadataOf(isError ? { metadata: { ...metadata, isError } } : options),
  };
}

/** One tool call; `input` is written as JSON text unless it is text already. */
export function toolCall(id: string, name: string, input: unknown = {}): ToolCall {
  const text = typeof input === "string" ? input : JSON.stringify(input);
  return { id, type: "function", function: { name, arguments: text } };
}

function metadataOf({ metadata }: MakerOptions): { readonly metadata?: MessageMetadata } | undefined {
  return metadata === undefined ? undefined : { metadata };
}
