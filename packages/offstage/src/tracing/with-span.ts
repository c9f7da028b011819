// Running work inside a trace or a span: the one wrapper around everything that is timed.
import { type SpanOptions, TraceContext, type TraceInit } from "./trace-context.ts";
import { currentScope, enter, standInFor } from "./trace-scope.ts";
import { offSpan, type SpanInit, startSpan, startWith, type TraceScope, type TraceSpan } from "./trace-span.ts";
import { traceState } from "./trace-state.ts";
import { keeping, refine, type TracingOptions } from "./tracing-options.ts";

export interface WithSpanOptions extends SpanOptions {
  /** Work that rejects with this signal's reason was cancelled, not in error. */
  readonly signal?: AbortSignal | undefined;
}

const noOptions: WithSpanOptions = {};

type Work<T> = (span: TraceSpan) => T | Promise<T>;

/** Runs `work` in a new trace, which ends when `work` settles. Gives what `work` gives. */
export const withTrace: typeof TraceContext.withTrace = TraceContext.withTrace;

/**
 * Runs `work` in a span that is a child of the current one; outside of any trace it opens one of the same name. The span
 * ends when `work` settles: `ok`, `cancelled` on an abort, else `error`. Gives what `work` gives.
 */
export function withSpan<T>(name: string, work: Work<T>): Promise<T>;
export function withSpan<T>(name: string, options: WithSpanOptions | undefined, work: Work<T>): Promise<T>;
export function withSpan<T>(name: string, first: WithSpanOptions | Work<T> | undefined, second?: Work<T>): Promise<T> {
  const options = typeof first === "function" ? undefined : first;
  const work = typeof first === "function" ? first : (second as Work<T>);
  const scope = currentScope();
  if (!(scope ?? traceState.settings).recording) return settleSilently(scope?.standIn ?? offSpan, work);
  const { kind, parentSpanId, metadata, signal } = options ?? noOptions;
  const init = { name, kind, parentSpanId, metadata: metadata && { ...metadata } };
  const span = scope === undefined ? startRootSpan(init) : startSpan(scope, init);
  return enter(span, () => (span.recording ? settle(span, work, signal) : settleSilently(span, work)));
}

export interface RootSpanInit extends SpanInit, TraceInit {
  /** The group of a trace opened for this span. Default: none. */
  readonly groupId?: string | undefined;
  /** The name of a trace opened for this span. Default: the span's name. */
  readonly traceName?: string | undefined;
  /** Tracing for this span and all below it. */
  readonly tracing?: TracingOptions | false | undefined;
  /** Gets this span and all below it when they end. */
  readonly keep?: TraceInit["keep"];
}

/**
 * Starts a span in the current trace, or in a trace opened for it that ends with it. With `tracing`, the span and all
 * below it are recorded that way; a joined trace keeps listing them.
 */
export function startRootSpan(init: RootSpanInit): TraceSpan {
  const scope = currentScope();
  return scope === undefined ? startTrace(init) : startWithin(scope, init);
}

function startWithin(scope: TraceScope, init: RootSpanInit): TraceSpan {
  const settings = keeping(refine(scope.settings, init.tracing), init.keep);
  if (!settings.recording) return silentSpan();
  if (settings === scope.settings) return startSpan(scope, init);
  return startWith({ trace: scope.trace, settings, asParent: scope.asParent }, init);
}

/** The span of work that is not to be recorded here, whatever is around it. */
export function silentSpan(): TraceSpan {
  const scope = currentScope();
  return scope === undefined ? offSpan : silentWithin(scope);
}

function silentWithin(scope: TraceScope): TraceSpan {
  return scope.recording ? standInFor(scope, scope.settings) : scope.standIn;
}

/** Runs `work` with `span` as the current one. Does not end the span. */
export function runInSpan<T>(span: TraceSpan, work: () => T): T {
  return span.recording || (currentScope() ?? traceState.settings).recording ? enter(span, work) : work();
}

function startTrace(init: RootSpanInit): TraceSpan {
  if (!traceState.settings.recording || init.tracing === false || init.tracing?.enabled === false) return offSpan;
  const trace = TraceContext.open(init.traceName ?? init.name, { ...init.tracing, groupId: init.groupId }, init);
  const span = startSpan(trace, init);
  trace.endWith(span);
  return span;
}

async function settle<T>(span: TraceSpan, work: Work<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    const value = await work(span);
    span.end();
    return value;
  } catch (error) {
    span.fail(error, signal);
    throw error;
  }
}

/** Ends the span when the work is done, the way it went: at once where the work waits for nothing. Gives what the work gives. */
export function endAfter<Given extends object | undefined>(
  span: TraceSpan,
  work: () => Given,
  signal: AbortSignal | undefined,
): Given {
  try {
    const given = work();
    if (given !== undefined && "then" in given) return settleLater(span, given, signal);
    span.end();
    return given;
  } catch (error) {
    span.fail(error, signal);
    throw error;
  }
}

// Apart, so that no closure is made where nothing is waited for.
function settleLater<Given extends object>(span: TraceSpan, given: Given, signal: AbortSignal | undefined): Given {
  return settle(span, () => given as unknown as Promise<unknown>, signal) as unknown as Given;
}

// Where nothing is recorded, a promise of the work's own is handed on as it is.
function settleSilently<T>(span: TraceSpan, work: Work<T>): Promise<T> {
  try {
    return Promise.resolve(work(span));
  } catch (error) {
    return Promise.reject(error);
  }
}
