// Compaction: the model's view of a state, made shorter when it passes the limit. The state itself is never changed.
import { clockMs } from "../../base/clock.ts";
import type { Message } from "../../messages/message.ts";
import { Messages } from "../../messages/messages.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import { frontOf, leastTokens } from "../fit.ts";
import { messageKey } from "../message-key.ts";
import { type OnError, tell } from "../report-error.ts";
import { CompactedPart } from "./compacted-part.ts";
import { type CompactionNote, readNote, writeNote } from "./compaction-note.ts";
import type { CompactionStrategy } from "./compaction-strategy.ts";
import { type ShortenedPart, shortenPart } from "./shorten-part.ts";
import type { Summarize, SummaryUsage } from "./summarize.ts";

export interface CompactionOptions {
  readonly counter: TokenCounter;
  /** Tokens of every model call beside the sections of the state: instructions, tools. Default 0. */
  readonly fixedTokens?: number;
  /** What an earlier compaction of the same conversation left; this one goes on from there. */
  readonly note?: unknown;
  /** The conversation may be only the latest of a longer one, as a session's history is. Default false. */
  readonly isPartial?: boolean;
  /** Asks the agent's own model. */
  readonly summarize?: Summarize;
  readonly signal?: AbortSignal;
}

/** The model's view of a state. */
export interface ModelView {
  /** The lists a model call is made of, as `AgentState.sectionsForInference` orders them. A section that only grew extends its earlier list. */
  readonly sections: readonly Messages[];
  /** Set if this view was just shortened. */
  readonly compacted?: CompactionReport;
}

/** What one compaction did. JSON. */
export interface CompactionReport {
  readonly strategy: string;
  /** Of the whole model input, fixed tokens included. */
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** How many messages are shown no more, or in another form. */
  readonly coveredCount: number;
  /** Their ids, of those that have one. */
  readonly covered: readonly string[];
  readonly durationMs: number;
  /** Tokens that summarising took. */
  readonly usage?: readonly SummaryUsage[];
  /** Why the window was used instead of the strategy. */
  readonly error?: string;
}

export interface CompactionRule {
  readonly limit: number;
  readonly target: number;
  readonly strategy: CompactionStrategy;
  readonly onError: OnError;
}

/** The sections that are the user's own; they count, and stay as they are. */
interface OwnSections {
  readonly summary: Messages;
  readonly buffer: Messages;
  readonly tokens: number;
}

/** One conversation's compaction. It is asked for the view before each model call. */
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

  /** What a later run, or this one taken up again, is given to go on from; undefined while nothing was left out. */
  get note(): CompactionNote | undefined {
    if (!this.#conversation.isCompacted && !this.#trace.isCompacted) return undefined;
    return writeNote(this.#conversation.note, this.#trace.isCompacted ? this.#trace.note : undefined);
  }

  /** The tokens of the present view, fixed ones included. */
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

  /** Shows these in place of the conversation so far, as a memory gives them. What is added later follows them. */
  show(state: AgentState, messages: readonly Message[]): void {
    this.#follow(state);
    const known = new Set(state.messages.toArray().slice(0, frontOf(state.messages.toArray())).map(messageKey));
    const front = messages.slice(0, frontOf(messages)).filter((message) => !known.has(messageKey(message)));
    this.#conversation.take({ summary: front, messages: messages.slice(frontOf(messages)) });
  }

  #restore({ note, isPartial = false }: CompactionOptions): void {
    try {
      const { conversation, trace } = readNote(note);
      this.#conversation.restore(conversation, { isPartial });
      if (trace !== undefined) this.#trace.restore(trace);
    } catch (error) {
      tell(this.#rule.onError, error);
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
    const { summary, buffer } = this.#sections();
    return { sections: [summary, buffer, this.#conversation.tail, this.#trace.flat] };
  }

  // The same lists as long as what they are made of is the same.
  #sections(): { readonly summary: Messages; readonly buffer: Messages } {
    const { note, isCompacted } = this.#conversation;
    if (!isCompacted) return this.#own;
    const made = [this.#own, note];
    if (this.#front?.made.every((each, i) => each === made[i])) return this.#front;
    const summary = Messages.from([...note.pinned, ...this.#own.summary, ...note.summary]);
    this.#front = { made, summary, buffer: this.#own.buffer.append(note.head) };
    return this.#front;
  }

  async #compact(): Promise<ModelView> {
    const startedAt = clockMs();
    const tokensBefore = this.tokens;
    const done = [await this.#shortenConversation(), await this.#shortenTrace()].filter((each) => each !== undefined);
    if (done.length === 0) return this.#view();
    const covered = done.flatMap((each) => each.covered);
    const usage = done.flatMap((each) => each.usage ?? []);
    const error = done.map((each) => each.error).find((each) => each !== undefined);
    const compacted: CompactionReport = {
      strategy: this.#rule.strategy.name,
      tokensBefore,
      tokensAfter: this.tokens,
      coveredCount: covered.length,
      covered: covered.flatMap(({ metadata }) => (typeof metadata?.id === "string" ? [metadata.id] : [])),
      durationMs: clockMs() - startedAt,
      ...(usage.length > 0 && { usage }),
      ...(error !== undefined && { error }),
    };
    return { ...this.#view(), compacted };
  }

  // The conversation gives way first, but not to nothing: a long tool loop is made shorter itself.
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

  // Even where fixed tokens leave nothing, what was asked is shown.
  #room(): { readonly usable: number; readonly goal: number } {
    const { fixedTokens = 0 } = this.#options;
    const { limit, target } = this.#rule;
    const usable = Math.max(limit - fixedTokens - this.#own.tokens, limit / 10);
    return { usable, goal: usable * target };
  }
}
