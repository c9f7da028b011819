// A decorator that passes spans to an exporter later, in batches, through a bounded queue.

import { type DeadlineOptions, withDeadline } from "../base/cancellation.ts";

import {
  checkOptions,
  numberFrom,
  type OptionRules,
  positiveNumber,
  shownValue,
  someFunction,
  wholeFrom,
} from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { SpanData } from "./span-data.ts";
import { isBridge, type SpanBridge, type SpanExporter } from "./span-exporter.ts";
import { runUntraced } from "./trace-span.ts";
import { traceState } from "./trace-state.ts";
import { guardHandler, type TracingErrorHandler } from "./tracing-options.ts";

export interface BatchedOptions {
  /** The number of spans that may be pending; further ones are dropped and counted. Default 8,192. */
  readonly maxPending?: number | undefined;
  /** The number of spans in one batch. Default 512. */
  readonly maxBatch?: number | undefined;
  /** The time that a span waits for its batch to fill, in milliseconds. Default 1,000. */
  readonly delayMs?: number | undefined;
  /** The deadline of one batch, one flush and the shutdown, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Called when the exporter fails. Default: the `onError` of `configureTracing`. */
  readonly onError?: TracingErrorHandler | undefined;
}

/** The rules of `BatchedOptions`. */
export const batchedRules: OptionRules = {
  maxPending: wholeFrom(1),
  maxBatch: wholeFrom(1),
  delayMs: numberFrom(0),
  timeoutMs: positiveNumber,
  onError: someFunction,
};

/** At every moment `exported + dropped + pending` is the number of spans received. */
export interface BatchStats {
  /** Spans that the exporter accepted. */
  readonly exported: number;
  /** Spans given up: the queue was full, the exporter failed or was too slow, or it was shut down. */
  readonly dropped: number;
  /** Spans that wait or are being exported. */
  readonly pending: number;
}

export interface BatchedExporter extends SpanExporter {
  stats(): BatchStats;
}

/** Puts `exporter` behind a bounded queue: `export` returns at once; `flush` and `shutdown` meet a deadline and never reject. */
export function batched(exporter: SpanExporter, options: BatchedOptions = {}): BatchedExporter {
  if (typeof exporter?.export !== "function")
    throw new OffstageError("invalid-argument", `batched() takes a span exporter; found ${shownValue(exporter)}.`);
  checkOptions(options, batchedRules, "batched");
  const queue = new SpanQueue(exporter, options);
  const batchedExporter: BatchedExporter = {
    name: exporter.name,
    export: (spans) => queue.add(spans),
    flush: () => queue.flush(),
    shutdown: () => queue.shutdown(),
    stats: () => queue.stats(),
  };
  if (!isBridge(exporter)) return batchedExporter;
  const bridge: SpanBridge = {
    traceStarted: (trace) => exporter.traceStarted(trace),
    traceEnded: (trace) => exporter.traceEnded(trace),
    spanStarted: (span) => exporter.spanStarted(span),
    run: (scope, work) => exporter.run(scope, work),
  };
  return Object.assign(batchedExporter, bridge);
}

// Looked up for every error: the process may be configured after the exporter is made.
function processHandler(error: unknown, source: string): void {
  traceState.settings.onError(error, source);
}

// A longer timer would fire at once.
const longestTimerMs = 2 ** 31 - 1;

class SpanQueue {
  readonly #exporter: SpanExporter;
  readonly #maxPending: number;
  readonly #maxBatch: number;
  readonly #delayMs: number;
  readonly #timeoutMs: number;
  readonly #onError: TracingErrorHandler;
  #waiting: SpanData[] = [];
  #inFlight = 0;
  #exported = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(exporter: SpanExporter, options: BatchedOptions) {
    const { maxPending = 8192, maxBatch = 512, delayMs = 1000, timeoutMs = 10_000, onError = processHandler } = options;
    this.#exporter = exporter;
    this.#maxPending = maxPending;
    this.#maxBatch = maxBatch;
    this.#delayMs = Math.min(delayMs, longestTimerMs);
    this.#timeoutMs = Math.min(timeoutMs, longestTimerMs);
    this.#onError = guardHandler(onError);
  }

  stats(): BatchStats {
    return { exported: this.#exported, dropped: this.#dropped, pending: this.#waiting.length + this.#inFlight };
  }

  add(spans: readonly SpanData[]): void {
    for (const span of spans) {
      const isFull = this.#waiting.length + this.#inFlight >= this.#maxPending;
      if (isFull || this.#closing !== undefined) this.#dropped += 1;
      else this.#waiting.push(span);
    }
    if (this.#waiting.length === 0 || this.#sending !== undefined) return;
    if (this.#waiting.length >= this.#maxBatch) this.#sendIn(0);
    else if (this.#timer === undefined) this.#sendIn(this.#delayMs);
  }

  /** Never rejects. */
  async flush(): Promise<void> {
    const drainAndFlush = async (): Promise<void> => {
      await this.#drain();
      await this.#exporter.flush();
    };
    await this.#attempt(drainAndFlush, { what: "flush", timeoutMs: this.#timeoutMs, holdsProcess: true });
  }

  /** Never rejects. Later calls return the promise of the first. */
  shutdown(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const end = performance.now() + this.#timeoutMs;
    await this.#attempt(() => this.#drain(), { what: "shutdown", timeoutMs: this.#timeoutMs, holdsProcess: true });
    this.#giveUp();
    const timeoutMs = Math.max(0, end - performance.now());
    await this.#attempt(() => this.#exporter.shutdown(), { what: "shutdown", timeoutMs, holdsProcess: true });
  }

  #giveUp(): void {
    clearTimeout(this.#timer);
    this.#dropped += this.#waiting.length + this.#inFlight;
    this.#waiting = [];
    this.#inFlight = 0;
  }

  #sendIn(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#drain(), delayMs);
    // Timers of Workers are numbers.
    this.#timer.unref?.();
  }

  /** Sends until the queue is empty, with one sender at a time. Never rejects. */
  #drain(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#maxBatch);
      this.#inFlight = batch.length;
      const isExported = await this.#attempt(async () => runUntraced(() => this.#exporter.export(batch)), {
        what: "export",
        timeoutMs: this.#timeoutMs,
        holdsProcess: false,
      });
      // Shutdown has given up this batch already.
      if (this.#inFlight === 0) return;
      this.#inFlight = 0;
      if (isExported) this.#exported += batch.length;
      else this.#dropped += batch.length;
    }
  }

  async #attempt(action: () => void | Promise<void>, deadline: DeadlineOptions): Promise<boolean> {
    try {
      await withDeadline(action, deadline);
      return true;
    } catch (error) {
      this.#onError(error, this.#exporter.name);
      return false;
    }
  }
}
