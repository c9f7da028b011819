// Several tracers as one: each gets every record, even if another one fails.
import { checkOptions, type OptionRules, shownValue, someFunction } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import { forward, type RecordTracer, type TraceRecord, type Tracer, traceRecord, tracerRule } from "../tracer.ts";
import { guardHandler, printErrors, type TracingErrorHandler } from "../tracing-options.ts";

export interface CompositeTracerOptions {
  /** Called when one of the tracers throws. Default: prints a warning, rate-limited. */
  readonly onError?: TracingErrorHandler | undefined;
}

const rules: OptionRules = { onError: someFunction };

/** Writes every record to each of its tracers, in their order. */
export class CompositeTracer implements RecordTracer {
  readonly #tracers: readonly Tracer[];
  readonly #onError: TracingErrorHandler;

  constructor(tracers: readonly Tracer[], options: CompositeTracerOptions = {}) {
    checkTracers(tracers);
    checkOptions(options, rules, "CompositeTracer");
    this.#tracers = [...tracers];
    this.#onError = guardHandler(options.onError ?? printErrors());
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
        this.#onError(error, "tracer");
      }
    }
  }
}

function checkTracers(tracers: unknown): void {
  if (Array.isArray(tracers) && tracers.every((each) => tracerRule.isFit(each))) return;
  const found = Array.isArray(tracers) ? tracers.find((each) => !tracerRule.isFit(each)) : tracers;
  const sentence = `CompositeTracer takes a list of tracers: new CompositeTracer([first, second]); found ${shownValue(found)}.`;
  throw new OffstageError("invalid-argument", sentence);
}
