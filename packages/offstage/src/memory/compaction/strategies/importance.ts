// Keeps the newest turn and the most important of the others. Needs no model: a function scores them.
import { checkOptions, someFunction } from "../../../base/options.ts";
import { type Message, textOf, toolCallsOf } from "../../../messages/message.ts";
import { fitNewest } from "../../fit.ts";
import { blocksOf, questionOf, type Span, turnsOf } from "../../turns.ts";
import type { Compacted, CompactionInput, CompactionStrategy } from "../compaction-strategy.ts";
import { reserveGap } from "../shorten.ts";
import { withGap } from "../summary-message.ts";

/** Scores a turn, or a block of one long turn. `age` is 1 for the newest that is scored, and grows with older ones. */
export type ImportanceScore = (messages: readonly Message[], age: number) => number;

export interface ImportanceOptions {
  /** Default: wishes, decisions, numbers and failures count more than chat, and new turns more than old ones. */
  readonly score?: ImportanceScore | undefined;
}

/** Keeps the newest turn, and the turns with the highest scores that fit beside it, in order. */
export function importance(options: ImportanceOptions = {}): CompactionStrategy {
  checkOptions(options, { score: someFunction }, "importance()");
  const { score = defaultScore } = options;
  return { name: "importance", compact: async (input) => keepImportant(input, score) };
}

function keepImportant(input: CompactionInput, score: ImportanceScore): Compacted {
  const { messages, counter } = input;
  const { summary, room } = reserveGap(input);
  const { required, spans } = split(messages);
  const newest = fitNewest(required, { limit: room, counter });
  let left = room - counter.countMessages(newest);
  const kept = byScore(messages, spans, score).filter(({ start, end }) => {
    const tokens = counter.countMessages(messages.slice(start, end));
    if (tokens > left) return false;
    left -= tokens;
    return true;
  });
  const shown = inOrder(messages, kept, newest);
  return { summary: withGap(summary, messages.length - shown.length), messages: shown };
}

interface SplitMessages {
  /** The messages that must stay. */
  readonly required: readonly Message[];
  /** The parts that compete for the rest of the room. */
  readonly spans: readonly Span[];
}

// The newest turn is required. Of a list of one turn, its question and its newest block are.
function split(messages: readonly Message[]): SplitMessages {
  const turns = turnsOf(messages);
  const newest = turns.at(-1);
  if (newest !== undefined && turns.length > 1)
    return { required: messages.slice(newest.start), spans: turns.slice(0, -1) };
  const question = questionOf(messages);
  const blocks = blocksOf(messages).filter(({ start, end }) => end <= question.start || start >= question.end);
  const last = blocks.at(-1);
  if (last === undefined) return { required: messages, spans: [] };
  const required = [...messages.slice(question.start, question.end), ...messages.slice(last.start, last.end)];
  return { required, spans: blocks.slice(0, -1) };
}

// The question stays in its place among the kept messages, even if it was clipped.
function inOrder(messages: readonly Message[], kept: readonly Span[], newest: readonly Message[]): Message[] {
  const asked = questionOf(messages).start;
  const sorted = kept.toSorted((a, b) => a.start - b.start);
  const contentOf = (spans: readonly Span[]) => spans.flatMap(({ start, end }) => messages.slice(start, end));
  const before = contentOf(sorted.filter(({ start }) => start <= asked));
  const after = contentOf(sorted.filter(({ start }) => start > asked));
  const { end } = questionOf(newest);
  return [...before, ...newest.slice(0, end), ...after, ...newest.slice(end)];
}

// Of two equal scores the newer comes first.
function byScore(messages: readonly Message[], spans: readonly Span[], score: ImportanceScore): Span[] {
  return spans
    .map((span, index) => ({ span, value: score(messages.slice(span.start, span.end), spans.length - index) }))
    .sort((a, b) => b.value - a.value || b.span.start - a.span.start)
    .map(({ span }) => span);
}

const lasting =
  /\b(always|never|must|remember|important|prefer|decided?|agreed?|name is|deadline|budget|password|address)\b/i;

function defaultScore(messages: readonly Message[], age: number): number {
  let score = 1 / (1 + age);
  for (const message of messages) {
    const text = textOf(message);
    if (message.role === "user") score += (lasting.test(text) ? 2 : 0) + (/\d/.test(text) ? 0.5 : 0);
    if (message.role === "assistant" && lasting.test(text)) score += 0.5;
    if (message.metadata?.isError === true) score += 0.5;
    if (toolCallsOf(message).length > 0) score += 0.1;
  }
  return score;
}
