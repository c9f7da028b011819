// The message: one utterance in OpenAI chat form, as plain readonly JSON. Its types, its readers, and the check that a value is one.
import { isObject, type JsonValue } from "../base/json.ts";
import { checkOptions, someText } from "../base/options.ts";
import { OffstageError } from "../errors.ts";

export interface TextPart {
  readonly type: "text";
  readonly text: string;
}

export interface RefusalPart {
  readonly type: "refusal";
  readonly refusal: string;
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

/** A part of content. `part.type` narrows it to one of the known kinds. */
export type ContentPart = TextPart | RefusalPart | ImagePart | AudioPart | FilePart;

/**
 * A part of a kind that Offstage does not know. Makers accept it and messages keep it as it is. It is not a member of `ContentPart`,
 * because `type: string` would keep that union from narrowing.
 */
export interface UnknownPart {
  readonly type: string;
  readonly [key: string]: unknown;
}

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

/** JSON that a message carries beside its content. Only `providerParts` and `providerOptions` are ever sent to a provider. */
export interface MessageMetadata {
  readonly id?: string;
  /** ISO 8601. */
  readonly createdAt?: string;
  readonly runId?: string;
  /** The step of the run that produced it, from 1. */
  readonly step?: number;
  readonly agent?: string;
  /** On a message of a subagent's run: the run that called it. */
  readonly parentRunId?: string;
  /** On a tool result: the tool failed. */
  readonly isError?: boolean;
  /** On a tool result: the content is the value that the tool returned, as JSON text or as parts. */
  readonly isJson?: boolean;
  /** The text is partial: a limit or an abort cut it. */
  readonly interrupted?: boolean;
  readonly usage?: JsonValue;
  /** On a reply from a store that redacts: the indexes, from 0, of the calls that were changed. */
  readonly redactedCalls?: readonly number[];
  /** On a reply: the ids of calls whose input a person changed before approving them. */
  readonly editedCalls?: readonly string[];
  /** On a user message: it was said while the run worked, and joined it between two steps. */
  readonly isJoined?: boolean;
  /** On a tool result: a person changed the input of the call. The text starts with a note of it for the model. */
  readonly isEdited?: boolean;
  /** The field that `repairMessages` changed, on the outgoing copy only. */
  readonly repaired?: string;
  /** The model's own content parts, in order, if they hold more than text and calls (reasoning, signatures). */
  readonly providerParts?: readonly JsonValue[];
  /** Options of providers for this message, by their names, such as `{ anthropic: { cacheControl: { type: "ephemeral" } } }`. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
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

/** The calls of a message; empty if there are none, whether they are missing, null or of another role. */
export function toolCallsOf(message: Message): readonly ToolCall[] {
  const calls = (message as AssistantMessage).tool_calls;
  return message.role === "assistant" && Array.isArray(calls) ? calls : [];
}

export type ResultStatus = "ok" | "error" | "rejected" | "interrupted";

/** How the call of a tool result ended. Calls that were rejected or interrupted did not fail. */
export function resultStatus({ metadata }: Pick<Message, "metadata">): ResultStatus {
  const { status, isError, interrupted } = metadata ?? {};
  if (status === "rejected" || status === "interrupted") return status;
  if (isError !== true) return "ok";
  return interrupted === true ? "interrupted" : "error";
}

/** The text of a message: its content, or the text parts of its content joined. "" if there is no text, or no message. */
export function textOf(message: { readonly content?: unknown } | null | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map(textOfPart).join("") : "";
}

function textOfPart(part: unknown): string {
  if (typeof part === "string") return part;
  if (typeof part !== "object" || part === null) return "";
  const { text, refusal } = part as { text?: unknown; refusal?: unknown };
  if (typeof text === "string") return text;
  return typeof refusal === "string" ? refusal : "";
}

/** The message as it is stored: without the model's own parts, whose signatures are valid within their run only. */
export function withoutProviderParts<M extends Message>(message: M): M {
  const { metadata } = message;
  if (metadata?.providerParts === undefined) return message;
  const { providerParts: _, ...rest } = metadata;
  return { ...message, metadata: rest };
}

/** The reply with the input of one call replaced by a person. The model reads the new input as its own. */
export function withEditedCall(message: AssistantMessage, toolCallId: string, inputText: string): AssistantMessage {
  const calls = toolCallsOf(message);
  const place = calls.findIndex(({ id }) => id === toolCallId);
  const { editedCalls = [], redactedCalls, inputTexts, ...others } = message.metadata ?? {};
  const { [toolCallId]: _, ...written } = (inputTexts ?? {}) as Record<string, unknown>;
  const redacted = redactedCalls?.filter((each) => each !== place) ?? [];
  const metadata: MessageMetadata = {
    ...others,
    ...(Object.keys(written).length > 0 && { inputTexts: written }),
    ...(redacted.length > 0 && { redactedCalls: redacted }),
    editedCalls: [...new Set([...editedCalls, toolCallId])],
  };
  const tool_calls = calls.map((call, index) =>
    index === place ? { ...call, function: { ...call.function, arguments: inputText } } : call,
  );
  return { ...message, tool_calls, metadata };
}

const editNote = "[approved with changes] ";

/** The content of a result with the note, for the model, that a person changed the input of the call. */
export function withEditNote(content: Content): Content {
  return typeof content === "string" ? editNote + content : [{ type: "text", text: editNote.trimEnd() }, ...content];
}

/** The content of a result as the tool returned it, without that note. */
export function resultContentOf({ content, metadata }: ToolMessage): Content {
  if (metadata?.isEdited !== true) return content;
  if (typeof content === "string") return content.startsWith(editNote) ? content.slice(editNote.length) : content;
  return textOf({ content: content.slice(0, 1) }) === editNote.trimEnd() ? content.slice(1) : content;
}

/** The message with further metadata. Existing entries are kept unless they are named again. */
export function withMetadata<M extends Message>(message: M, metadata: MessageMetadata): M {
  return { ...message, metadata: { ...message.metadata, ...metadata } };
}

export interface ParseMessagesOptions {
  /** Names the list in errors: "history", "input". Default "messages". */
  readonly name?: string | undefined;
}

/** Returns the value as messages, the same objects. Throws `invalid-message`, naming the message and the field, if it is anything else. */
export function parseMessages(value: unknown, options: ParseMessagesOptions = {}): Message[] {
  checkOptions(options, { name: someText }, "parseMessages");
  const { name = "messages" } = options;
  checkList(value, name);
  return Array.from(value, (message, index) => parseMessage(message, `${name}[${index}]`));
}

/** Throws `invalid-message` unless the value is iterable and no text. Its items are not checked. */
export function checkList(value: unknown, name: string): asserts value is Iterable<unknown> {
  if (!isIterable(value)) throw invalid(name, "must be a list of messages", value);
}

/** Returns the value as one message, the same object. `name` names it in errors. */
export function parseMessage(value: unknown, name = "message"): Message {
  if (!isObject(value)) throw invalid(name, "must be an object with a role", value);
  const { role, metadata } = value;
  if (metadata !== undefined && !isObject(metadata)) throw invalid(`${name}.metadata`, "must be an object", metadata);
  const check =
    typeof role === "string" && Object.hasOwn(checks, role) ? checks[role as keyof typeof checks] : undefined;
  if (check === undefined) throw invalid(`${name}.role`, 'must be "system", "user", "assistant" or "tool"', role);
  check(value, name);
  return value as unknown as Message;
}

type Fields = Record<string, unknown>;

const checks = {
  system: (fields: Fields, name: string) => checkContent(fields.content, `${name}.content`),
  user: (fields: Fields, name: string) => checkContent(fields.content, `${name}.content`),
  assistant: checkAssistant,
  tool: checkTool,
};

function checkAssistant(fields: Fields, name: string): void {
  if (fields.content !== undefined && fields.content !== null) checkContent(fields.content, `${name}.content`);
  const calls = fields.tool_calls;
  if (calls === undefined || calls === null) return;
  if (!Array.isArray(calls)) throw invalid(`${name}.tool_calls`, "must be a list", calls);
  for (const [index, call] of calls.entries()) checkCall(call, `${name}.tool_calls[${index}]`);
}

function checkCall(call: unknown, name: string): void {
  if (!isObject(call)) throw invalid(name, "must be an object", call);
  if (typeof call.id !== "string") throw invalid(`${name}.id`, "must be text", call.id);
  const called = call.function;
  if (!isObject(called)) throw invalid(`${name}.function`, "must be an object", called);
  if (typeof called.name !== "string") throw invalid(`${name}.function.name`, "must be text", called.name);
  if (typeof called.arguments !== "string") {
    throw invalid(`${name}.function.arguments`, "must be JSON text", called.arguments);
  }
}

function checkTool(fields: Fields, name: string): void {
  const id = fields.tool_call_id;
  if (typeof id !== "string") throw invalid(`${name}.tool_call_id`, "must be text", id);
  checkContent(fields.content, `${name}.content`);
}

function checkContent(content: unknown, name: string): void {
  if (typeof content === "string") return;
  if (!Array.isArray(content)) throw invalid(name, "must be text or a list of parts", content);
  content.forEach((part, index) => {
    if (!isObject(part)) throw invalid(`${name}[${index}]`, "must be an object with a type", part);
    if (typeof part.type !== "string") throw invalid(`${name}[${index}].type`, "must be text", part.type);
    if (part.type === "text" && typeof part.text !== "string") {
      throw invalid(`${name}[${index}].text`, "must be text", part.text);
    }
  });
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}

function invalid(field: string, rule: string, found: unknown): OffstageError {
  return new OffstageError("invalid-message", `"${field}" ${rule}; found ${describe(found)}.`);
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  return typeof value === "object" ? "an object" : `${typeof value} ${String(value)}`;
}
