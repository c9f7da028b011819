// Codec: checks that a value is a message, and names the message and the field that are wrong. Unknown fields are kept.
import { isObject } from "../base/json.ts";
import { checkOptions, someText } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { Message } from "./message.ts";

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
