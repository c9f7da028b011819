// TokenCounter: counts the tokens of texts and messages. usage.ts has the tokens that providers reported.
import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import { estimateTokens } from "./estimate.ts";

/** Counts tokens. **Contract:** synchronous, pure, never negative; `countMessages` is the sum of `countMessage`. */
export interface TokenCounter {
  /** True if counts are estimates, not those of a tokenizer. */
  readonly estimated: boolean;
  count(text: string): number;
  countMessage(message: Message): number;
  countMessages(messages: Iterable<Message>): number;
}

/** A counter of your own. Only `count` is required; missing methods are made from it. */
export interface TokenCounting {
  readonly estimated?: boolean | undefined;
  count(text: string): number;
  readonly countMessage?: ((message: Message) => number) | undefined;
  readonly countMessages?: ((messages: Iterable<Message>) => number) | undefined;
}

/** The tokens that a message costs in addition to its words, in OpenAI's chat format. */
const overhead = { message: 4, name: 1, toolCall: 3, image: 85 };

/** Estimates of shorter texts are not cached: looking them up would take longer. */
const estimateCachedFrom = 2048;

/**
 * Makes a complete counter: the calibrated estimate, or the given counter with its missing methods added. Counts are cached by message
 * object.
 */
export function tokenCounter(counting?: TokenCounting): TokenCounter {
  checkCounting(counting);
  if (counting === undefined) return completeCounter({ estimated: true, count: estimateTokens }, estimateCachedFrom);
  return isComplete(counting) ? counting : completeCounter(counting, 0);
}

function checkCounting(counting: unknown): void {
  if (counting === undefined) return;
  const { count, countMessage, countMessages } = (counting ?? {}) as Record<string, unknown>;
  if (typeof count !== "function") throw notACounter(`found ${shownValue(counting)}`);
  for (const [name, method] of Object.entries({ countMessage, countMessages })) {
    if (method !== undefined && typeof method !== "function") throw notACounter(`"${name}" is ${shownValue(method)}`);
  }
}

function notACounter(found: string): OffstageError {
  return new OffstageError("invalid-argument", `A token counter must be an object with count(text); ${found}.`);
}

function isComplete(counting: TokenCounting): counting is TokenCounter {
  return typeof counting.countMessage === "function" && typeof counting.countMessages === "function";
}

function completeCounter(counting: TokenCounting, cachedFrom: number): TokenCounter {
  const { estimated = false } = counting;
  const count = (text: string): number => counting.count(text);
  const countMessage = cacheCounts(cachedFrom, measureOf(counting));
  const countMessages = (messages: Iterable<Message>): number => {
    let total = 0;
    for (const message of messages) total += countMessage(message);
    return total;
  };
  return { estimated, count, countMessage, countMessages };
}

function measureOf(counting: TokenCounting): (message: Message) => number {
  if (counting.countMessage !== undefined) return (message) => counting.countMessage?.(message) ?? 0;
  if (counting.countMessages !== undefined) return (message) => counting.countMessages?.([message]) ?? 0;
  return (message) => measure(message, counting);
}

interface CachedCount {
  readonly content: unknown;
  readonly calls: unknown;
  readonly tokens: number;
}

// An entry has the content it was counted from, so that a message changed in place is counted again.
function cacheCounts(cachedFrom: number, count: (message: Message) => number): (message: Message) => number {
  const cache = new WeakMap<object, CachedCount>();
  return (message) => {
    if (typeof message !== "object" || message === null) return 0;
    const { content, tool_calls: calls } = message as { content?: unknown; tool_calls?: unknown };
    if (!isWorthCaching(content, cachedFrom)) return count(message);
    const known = cache.get(message);
    if (known !== undefined && known.content === content && known.calls === calls) return known.tokens;
    const tokens = count(message);
    cache.set(message, { content, calls, tokens });
    return tokens;
  };
}

function isWorthCaching(content: unknown, cachedFrom: number): boolean {
  return cachedFrom === 0 || Array.isArray(content) || (typeof content === "string" && content.length >= cachedFrom);
}

type Loose = { readonly [key: string]: unknown };

function measure(message: Message, counting: TokenCounting): number {
  const { content, name, tool_calls: calls } = message as unknown as Loose;
  let tokens = overhead.message;
  if (typeof content === "string") tokens += counting.count(content);
  else if (Array.isArray(content)) for (const part of content) tokens += measurePart(part, counting);
  if (typeof name === "string") tokens += overhead.name + counting.count(name);
  if (Array.isArray(calls)) for (const call of calls) tokens += measureCall(call, counting);
  return tokens;
}

// The bytes of images, sounds and files are not text. An image counts as one at low detail.
function measurePart(part: unknown, counting: TokenCounting): number {
  if (typeof part === "string") return counting.count(part);
  if (typeof part !== "object" || part === null) return 0;
  const { type, text, refusal } = part as Loose;
  if (typeof text === "string") return counting.count(text);
  if (typeof refusal === "string") return counting.count(refusal);
  return type === "image_url" || type === "image" ? overhead.image : 0;
}

function measureCall(call: unknown, counting: TokenCounting): number {
  const called = (call as Loose | null | undefined)?.function as Loose | null | undefined;
  const { name, arguments: input } = called ?? {};
  let tokens = overhead.toolCall;
  if (typeof name === "string") tokens += counting.count(name);
  if (typeof input === "string") tokens += counting.count(input);
  return tokens;
}
