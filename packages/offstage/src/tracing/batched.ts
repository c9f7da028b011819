// A decorator that hands spans to an exporter in batches, later, through a bounded queue. Not an exporter by itself.

import { type DeadlineOptions, withDeadline } from "../base/cancellation.ts";
import { clockMs } from "../base/clock.ts";
import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { SpanData } from "./span-data.ts";
import { isBridge, type SpanBridge, type SpanExporter } from "./span-exporter.ts";
import { unrecorded } from "./trace-span.ts";
import { traceState } from "./trace-state.ts";
import { report } from "./tracing-options.ts";

export interface BatchedOptions {
  /** How many spans may wait or be on their way; more are dropped and counted. Default 8,192. */
  readonly maxPending?: number | undefined;
  /** How many spans leave at once. Default 512. */
  readonly maxBatch?: number | undefined;
  /** How long a span waits at most for company, in milliseconds. Default 1,000. */
  readonly delayMs?: number | undefined;
  /** How long one batch, one flush and the shutdown may take, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Told of every failure of the exporter. Default: the `onError` that `configureTracing` was given, which prints by default. */
  readonly onError?: ((error: unknown, source: string) => void) | undefined;
}

/** At every moment `exported + dropped + pending` is the number of spans handed over. */
export interface BatchStats {
  /** Spans the exporter took. */
  readonly exported: number;
  /** Spans given up: the queue was full, the exporter failed or took too long, or it was shut down. */
  readonly dropped: number;
  /** Spans that wait or are on their way. */
  readonly pending: number;
}

export interface BatchedExporter extends SpanExporter {
  stats(): BatchStats;
}

/** `exporter` behind a bounded queue: `export` returns at once, `flush` and `shutdown` never reject and keep a deadline. */
export function batched(exporter: SpanExporter, options: BatchedOptions = {}): BatchedExporter {
  if (typeof exporter?.export !== "function")
    throw new OffstageError("invalid-argument", `batched() takes a span exporter; found ${shownValue(exporter)}.`);
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

function tellProcess(error: unknown, source: string): void {
  traceState.settings.onError(error, source);
}

class SpanQueue {
  readonly #exporter: SpanExporter;
  readonly #maxPending: number;
  readonly #maxBatch: number;
  readonly #delayMs: number;
  readonly #timeoutMs: number;
  readonly #onError: (error: unknown, source: string) => void;
  #waiting: SpanData[] = [];
  #leaving = 0;
  #exported = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(exporter: SpanExporter, options: BatchedOptions) {
    const { maxPending = 8192, maxBatch = 512, delayMs = 1000, timeoutMs = 10_000, onError = tellProcess } = options;
    this.#exporter = exporter;
    this.#maxPending = maxPending;
    this.#maxBatch = Math.max(1, maxBatch);
    this.#delayMs = delayMs;
    this.#timeoutMs = timeoutMs;
    this.#onError = onError;
  }

  stats(): BatchStats {
    return { exported: this.#exported, dropped: this.#dropped, pending: this.#waiting.length + this.#leaving };
  }

  add(spans: readonly SpanData[]): void {
    for (const span of spans) {
      const isFull = this.#waiting.length + this.#leaving >= this.#maxPending;
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

  /** Never rejects; the second call waits for the first. */
  shutdown(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const end = clockMs() + this.#timeoutMs;
    await this.#attempt(() => this.#drain(), { what: "shutdown", timeoutMs: this.#timeoutMs, holdsProcess: true });
    this.#giveUp();
    const timeoutMs = Math.max(0, end - clockMs());
    await this.#attempt(() => this.#exporter.shutdown(), { what: "shutdown", timeoutMs, holdsProcess: true });
  }

  #giveUp(): void {
    clearTimeout(this.#timer);
    this.#dropped += this.#waiting.length + this.#leaving;
    this.#waiting = [];
    this.#leaving = 0;
  }

  #sendIn(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#drain(), delayMs);
    // Timers of Workers are numbers.
    this.#timer.unref?.();
  }

  /** Sends until nothing waits; one sender at a time. Never rejects. */
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
      this.#leaving = batch.length;
      const hasLeft = await this.#attempt(async () => unrecorded(() => this.#exporter.export(batch)), {
        what: "export",
        timeoutMs: this.#timeoutMs,
        holdsProcess: false,
      });
      if (this.#leaving === 0) return; // Shutdown has given this batch up already.
      this.#leaving = 0;
      if (hasLeft) this.#exported += batch.length;
      else this.#dropped += batch.length;
    }
  }

  async #attempt(action: () => void | Promise<void>, deadline: DeadlineOptions): Promise<boolean> {
    try {
      await withDeadline(action, deadline);
      return true;
    } catch (error) {
      report({ onError: this.#onError }, error, this.#exporter.name);
      return false;
    }
  }
}
