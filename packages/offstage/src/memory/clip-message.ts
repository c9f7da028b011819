// Clipping by tokens: shortens a message, or a call with its results, and marks how much is missing.
import { type AssistantMessage, type Message, textOf, toolCallsOf } from "../messages/message.ts";
import type { TokenCounter } from "../tokens/token-counter.ts";

export interface ClipOptions {
  /** The most tokens of the result. */
  readonly limit: number;
  readonly counter: TokenCounter;
}

/** Returns the message if it fits, else its beginning and a mark; undefined if not even the mark fits. */
export function clipMessage<M extends Message>(message: M, { limit, counter }: ClipOptions): M | undefined {
  if (counter.countMessage(message) <= limit) return message;
  const text = textOf(message);
  const partCount = Array.isArray(message.content) ? message.content.filter((part) => !("text" in part)).length : 0;
  const clip = (length: number): M => withText(message, cut(text, length, partCount));
  const length = longest(text.length, (each) => counter.countMessage(clip(each)) <= limit);
  return length === undefined ? undefined : clip(length);
}

/** Returns the text if it fits, else its beginning and a mark; "" if not even the mark fits. */
export function clipText(text: string, { limit, counter }: ClipOptions): string {
  if (counter.count(text) <= limit) return text;
  const length = longest(text.length, (each) => counter.count(cut(text, each)) <= limit);
  return length === undefined ? "" : cut(text, length);
}

/**
 * Clips a block: first its results, the longest most, then the text and arguments of its calls. Empty if not even the
 * marks fit.
 */
export function clipBlock(block: readonly Message[], { limit, counter }: ClipOptions): Message[] {
  const [first, ...rest] = block;
  if (first === undefined) return [];
  if (rest.length === 0 && toolCallsOf(first).length === 0) {
    const clipped = clipMessage(first, { limit, counter });
    return clipped === undefined ? [] : [clipped];
  }
  const isShort = counter.countMessage(first) <= limit / 2;
  const head = isShort ? first : withoutArguments(first as AssistantMessage, { limit: limit / 2, counter });
  const results = clipEach(rest, { limit: limit - counter.countMessage(head), counter });
  const clipped = results === undefined ? [] : [head, ...results];
  return counter.countMessages(clipped) <= limit ? clipped : [];
}

// Every message gets the same share, and the longer ones share the room that the shorter ones leave.
function clipEach(messages: readonly Message[], { limit, counter }: ClipOptions): Message[] | undefined {
  let room = limit;
  let left = messages.length;
  const shortestFirst = messages
    .map((message, index) => ({ message, index, tokens: counter.countMessage(message) }))
    .sort((a, b) => a.tokens - b.tokens || a.index - b.index);
  const clipped: Message[] = [];
  for (const { message, index } of shortestFirst) {
    const fitting = clipMessage(message, { limit: Math.floor(room / left--), counter });
    if (fitting === undefined) return undefined;
    room -= counter.countMessage(fitting);
    clipped[index] = fitting;
  }
  return clipped;
}

function withoutArguments(message: AssistantMessage, options: ClipOptions): AssistantMessage {
  const tool_calls = toolCallsOf(message).map((call) => {
    const { length } = call.function.arguments;
    const short = JSON.stringify({ clipped: `${length} characters` });
    return length <= short.length ? call : { ...call, function: { ...call.function, arguments: short } };
  });
  const bare = withText({ ...message, tool_calls }, textOf(message));
  return clipMessage(bare, options) ?? withText(bare, "");
}

// Without provider parts: a provider would send them instead of the clipped text.
function withText<M extends Message>(message: M, text: string): M {
  const { providerParts: _, ...metadata } = message.metadata ?? {};
  const content = text === "" && message.role === "assistant" ? null : text;
  return { ...message, content, metadata: { ...metadata, isClipped: true } };
}

function cut(text: string, length: number, partCount = 0): string {
  const splitsPair = length > 0 && length < text.length && /[\ud800-\udbff]/.test(text[length - 1] ?? "");
  const kept = text.slice(0, splitsPair ? length - 1 : length);
  const parts = partCount === 0 ? "" : ` and ${partCount} parts`;
  return `${kept}${kept === "" ? "" : "\n"}[clipped, ${text.length - kept.length} characters${parts}]`;
}

// The longest length that fits, by bisection. It fits even if the counter is not monotonic.
function longest(length: number, fits: (length: number) => boolean): number | undefined {
  if (!fits(0)) return undefined;
  let low = 0;
  let high = length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
}
