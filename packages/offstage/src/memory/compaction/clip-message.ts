// Clipping by tokens: a message, or a call with its results, made to fit, with a mark that says how much is missing.
import { type AssistantMessage, type Message, textOf, toolCallsOf } from "../../messages/message.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";

export interface ClipOptions {
  /** The most tokens the result may take. */
  readonly limit: number;
  readonly counter: TokenCounter;
}

/** The message itself where it fits, else its beginning and a mark; undefined where not even the mark fits. */
export function clipMessage<M extends Message>(message: M, { limit, counter }: ClipOptions): M | undefined {
  if (counter.countMessage(message) <= limit) return message;
  const text = textOf(message);
  const partCount = Array.isArray(message.content) ? message.content.filter((part) => !("text" in part)).length : 0;
  const clipped = (length: number): M => withText(message, cut(text, length, partCount));
  const length = longest(text.length, (each) => counter.countMessage(clipped(each)) <= limit);
  return length === undefined ? undefined : clipped(length);
}

/** The text itself where it fits, else its beginning and a mark; "" where not even the mark fits. */
export function clipText(text: string, { limit, counter }: ClipOptions): string {
  if (counter.count(text) <= limit) return text;
  const length = longest(text.length, (each) => counter.count(cut(text, each)) <= limit);
  return length === undefined ? "" : cut(text, length);
}

/**
 * A block made to fit: results give way first, the longest most; then the words and arguments of the calls. Empty where
 * not even the marks fit.
 */
export function clipBlock(block: readonly Message[], { limit, counter }: ClipOptions): Message[] {
  const [first, ...rest] = block;
  if (first === undefined) return [];
  if (rest.length === 0 && toolCallsOf(first).length === 0)
    return [clipMessage(first, { limit, counter })].flatMap(some);
  const fixed = counter.countMessage(first);
  const head = fixed <= limit / 2 ? first : withoutArguments(first as AssistantMessage, { limit: limit / 2, counter });
  const results = clipEach(rest, { limit: limit - counter.countMessage(head), counter });
  const clipped = results === undefined ? [] : [head, ...results];
  return counter.countMessages(clipped) <= limit ? clipped : [];
}

// Every message gets the same share; what short ones leave over goes to the others.
function clipEach(messages: readonly Message[], { limit, counter }: ClipOptions): Message[] | undefined {
  let room = limit;
  let waiting = messages.length;
  const shortestFirst = messages
    .map((message, index) => ({ message, index, tokens: counter.countMessage(message) }))
    .sort((a, b) => a.tokens - b.tokens || a.index - b.index);
  const clipped: Message[] = [];
  for (const { message, index } of shortestFirst) {
    const fitting = clipMessage(message, { limit: Math.floor(room / waiting--), counter });
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

function withText<M extends Message>(message: M, text: string): M {
  const { providerParts: _, ...metadata } = message.metadata ?? {};
  const content = text === "" && message.role === "assistant" ? null : text;
  return { ...message, content, metadata: { ...metadata, isClipped: true } };
}

function cut(text: string, length: number, partCount = 0): string {
  const isInside = length > 0 && length < text.length && /[\ud800-\udbff]/.test(text[length - 1] ?? "");
  const kept = text.slice(0, isInside ? length - 1 : length);
  const parts = partCount === 0 ? "" : ` and ${partCount} parts`;
  return `${kept}${kept === "" ? "" : "\n"}[clipped, ${text.length - kept.length} characters${parts}]`;
}

// The longest length found to fit by halving; a counter need not grow evenly for what is found to fit.
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

function some<T>(value: T | undefined): T[] {
  return value === undefined ? [] : [value];
}
