// Keeps the newest turn and, of the rest, what matters most. Needs no model: the score is a function.
import { type Message, textOf, toolCallsOf } from "../../../messages/message.ts";
import { fitNewest } from "../../fit.ts";
import { blocksOf, questionOf, type Span, turnsOf } from "../../turns.ts";
import type { Compacted, CompactionInput, CompactionStrategy } from "../compaction-strategy.ts";
import { marked } from "../shorten.ts";
import { withGap } from "../summary-message.ts";

/** How much a turn, or a block of one long turn, matters; `age` is 0 for the newest. */
export type ImportanceScore = (messages: readonly Message[], age: number) => number;

export interface ImportanceOptions {
  /** Default: lasting wishes, decisions, figures and failures weigh more than chat, and new more than old. */
  readonly score?: ImportanceScore;
}

/** The newest turn, and the turns of highest score that fit beside it, in their order. */
export function importance(options: ImportanceOptions = {}): CompactionStrategy {
  const { score = plainScore } = options;
  return { name: "importance", compact: (input) => keepImportant(input, score) };
}

function keepImportant(input: CompactionInput, score: ImportanceScore): Compacted {
  const { messages, counter } = input;
  const { summary, room } = marked(input);
  const { must, spans } = divided(messages);
  const newest = fitNewest(must, { limit: room, counter });
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

interface Divided {
  readonly must: readonly Message[];
  readonly spans: readonly Span[];
}

// The newest turn must stay. A list of one turn is divided into its blocks: then its question and its newest block must.
function divided(messages: readonly Message[]): Divided {
  const turns = turnsOf(messages);
  const newest = turns.at(-1);
  if (newest !== undefined && turns.length > 1)
    return { must: messages.slice(newest.start), spans: turns.slice(0, -1) };
  const question = questionOf(messages);
  const blocks = blocksOf(messages).filter(({ start, end }) => end <= question.start || start >= question.end);
  const last = blocks.at(-1);
  const must = [...messages.slice(question.start, question.end), ...messages.slice(last?.start, last?.end)];
  return { must: last === undefined ? messages : must, spans: blocks.slice(0, -1) };
}

// What must stay may have been clipped; it stands where the first of it stood.
function inOrder(messages: readonly Message[], kept: readonly Span[], newest: readonly Message[]): Message[] {
  const older = kept.toSorted((a, b) => a.start - b.start).flatMap(({ start, end }) => messages.slice(start, end));
  const { start: asked } = questionOf(messages);
  const place = older.findIndex((message) => messages.indexOf(message) > asked);
  const { end } = questionOf(newest);
  if (place === -1) return [...older, ...newest];
  return [...older.slice(0, place), ...newest.slice(0, end), ...older.slice(place), ...newest.slice(end)];
}

// Of equals the newer one comes first.
function byScore(messages: readonly Message[], spans: readonly Span[], score: ImportanceScore): Span[] {
  return spans
    .map((span, index) => ({ span, value: score(messages.slice(span.start, span.end), spans.length - index) }))
    .sort((a, b) => b.value - a.value || b.span.start - a.span.start)
    .map(({ span }) => span);
}

const lasting =
  /\b(always|never|must|remember|important|prefer|decided?|agreed?|name is|deadline|budget|password|address)\b/i;

function plainScore(messages: readonly Message[], age: number): number {
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
