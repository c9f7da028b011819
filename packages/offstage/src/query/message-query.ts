// MessageQuery: a thin, read-only face over a list of messages. Each answer is computed by a function beside it, when it is asked for.
import type { Writable } from "node:stream";
import { checkOptions, type OptionRule, objectWith, shownValue } from "../base/options.ts";
import { printsAs } from "../base/prints-as.ts";
import { OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import { Messages } from "../messages/messages.ts";
import { type TokenCounter, type TokenCounting, tokenCounter } from "../tokens/token-counter.ts";
import { type ExportFormat, exportMessages, exportPieces, type FormatFunction } from "./export/export.ts";
import { type ExportToOptions, exportToRules, writePieces } from "./export/export-to.ts";
import { type ExportOptions, type ExportSource, exportRules } from "./export/export-view.ts";
import type { ExportedMessage } from "./export/exported-message.ts";
import { filterMessages, type MessageCriteria, type MessagePredicate } from "./filter.ts";
import type { TextFormat } from "./formats/index.ts";
import { importMessages } from "./import/import-messages.ts";
import { drawStats, drawTimeline, drawTools, type Pen, type PrintOptions, penOf } from "./print.ts";
import { isRunSummary, type RunSummary, runsAmong } from "./run-summary.ts";
import { type MessageStats, stats } from "./stats.ts";
import { timeline } from "./timeline.ts";
import { type ToolCallInfo, toolSummary } from "./tool-summary.ts";
import type { Timeline } from "./turn.ts";

/** The messages of a query: a list, or a function that returns the current list. */
export type MessageSource = Iterable<Message> | (() => Iterable<Message>);

export interface MessageQueryOptions {
  /** Counts tokens. Default: the calibrated estimate. */
  readonly tokenCounter?: TokenCounting | undefined;
  /** Criteria for every answer, as `where()` adds them. */
  readonly where?: readonly (MessageCriteria | MessagePredicate)[] | undefined;
  /** The runs of the messages, or a function that returns them. Exports and timelines tell how they went. */
  readonly runs?: readonly RunSummary[] | (() => readonly RunSummary[]) | undefined;
}

const optionRules: Readonly<Record<keyof MessageQueryOptions, OptionRule>> = {
  tokenCounter: objectWith("a token counter, with count(text)", "count"),
  where: { isFit: Array.isArray, words: 'a list of criteria, such as [{ role: "user" }]' },
  runs: {
    isFit: (value) => typeof value === "function" || (Array.isArray(value) && value.every(isRunSummary)),
    words: "a list of run summaries, such as [{ runId, agent, status }], or a function that returns one",
  },
};

/** Finds, counts, prints and exports messages. Stateless: every method reads the source again, keeps nothing and changes nothing. */
export class MessageQuery implements Iterable<Message> {
  readonly #source: MessageSource;
  readonly #counter: TokenCounter;
  readonly #criteria: readonly (MessageCriteria | MessagePredicate)[];
  readonly #runs: NonNullable<MessageQueryOptions["runs"]>;

  constructor(source: MessageSource = none, options: MessageQueryOptions = {}) {
    checkOptions(options, optionRules, "MessageQuery");
    this.#source = typeof source === "function" ? source : lasting(source);
    this.#counter = tokenCounter(options.tokenCounter);
    this.#criteria = options.where ?? none;
    this.#runs = options.runs ?? none;
  }

  /**
   * A query over messages of any known format: OpenAI chat and Responses, AI SDK, Anthropic, LangChain, our own exports. Throws
   * `invalid-format` for anything else, naming what was found.
   */
  static from(value: unknown, options: MessageQueryOptions = {}): MessageQuery {
    return new MessageQuery(importMessages(value), options);
  }

  /** The number of messages. */
  get length(): number {
    return this.#list().length;
  }

  /** The messages that meet all criteria, oldest first. Without criteria: all messages. */
  filter(criteria: MessageCriteria | MessagePredicate = {}): Message[] {
    return filterMessages(this.#read(), [...this.#criteria, criteria]);
  }

  /** A query over the messages that meet all criteria. Without criteria: over the same messages. */
  where(criteria: MessageCriteria | MessagePredicate = {}): MessageQuery {
    const where = [...this.#criteria, criteria];
    return new MessageQuery(this.#source, { tokenCounter: this.#counter, where, runs: this.#runs });
  }

  /** The messages from `start` up to, not including, `end`. Negative indexes count from the end. */
  slice(start?: number, end?: number): Message[] {
    return this.#list().slice(start, end);
  }

  /** The first `n` messages. */
  first(n = 1): Message[] {
    return this.#list().slice(0, Math.max(0, n));
  }

  /** The last `n` messages, oldest first. */
  last(n = 1): Message[] {
    return n >= 1 ? this.#list().slice(-Math.floor(n)) : [];
  }

  /** All messages, oldest first, in a new array. */
  all(): Message[] {
    return this.#list().slice();
  }

  /** The number of messages and tokens, in total and by role. */
  stats(): MessageStats {
    return stats(this.#list(), this.#counter);
  }

  /** One entry for each tool that was called, with its calls and results. */
  toolSummary(): ToolCallInfo[] {
    return toolSummary(this.#list());
  }

  /** The messages as turns. */
  timeline(): Timeline {
    return timeline(this.#list(), this.#readRuns());
  }

  /** The known runs that have messages here; all known runs if none has. */
  runs(): RunSummary[] {
    return runsAmong(this.#list(), this.#readRuns());
  }

  /** The messages in a format: text, plain objects for "dict", or the result of a format function. */
  export(format?: TextFormat, options?: ExportOptions): string;
  export(format: "dict", options?: ExportOptions): ExportedMessage[];
  export<T>(format: FormatFunction<T>, options?: ExportOptions): T;
  export(format: ExportFormat, options?: ExportOptions): string | ExportedMessage[];
  export(format: ExportFormat | FormatFunction<unknown> = "json", options: ExportOptions = {}): unknown {
    checkOptions(options, exportRules, "export", exportHints);
    return exportMessages(this.#exported(options), format, options);
  }

  /** Writes the messages to a stream in a text format, with constant memory. Resolves when the stream has accepted everything. */
  async exportTo(
    target: Writable | WritableStream<Uint8Array>,
    format: TextFormat = "json",
    options: ExportOptions & ExportToOptions = {},
  ): Promise<void> {
    checkOptions(options, { ...exportRules, ...exportToRules }, "exportTo");
    const { end, signal, ...exporting } = options;
    const pieces = exportPieces(this.#exported(exporting), format, exporting);
    await writePieces(target, pieces, { end, signal });
  }

  /** Prints a view to a terminal and returns the printed text. Default stream: standard output. */
  print(view: "timeline" | "stats" | "tools" = "timeline", options: PrintOptions = {}): string {
    const pen = penOf(options);
    const { stream = process.stdout } = options;
    const text = this.#drawn(view, pen);
    stream.write(`${text}\n`);
    return text;
  }

  toJSON(): Message[] {
    return this.all();
  }

  [Symbol.iterator](): Iterator<Message> {
    return this.#list()[Symbol.iterator]();
  }

  #drawn(view: "timeline" | "stats" | "tools", pen: Pen): string {
    if (view === "timeline") return drawTimeline(this.timeline(), pen);
    if (view === "stats") return drawStats(this.stats(), pen);
    if (view === "tools") return drawTools(this.toolSummary(), pen);
    throw new OffstageError(
      "invalid-argument",
      `Unknown view ${shownValue(view)}. Valid views: timeline, stats, tools.`,
    );
  }

  #exported({ messages }: ExportOptions): ExportSource {
    const whole = this.#read();
    const list = messages === undefined ? this.#narrowed(whole) : arrayOf(messages);
    return { list, whole, counter: this.#counter, runs: this.#readRuns() };
  }

  #readRuns(): readonly RunSummary[] {
    const runs = this.#runs;
    return typeof runs === "function" ? runs().filter(isRunSummary) : runs;
  }

  #read(): readonly Message[] {
    const source = this.#source;
    return arrayOf(typeof source === "function" ? source() : source);
  }

  #list(): readonly Message[] {
    return this.#narrowed(this.#read());
  }

  #narrowed(whole: readonly Message[]): readonly Message[] {
    return this.#criteria.length === 0 ? whole : filterMessages(whole, this.#criteria);
  }
}

const none: readonly never[] = [];

/** The names of Python's MessageQuery. */
const exportHints = { include_metadata: "includeMetadata", max_content_length: "maxContentLength" };

// A generator can be read only once.
function lasting(source: Iterable<Message>): Iterable<Message> {
  return Array.isArray(source) || source instanceof Messages ? source : arrayOf(source);
}

function arrayOf(messages: Iterable<Message>): readonly Message[] {
  if (Array.isArray(messages)) return messages;
  if (messages instanceof Messages) return messages.toArray();
  const isList = typeof messages === "object" && messages !== null && Symbol.iterator in messages;
  if (isList) return [...messages];
  const sentence = `A MessageQuery needs a list of messages or a function that returns one; found ${shownValue(messages)}.`;
  throw new OffstageError("invalid-argument", `${sentence} For other formats use MessageQuery.from().`);
}

printsAs(MessageQuery, (query) => query.all());
