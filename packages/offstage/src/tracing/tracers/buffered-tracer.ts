// A tracer that holds records back: to be looked at, or to be written later, in order and with their own time and ids.
import { checkValue, wholeFrom } from "../../base/options.ts";
import { forward, type RecordTracer, type TraceRecord, type Tracer, traceRecord } from "../tracer.ts";
import { printErrors, report } from "../tracing-options.ts";

export interface BufferedTracerOptions {
  /** How many records are held. With a target a full buffer flushes itself, without one the oldest go. Default 1,000. */
  readonly limit?: number | undefined;
  /** Told when the target throws. The default prints. */
  readonly onError?: ((error: unknown, source: string) => void) | undefined;
}

/** Holds records, bounded, until they are flushed. */
export class BufferedTracer implements RecordTracer {
  readonly #target: Tracer | undefined;
  readonly #limit: number;
  readonly #onError: (error: unknown, source: string) => void;
  #records: TraceRecord[] = [];
  #dropped = 0;

  /** `flush` writes to `target`. Without one, records stay until they are cleared or pushed out. */
  constructor(target?: Tracer, options: BufferedTracerOptions = {}) {
    const { limit = 1000, onError = printErrors() } = options;
    checkValue("limit", limit, wholeFrom(1));
    this.#target = target;
    this.#limit = limit;
    this.#onError = onError;
  }

  /** What is held, oldest first. */
  get records(): readonly TraceRecord[] {
    return this.#records;
  }

  /** How many records were pushed out unread. */
  get dropped(): number {
    return this.#dropped;
  }

  trace(message: string): void {
    this.write(traceRecord("trace", message));
  }

  debug(message: string): void {
    this.write(traceRecord("debug", message));
  }

  info(message: string): void {
    this.write(traceRecord("info", message));
  }

  warning(message: string): void {
    this.write(traceRecord("warning", message));
  }

  error(message: string, error?: unknown): void {
    this.write(traceRecord("error", message, error));
  }

  write(record: TraceRecord): void {
    if (this.#records.length >= this.#limit) this.#makeRoom();
    this.#records.push(record);
  }

  /** Writes everything held to the target, oldest first. Never throws. Without a target nothing happens. */
  flush(): void {
    const target = this.#target;
    if (target === undefined) return;
    const records = this.#records;
    this.#records = [];
    for (const record of records) this.#forward(record, target);
  }

  /** Forgets everything held. */
  clear(): void {
    this.#records = [];
  }

  #makeRoom(): void {
    this.flush();
    if (this.#records.length < this.#limit) return;
    this.#records.shift();
    this.#dropped += 1;
  }

  #forward(record: TraceRecord, target: Tracer): void {
    try {
      forward(record, target);
    } catch (error) {
      report({ onError: this.#onError }, error, "tracer");
    }
  }
}
