// Several tracers as one: each gets every record, and one that fails does not keep it from the others.
import { OffstageError } from "../../errors.ts";
import { forward, type RecordTracer, type TraceRecord, type Tracer, traceRecord } from "../tracer.ts";
import { printErrors, report } from "../tracing-options.ts";

export interface CompositeTracerOptions {
  /** Told when one of the tracers throws. The default prints. */
  readonly onError?: (error: unknown, source: string) => void;
}

const listWanted = "A CompositeTracer takes a list of tracers: new CompositeTracer([first, second]).";

/** Writes every record to each of its tracers, in their order. */
export class CompositeTracer implements RecordTracer {
  readonly #tracers: readonly Tracer[];
  readonly #onError: (error: unknown, source: string) => void;

  constructor(tracers: readonly Tracer[], options: CompositeTracerOptions = {}) {
    if (!Array.isArray(tracers)) throw new OffstageError("invalid-argument", listWanted);
    this.#tracers = [...tracers];
    this.#onError = options.onError ?? printErrors();
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
    for (const tracer of this.#tracers) {
      try {
        forward(record, tracer);
      } catch (error) {
        report({ onError: this.#onError }, error, "tracer");
      }
    }
  }
}
