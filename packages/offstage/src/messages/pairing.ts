// Pairing: checks that every tool call is answered by one result right behind it. Reads a growing list, each message once.
import { isObject, type JsonValue, parseArguments } from "../base/json.ts";
import type { Message, ToolCall } from "./message.ts";

/**
 * Remembers the calls of the messages it accepted. A list is valid for every provider if `accepts` was true for all of it; once it was
 * false the check is spent.
 */
export class PairingCheck {
  readonly #seen = new Set<string>();
  readonly #open = new Set<string>();
  /** The ids of all calls so far. */
  readonly seenIds: ReadonlySet<string> = this.#seen;

  /**
   * True if these messages, after those accepted before, leave a valid list with no open call. `inputs` are the parsed arguments of
   * calls that are known to be well-formed; those of the other calls are added to it.
   */
  accepts(messages: readonly Message[], inputs: Map<ToolCall, JsonValue> = new Map()): boolean {
    for (const message of messages) if (!this.#acceptsNext(message, inputs)) return false;
    return this.#open.size === 0;
  }

  #acceptsNext(message: Message, inputs: Map<ToolCall, JsonValue>): boolean {
    if (!isSendable(message)) return false;
    if (message.role === "tool") return this.#open.delete(message.tool_call_id);
    if (this.#open.size > 0) return false;
    if (message.role !== "assistant" || message.tool_calls === undefined) return true;
    const calls = message.tool_calls;
    return Array.isArray(calls) && calls.length > 0 && calls.every((call) => this.#acceptsCall(call, inputs));
  }

  #acceptsCall(call: ToolCall, inputs: Map<ToolCall, JsonValue>): boolean {
    if (!inputs.has(call)) {
      const input = inputOf(call);
      if (input === undefined) return false;
      inputs.set(call, input);
    }
    if (this.#seen.has(call.id)) return false;
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
  return argumentsIn(text) !== undefined;
}

function argumentsIn(text: unknown): JsonValue | undefined {
  const parsed = typeof text === "string" ? parseArguments(text) : undefined;
  return isObject(parsed) ? parsed : undefined;
}

function hasCalls(message: { readonly tool_calls?: unknown }): boolean {
  return Array.isArray(message.tool_calls) && message.tool_calls.length > 0;
}

// The parsed arguments of a well-formed call; undefined for any other.
function inputOf(call: ToolCall): JsonValue | undefined {
  const { name, arguments: text } = call?.type === "function" ? (call.function ?? {}) : {};
  return isName(call?.id) && isName(name) ? argumentsIn(text) : undefined;
}

/** True for a non-empty string. */
export function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
