// Pairing: checks that every tool call is answered by one result right behind it. Reads a growing list, each message once.
import { isObject, parseArguments } from "../base/json.ts";
import type { Message, ToolCall } from "./message.ts";

/**
 * Remembers the calls of the messages it accepted. A list is valid for every provider if `accepts` was true for all of it; once it was
 * false the check is spent.
 */
export class PairingCheck {
  readonly #seen = new Set<string>();
  readonly #open = new Set<string>();
  readonly #isTrusted: (call: ToolCall) => boolean;

  /** `isTrusted` is true for a call that is known to be well-formed. Default: none is. */
  constructor(isTrusted: (call: ToolCall) => boolean = () => false) {
    this.#isTrusted = isTrusted;
  }

  /** True if a call already used this id. */
  hasSeen(id: string): boolean {
    return this.#seen.has(id);
  }

  /** The ids of all calls so far. */
  seenIds(): Iterable<string> {
    return this.#seen;
  }

  /** True if these messages, after those accepted before, leave a valid list with no open call. */
  accepts(messages: readonly Message[]): boolean {
    return messages.every((message) => this.#acceptsNext(message)) && this.#open.size === 0;
  }

  #acceptsNext(message: Message): boolean {
    if (!isSendable(message)) return false;
    if (message.role === "tool") return this.#open.delete(message.tool_call_id);
    if (this.#open.size > 0) return false;
    return message.role !== "assistant" || message.tool_calls === undefined || this.#acceptsCalls(message.tool_calls);
  }

  #acceptsCalls(calls: readonly ToolCall[] | null): boolean {
    return Array.isArray(calls) && calls.length > 0 && calls.every((call) => this.#acceptsCall(call));
  }

  #acceptsCall(call: ToolCall): boolean {
    if (!(this.#isTrusted(call) || isWellFormed(call)) || this.#seen.has(call.id)) return false;
    this.#seen.add(call.id);
    this.#open.add(call.id);
    return true;
  }
}

/** True if a provider takes the message: it has a known role and content, or, from an assistant, calls. */
export function isSendable(message: Message): boolean {
  if (typeof message !== "object" || message === null) return false;
  const { role, content } = message;
  if (role === "assistant") return hasContent(content) ? isContent(content) : isEmpty(content) && hasCalls(message);
  return (role === "system" || role === "user" || role === "tool") && isContent(content);
}

/** True if content is more than blank text, which providers refuse from an assistant. */
export function hasContent(content: unknown): boolean {
  if (typeof content === "string") return content.trim() !== "";
  return Array.isArray(content) && content.some(isVisiblePart);
}

function isVisiblePart(part: unknown): boolean {
  if (!isObject(part)) return false;
  return part.type !== "text" || typeof part.text !== "string" || part.text.trim() !== "";
}

/** True for text or a list of parts. */
export function isContent(content: unknown): boolean {
  return typeof content === "string" || (Array.isArray(content) && content.every(isObject));
}

function isEmpty(content: unknown): boolean {
  return content === undefined || content === null || isContent(content);
}

/** True if the text is a JSON object, which every provider requires of a call's arguments. */
export function isArgumentsText(text: unknown): boolean {
  return text === "{}" || (typeof text === "string" && isObject(parseArguments(text)));
}

function hasCalls(message: { readonly tool_calls?: unknown }): boolean {
  return Array.isArray(message.tool_calls) && message.tool_calls.length > 0;
}

function isWellFormed(call: ToolCall): boolean {
  const { name, arguments: text } = call?.type === "function" ? (call.function ?? {}) : {};
  return isName(call?.id) && isName(name) && isArgumentsText(text);
}

/** True for a non-empty string. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
