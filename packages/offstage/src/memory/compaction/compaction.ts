// Compaction: the model's view of a state, shortened when it exceeds the limit. The state itself is never changed.

import type { Message } from "../../messages/message.ts";
import { Messages } from "../../messages/messages.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import { frontOf, leastTokens } from "../fit.ts";
import { messageKey } from "../message-key.ts";
import { type OnError, reportError } from "../report-error.ts";
import { CompactedPart } from "./compacted-part.ts";
import { type CompactionNote, readNote, writeNote } from "./compaction-note.ts";
import type { CompactionStrategy } from "./compaction-strategy.ts";
import { type ShortenedPart, shortenPart } from "./shorten-part.ts";
import type { Summarize, SummaryUsage } from "./summarize.ts";

export interface CompactionOptions {
  readonly counter: TokenCounter;
  /** Tokens of every model call apart from the state: instructions and tools. Default 0. */
  readonly fixedTokens?: number | undefined;
  /** The note of an earlier compaction of the same conversation, to continue from. */
  readonly note?: unknown;
  /** True if the conversation may be only the end of a longer one, like the history of a session. Default false. */
  readonly isPartial?: boolean | undefined;
  /** Asks the agent's own model for a summary. */
  readonly summarize?: Summarize | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The model's view of a state. */
export interface ModelView {
  /** The lists a model call is made of, as `AgentState.sectionsForInference` orders them. A section that only grew extends its earlier list. */
  readonly sections: readonly Messages[];
  /** Set if this view was just shortened. */
  readonly compacted?: CompactionReport;
}

/** The report of one compaction. JSON. */
export interface CompactionReport {
  readonly strategy: string;
  /** Tokens of the whole model input, including fixed tokens. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** How many messages are no longer shown, or in another form. */
  readonly coveredCount: number;
  /** The ids of those that have one. */
  readonly covered: readonly string[];
  readonly durationMs: number;
  /** Tokens that summaries took. */
  readonly usage?: readonly SummaryUsage[];
  /** Why the sliding window was used instead of the strategy. */
  readonly error?: string;
}

export interface CompactionRule {
  readonly limit: number;
  readonly target: number;
  readonly strategy: CompactionStrategy;
  readonly onError: OnError;
}

/** The user's own summary and buffer sections. They count, but are never shortened. */
interface OwnSections {
  readonly summary: Messages;
  readonly buffer: Messages;
  readonly tokens: number;
}

/** The compaction of one conversation. Gives the view for each model call. */
export class Compaction {
  readonly #rule: CompactionRule;
  readonly #options: CompactionOptions;
  readonly #conversation: CompactedPart;
  readonly #trace: CompactedPart;
  #own: OwnSections = { summary: Messages.empty(), buffer: Messages.empty(), tokens: 0 };
  #front: { readonly made: readonly unknown[]; readonly summary: Messages; readonly buffer: Messages } | undefined;

  constructor(rule: CompactionRule, options: CompactionOptions) {
    this.#rule = rule;
    this.#options = options;
    this.#conversation = new CompactedPart(options.counter);
    this.#trace = new CompactedPart(options.counter);
    if (options.note !== undefined && options.note !== null) this.#restore(options);
  }

