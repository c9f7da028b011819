// Pairing: is every tool call answered, by one result, right behind it? Checks a growing list, each message once.
import { isObject, parseArguments } from "../base/json.ts";
import type { Message, ToolCall } from "./message.ts";

/**
 * Remembers the calls of the messages it accepted. A list is valid for every provider when `accepts` was true for
 * all of it; once it was false the check is spent.
 */
export class PairingCheck {
  readonly #seen = new Set<string>();
  // A list: it mostly holds one id, and a set that empties is made smaller every time.
  readonly #open: string[] = [];
  readonly #trusted: ToolCall[] = [];

  /** Takes a call's form on trust, because it was made well-formed; its id and its result are still checked. */
  trust(call: ToolCall): void {
    this.#trusted.push(call);
  }

  /** True where a call already used this id. */
  hasSeen(id: string): boolean {
    return this.#seen.has(id);
  }

  /** The ids of all calls so far. */
  seenIds(): Iterable<string> {
    return this.#seen;
  }

  /** True where no call waits for its result. */
  get isClosed(): boolean {
    return this.#open.length === 0;
  }

  /** True where these messages, coming after those accepted before, leave a valid list with no open call. */
  accepts(messages: readonly Message[]): boolean {
    return messages.every((message) => this.takes(message)) && this.isClosed;
  }

  /** Takes this message; false where it may not come next. */
  takes(message: Message): boolean {
    const isText = typeof message?.content === "string" && (message.role === "tool" || message.role === "system");
    if (!isText && !isSendable(message)) return false;
    if (message.role === "tool") return takeOut(this.#open, message.tool_call_id);
    if (this.#open.length > 0) return false;
    return message.role !== "assistant" || message.tool_calls === undefined || this.#acceptsCalls(message.tool_calls);
  }

  #acceptsCalls(calls: readonly ToolCall[] | null): boolean {
    return Array.isArray(calls) && calls.length > 0 && calls.every((call) => this.#acceptsCall(call));
  }

  #acceptsCall(call: ToolCall): boolean {
    if ((!this.#takesOnTrust(call) && !isWellFormed(call)) || this.#seen.has(call.id)) return false;
    this.#seen.add(call.id);
    this.#open.push(call.id);
    return true;
  }

  // Once: what comes again is looked at.
  #takesOnTrust(call: ToolCall): boolean {
    return takeOut(this.#trusted, call);
  }
}

function takeOut<T>(list: T[], item: T): boolean {
  // Mostly there is one.
  if (list.length === 1) return list[0] === item && list.pop() === item;
  const place = list.indexOf(item);
  if (place !== -1) list.splice(place, 1);
  return place !== -1;
}

/** True where the message says something: a known role, and content (or, for an assistant, calls). */
export function isSendable(message: Message): boolean {
  if (!isObject(message)) return false;
  const { role, content } = message;
  if (role === "assistant") return hasContent(content) ? isContent(content) : isEmpty(content) && hasCalls(message);
  return (role === "system" || role === "user" || role === "tool") && isContent(content);
}

/** True where an assistant's content is more than emptiness: blank text says nothing, and providers refuse it. */
export function hasContent(content: unknown): boolean {
  if (typeof content === "string") return content.trim() !== "";
  return Array.isArray(content) && content.some((part) => isObject(part) && !isBlankText(part));
}

function isBlankText(part: Record<string, unknown>): boolean {
  return part.type === "text" && typeof part.text === "string" && part.text.trim() === "";
}

/** True for text or a list of parts. */
export function isContent(content: unknown): boolean {
  return typeof content === "string" || (Array.isArray(content) && content.every(isObject));
}

function isEmpty(content: unknown): boolean {
  return content === undefined || content === null || isContent(content);
}

/** True where a text is a JSON object that can be sent on, as every provider wants a call's arguments to be. */
export function isArgumentsText(text: unknown): boolean {
  return text === "{}" || (typeof text === "string" && isObject(parseArguments(text)));
}

function hasCalls(message: { readonly tool_calls?: unknown }): boolean {
  return Array.isArray(message.tool_calls) && message.tool_calls.length > 0;
}

function isWellFormed(call: ToolCall): boolean {
  if (!isObject(call) || call.type !== "function" || !isObject(call.function)) return false;
  const { name, arguments: text } = call.function;
  return isName(call.id) && isName(name) && isArgumentsText(text);
}

/** True for a non-empty string. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
