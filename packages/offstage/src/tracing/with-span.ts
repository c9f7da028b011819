// The public face of spans: `withSpan`, `withTrace`, and the root span of a run.
import { anything, checkOptions, type OptionRules } from "../base/options.ts";
import { checkWork, type SpanOptions, spanRules, TraceContext, type TraceInit } from "./trace-context.ts";
import {
  currentScope,
  inSpan,
  noopSpan,
  type SpanInit,
  startSpan,
  type TraceScope,
  type TraceSpan,
  type Work,
} from "./trace-span.ts";
import { traceState } from "./trace-state.ts";
import { addKept, refine, type TracingOptions } from "./tracing-options.ts";

export interface WithSpanOptions extends SpanOptions {
  /** Work that rejects with this signal's reason was cancelled and did not fail. */
  readonly signal?: AbortSignal | undefined;
}

const withSpanRules: OptionRules = { ...spanRules, signal: anything };

/** Runs `work` in a new trace, which ends when `work` settles. Returns the result of `work`. */
export const withTrace: typeof TraceContext.withTrace = TraceContext.withTrace;

/**
 * Runs `work` in a child of the current span, or in a trace of the same name if there is none. The span ends when `work`
 * settles: `ok`, `cancelled` after an abort, else `error`. Returns the result of `work`.
 */
export function withSpan<T>(name: string, work: Work<T>): Promise<T>;
export function withSpan<T>(name: string, options: WithSpanOptions | undefined, work: Work<T>): Promise<T>;
export async function withSpan<T>(
  name: string,
  first: WithSpanOptions | Work<T> | undefined,
  second?: Work<T>,
): Promise<T> {
  const [options = {}, work] = typeof first === "function" ? [undefined, first] : [first, second];
  checkWork(work, "withSpan");
  checkOptions(options, withSpanRules, "span");
  const { kind, parentSpanId, metadata, signal } = options;
  const init = { name, kind, parentSpanId, metadata };
  return await inSpan(currentScope() ?? rootScope(init), init, work, signal);
}

export interface RootSpanInit extends SpanInit, TraceInit {
  /** The group of the trace opened for this span. Default: none. */
  readonly groupId?: string | undefined;
  /** The name of the trace opened for this span. Default: the span's name. */
  readonly traceName?: string | undefined;
  /** Tracing for this span and all below it. */
  readonly tracing?: TracingOptions | false | undefined;
}

/**
 * Starts a span in the current trace, or in a new trace that ends with the span. The caller ends it. `tracing` and `kept`
 * apply to the span and all below it; a trace that it joins still lists them.
 */
export function startRootSpan(init: RootSpanInit): TraceSpan {
  const scope = currentScope();
  if (scope === undefined) return startSpan(rootScope(init), init);
  const settings = addKept(refine(scope.settings, init.tracing), init.kept);
  return startSpan({ trace: scope.trace, settings, asParent: scope.asParent }, init);
}

/** The scope of a root span: a new trace that ends with the span, or a no-op span if tracing is off. */
function rootScope(init: RootSpanInit): TraceScope {
  const { name, traceName = name, traceId, groupId, tracing, kept } = init;
  if (!refine(traceState.settings, tracing).recording) return noopSpan();
  return TraceContext.open(traceName, { ...tracing, groupId }, { traceId, kept, endsWithRoot: true });
}