  /** The note from which a later run, or this one after a resume, continues; undefined while nothing was left out. */
  get note(): CompactionNote | undefined {
    if (!this.#conversation.isCompacted && !this.#trace.isCompacted) return undefined;
    return writeNote(this.#conversation.note, this.#trace.isCompacted ? this.#trace.note : undefined);
  }

  /** The tokens of the current view, including fixed tokens. */
  get tokens(): number {
    const { fixedTokens = 0 } = this.#options;
    return fixedTokens + this.#own.tokens + this.#conversation.tokens + this.#trace.tokens;
  }

  /** True if the state is over the limit, so that `view` will shorten it. */
  exceedsLimit(state: AgentState): boolean {
    this.#follow(state);
    return this.tokens > this.#rule.limit;
  }

  /**
   * The model's view of the state. Below the limit it costs only what was added since the last view; above the limit it
   * is shortened first. Rejects only when it is aborted.
   */
  async view(state: AgentState): Promise<ModelView> {
    return this.exceedsLimit(state) ? this.#compact() : this.#view();
  }

  /** Shows the messages of a memory instead of the conversation so far. Messages that are added later follow them. */
  show(state: AgentState, messages: readonly Message[]): void {
    this.#follow(state);
    const conversation = state.messages.toArray();
    const known = new Set(conversation.slice(0, frontOf(conversation)).map(messageKey));
    const front = messages.slice(0, frontOf(messages)).filter((message) => !known.has(messageKey(message)));
    this.#conversation.take({ summary: front, messages: messages.slice(frontOf(messages)) });
  }

  #restore({ note, isPartial = false }: CompactionOptions): void {
    try {
      const { conversation, trace } = readNote(note);
      this.#conversation.restore(conversation, { isPartial });
      if (trace !== undefined) this.#trace.restore(trace);
    } catch (error) {
      reportError(this.#rule.onError, error);
    }
  }

  #follow(state: AgentState): void {
    this.#conversation.follow(state.messages);
    this.#trace.follow(state.executionBuffer);
    const summary = state.section(AgentState.SUMMARY_SECTION);
    const buffer = state.section(AgentState.BUFFER_SECTION);
    if (summary === this.#own.summary && buffer === this.#own.buffer) return;
    const { counter } = this.#options;
    this.#own = { summary, buffer, tokens: counter.countMessages(summary) + counter.countMessages(buffer) };
  }

  #view(): ModelView {
    const { summary, buffer } = this.#frontSections();
    return { sections: [summary, buffer, this.#conversation.tail, this.#trace.flat] };
  }

  // Returns the same lists while their sources are the same.
  #frontSections(): { readonly summary: Messages; readonly buffer: Messages } {
    const { note, isCompacted } = this.#conversation;
    if (!isCompacted) return this.#own;
    const made = [this.#own, note];
    if (this.#front?.made.every((each, i) => each === made[i])) return this.#front;
    const summary = Messages.from([...note.pinned, ...this.#own.summary, ...note.summary]);
    this.#front = { made, summary, buffer: this.#own.buffer.append(note.head) };
    return this.#front;
  }

  async #compact(): Promise<ModelView> {
    const startedAt = performance.now();
    const tokensBefore = this.tokens;
    const done = [await this.#shortenConversation(), await this.#shortenTrace()].filter((each) => each !== undefined);
    if (done.length === 0) return this.#view();
    const tokens = { tokensBefore, tokensAfter: this.tokens };
    const compacted = { ...reportOf(this.#rule.strategy, done), ...tokens, durationMs: performance.now() - startedAt };
    return { ...this.#view(), compacted };
  }

  // Shortens the conversation first, but keeps part of it: a long tool trace is then shortened itself.
  #shortenConversation(): Promise<ShortenedPart> | undefined {
    const { usable, goal } = this.#room();
    const { counter } = this.#options;
    const part = this.#conversation;
    const trace = Math.min(leastTokens(this.#trace.open, counter), usable / 2);
    const wanted = this.#trace.tokens === 0 ? goal : Math.max(goal - this.#trace.tokens, goal / 4);
    const least = part.pinnedTokens + leastTokens(part.open, counter) * 1.5;
    return this.#shorten(part, Math.min(Math.max(wanted, least), usable - trace));
  }

  #shortenTrace(): Promise<ShortenedPart> | undefined {
    const { usable, goal } = this.#room();
    const left = usable - this.#conversation.tokens;
    const least = leastTokens(this.#trace.open, this.#options.counter) * 1.5;
    return this.#shorten(this.#trace, Math.min(Math.max(goal - this.#conversation.tokens, least), left));
  }

  #shorten(part: CompactedPart, most: number): Promise<ShortenedPart> | undefined {
    const budget = Math.max(0, Math.floor(most));
    if (part.tokens <= budget) return undefined;
    const { counter, summarize, signal } = this.#options;
    const { strategy, onError } = this.#rule;
    return shortenPart(part, { budget, counter, strategy, onError, summarize, signal });
  }

  // If fixed tokens leave no room, the newest question is shown all the same.
  #room(): { readonly usable: number; readonly goal: number } {
    const { fixedTokens = 0 } = this.#options;
    const { limit, target } = this.#rule;
    const usable = Math.max(limit - fixedTokens - this.#own.tokens, limit / 10);
    return { usable, goal: usable * target };
  }
}

function reportOf({ name }: CompactionStrategy, parts: readonly ShortenedPart[]) {
  const covered = parts.flatMap((part) => part.covered);
  const usage = parts.flatMap((part) => part.usage ?? []);
  const error = parts.find((part) => part.error !== undefined)?.error;
  return {
    strategy: name,
    coveredCount: covered.length,
    covered: covered.flatMap(({ metadata }) => (typeof metadata?.id === "string" ? [metadata.id] : [])),
    ...(usage.length > 0 && { usage }),
    ...(error !== undefined && { error }),
  };
}
