// The message: one utterance in OpenAI chat form, plain readonly JSON. Types, guards and readers; no behaviour.
import type { JsonValue } from "../base/json.ts";

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

export interface ImagePart {
  readonly type: "image_url";
  readonly image_url: { readonly url: string; readonly detail?: string };
}

export interface AudioPart {
  readonly type: "input_audio";
  readonly input_audio: { readonly data: string; readonly format: string };
}

export interface FilePart {
  readonly type: "file";
  readonly file: { readonly file_data?: string; readonly file_id?: string; readonly filename?: string };
}

/** A part of a kind we do not know is kept as it is. */
export interface OtherPart {
  readonly type: string;
  readonly [key: string]: unknown;
}

export type ContentPart = TextPart | ImagePart | AudioPart | FilePart | OtherPart;
export type Content = string | readonly ContentPart[];

export interface ToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: {
    readonly name: string;
    /** JSON text, as the model wrote it. */
    readonly arguments: string;
  };
}

/** What a message carries beside its words. JSON; never sent to a provider except `providerParts`. */
export interface MessageMetadata {
  readonly id?: string;
  /** ISO 8601. */
  readonly createdAt?: string;
  readonly runId?: string;
  /** The step of the run that produced it, from 1. */
  readonly step?: number;
  readonly agent?: string;
  /** On a tool result: the tool failed. */
  readonly isError?: boolean;
  /** On a tool result: the tool gave a value, of which the content is the JSON text. */
  readonly isJson?: boolean;
  /** The text is partial: a limit or an abort cut it. */
  readonly interrupted?: boolean;
  readonly usage?: JsonValue;
  /** On a reply that was kept by a store that redacts: the places, from 0, of the calls it changed. */
  readonly redactedCalls?: readonly number[];
  /** What `repairMessages` changed, on the outgoing copy only. */
  readonly repaired?: string;
  /** The model's own content parts, in order, where they hold more than text and calls (reasoning, signatures). */
  readonly providerParts?: readonly JsonValue[];
  readonly [key: string]: unknown;
}

interface Common {
  readonly name?: string;
  readonly metadata?: MessageMetadata;
}

export interface SystemMessage extends Common {
  readonly role: "system";
  readonly content: Content;
}

export interface UserMessage extends Common {
  readonly role: "user";
  readonly content: Content;
}

export interface AssistantMessage extends Common {
  readonly role: "assistant";
  readonly content?: Content | null;
  readonly tool_calls?: readonly ToolCall[] | null;
}

export interface ToolMessage extends Common {
  readonly role: "tool";
  readonly tool_call_id: string;
  readonly content: Content;
}

export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;
export type Role = Message["role"];

/** The calls of a message; empty where there are none, whatever form their absence takes. */
export function toolCallsOf(message: Message): readonly ToolCall[] {
  const calls = (message as AssistantMessage).tool_calls;
  return message.role === "assistant" && Array.isArray(calls) ? calls : [];
}

/** The text of a message: a string as it is, the text parts of a list joined, "" for none. */
export function textOf(message: { readonly content?: unknown }): string {
  const { content } = message;
  return typeof content === "string" ? content : textOfParts(content);
}

function textOfParts(content: unknown): string {
  if (!Array.isArray(content)) return "";
  let text = "";
  for (const part of content) text += textOfPart(part);
  return text;
}

function textOfPart(part: unknown): string {
  if (typeof part === "string") return part;
  if (typeof part !== "object" || part === null) return "";
  const { text, refusal } = part as { text?: unknown; refusal?: unknown };
  if (typeof text === "string") return text;
  return typeof refusal === "string" ? refusal : "";
}

/** The message as it is remembered: without the model's own parts, whose signatures serve within a run only. */
export function withoutProviderParts<M extends Message>(message: M): M {
  const { metadata } = message;
  return metadata?.providerParts === undefined ? message : { ...message, metadata: withoutParts(metadata) };
}

function withoutParts({ providerParts: _, ...metadata }: MessageMetadata): MessageMetadata {
  return metadata;
}

/** The message with further metadata; what it had is kept unless it is named again. */
export function withMetadata<M extends Message>(message: M, metadata: MessageMetadata): M {
  return { ...message, metadata: { ...message.metadata, ...metadata } };
}
