// A tracer that buffers records, to be inspected or written later, in order and with their original times and ids.
import { checkOptions, checkValue, type OptionRules, someFunction, wholeFrom } from "../../base/options.ts";
import { forward, type RecordTracer, type TraceRecord, type Tracer, traceRecord, tracerRule } from "../tracer.ts";
import { guardHandler, printErrors, type TracingErrorHandler } from "../tracing-options.ts";

export interface BufferedTracerOptions {
  /** The size of the buffer. A full buffer flushes to its target; without a target it drops the oldest record. Default 1,000. */
  readonly limit?: number | undefined;
  /** Called when the target throws. Default: prints a warning, rate-limited. */
  readonly onError?: TracingErrorHandler | undefined;
}

const rules: OptionRules = { limit: wholeFrom(1), onError: someFunction };

/** Buffers records until they are flushed. */
export class BufferedTracer implements RecordTracer {
  readonly #target: Tracer | undefined;
  readonly #limit: number;
  readonly #onError: TracingErrorHandler;
  #records: TraceRecord[] = [];
  #dropped = 0;

  /** `flush` writes to `target`. Without one, records stay until they are cleared or dropped. */
  constructor(target?: Tracer, options: BufferedTracerOptions = {}) {
    checkValue("target", target, tracerRule);
    checkOptions(options, rules, "BufferedTracer");
    this.#target = target;
    this.#limit = options.limit ?? 1000;
    this.#onError = guardHandler(options.onError ?? printErrors());
  }

  /** The buffered records, oldest first. */
  get records(): readonly TraceRecord[] {
    return this.#records;
  }

  /** The number of records dropped because the buffer was full. */
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

  /** Writes the buffered records to the target, oldest first, and empties the buffer. No-op without a target. Never throws. */
  flush(): void {
    const target = this.#target;
    if (target === undefined) return;
    const records = this.#records;
    this.#records = [];
    for (const record of records) this.#forward(record, target);
  }

  /** Empties the buffer. */
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
      this.#onError(error, "tracer");
    }
  }
}
