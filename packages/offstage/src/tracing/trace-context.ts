// A trace: the spans of one piece of work, under one id. A trace is not itself a span.

import { errorType, isAbort } from "../base/cancellation.ts";
import type { JsonObject } from "../base/json.ts";
import { anything, checkOptions, type OptionRules, shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { SpanKind } from "./span-data.ts";
import type { TraceFailure } from "./span-exporter.ts";
import {
  clockOffsetMs,
  copyMetadata,
  currentScope,
  newSpanId,
  newTraceId,
  noopSpan,
  noTraceId,
  passOn,
  runInScope,
  type SpanInit,
  type SpanOwner,
  spanName,
  startSpan,
  type TraceScope,
  type TraceSpan,
} from "./trace-span.ts";
import { traceState } from "./trace-state.ts";
import { formatTraceparent, type HeaderSource, parseTraceparent, type RemoteParent } from "./traceparent.ts";
import {
  type EndedSpans,
  mute,
  notifyBridge,
  refine,
  type TraceSettings,
  type TracingOptions,
  tracingRules,
} from "./tracing-options.ts";

export interface TraceOptions extends TracingOptions {
  /** Links traces that belong together, such as the turns of one session. */
  readonly groupId?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  /** Incoming headers. A valid `traceparent` continues the caller's trace; an invalid one is ignored. */
  readonly headers?: HeaderSource | undefined;
  /** A `traceparent` without headers. An invalid one is ignored. */
  readonly traceparent?: string | undefined;
}

export interface SpanOptions {
  /** Default `custom`. */
  readonly kind?: SpanKind | undefined;
  /** Default: the current span, if it belongs to this trace. */
  readonly parentSpanId?: string | undefined;
  readonly metadata?: JsonObject | undefined;
}

/** The part of a new trace that only the agent's runs set. */
export interface TraceInit {
  /** The id of a trace that does not continue a caller's. Default: a random one. */
  readonly traceId?: string | undefined;
  /** The settings of its spans. Default: those of the level above, with the options applied. */
  readonly settings?: TraceSettings | undefined;
  /** Ends the trace when its first span ends. Default false. */
  readonly endsWithRoot?: boolean | undefined;
}

// Values that come from requests and data are accepted as they are, and dropped if they do not fit: telemetry never breaks work.
const traceRules: OptionRules = {
  ...tracingRules,
  ...{ groupId: anything, metadata: anything, headers: anything, traceparent: anything },
};

/** The rules of `SpanOptions`. */
export const spanRules: OptionRules = { kind: anything, parentSpanId: anything, metadata: anything };

type Work<T> = (trace: TraceContext) => T | Promise<T>;

/** One trace and its spans. `withTrace` opens one; `TraceContext.current` is the one that this code runs in. */
export class TraceContext implements SpanOwner, TraceScope {
  readonly name: string;
  /** 32 hex digits. */
  readonly traceId: string;
  readonly groupId: string | undefined;
  readonly metadata: JsonObject;
  readonly clockOffset: number;
  /** Epoch milliseconds, with fractions. */
  readonly startTime: number;
  readonly settings: TraceSettings;
  readonly remoteParentId: string | undefined;
  readonly asParent: string | undefined;
  readonly #remote: RemoteParent | undefined;
  /** In the order in which they were added. See `getSpans()`. */
  readonly spans: TraceSpan[] = [];
  readonly #endsWithRoot: boolean;
  #endTime: number | undefined;

  private constructor(name: string, options: TraceOptions, init: TraceInit) {
    this.#remote = remoteParentOf(options);
    this.remoteParentId = this.#remote?.parentSpanId;
    this.asParent = this.remoteParentId;
    this.#endsWithRoot = init.endsWithRoot ?? false;
    this.name = spanName(name);
    this.traceId = this.#remote?.traceId ?? init.traceId ?? newTraceId();
    this.groupId = typeof options.groupId === "string" ? options.groupId : undefined;
    this.metadata = copyMetadata(options.metadata);
    const now = performance.now();
    this.clockOffset = clockOffsetMs(now);
    this.startTime = this.clockOffset + now;
    const settings = init.settings ?? refine(currentScope()?.settings ?? traceState.settings, options);
    const isRecorded = settings.recording && this.#remote?.sampled !== false && isSampled(this, settings);
    this.settings = isRecorded ? settings : mute(settings);
  }

  /** The trace that this code runs in; undefined outside of any. */
  static get current(): TraceContext | undefined {
    return traceOf(currentScope());
  }

  /** Opens a trace without making it current. The caller ends it. */
  static open(name: string, options: TraceOptions = {}, init?: TraceInit): TraceContext {
    // The options of a run were checked with the run's.
    if (init === undefined) checkOptions(options, traceRules, "trace");
    return new TraceContext(name, options, init ?? {});
  }

  /** Continues the caller's trace; undefined if the headers hold no valid `traceparent`. */
  static fromHeaders(
    headers: HeaderSource,
    options: TraceOptions & { readonly name?: string | undefined } = {},
  ): TraceContext | undefined {
    checkOptions(options, { ...traceRules, name: anything }, "trace");
    if (parseTraceparent(headers) === undefined) return undefined;
    return new TraceContext(options.name ?? "remote", { ...options, headers }, {});
  }

  /** Runs `work` in a new trace, which ends when `work` settles. Returns the result of `work`. */
  static withTrace<T>(name: string, work: Work<T>): Promise<T>;
  static withTrace<T>(name: string, options: TraceOptions | undefined, work: Work<T>): Promise<T>;
  static async withTrace<T>(name: string, first: TraceOptions | Work<T> | undefined, second?: Work<T>): Promise<T> {
    const [options, work] = typeof first === "function" ? [undefined, first] : [first, second];
    checkWork(work, "withTrace");
    const trace = TraceContext.open(name, options);
    notifyBridge(trace.settings, (bridge) => bridge.traceStarted(trace));
    const ended = (failure?: TraceFailure): void => {
      trace.end();
      notifyBridge(trace.settings, (bridge) => bridge.traceEnded(trace, failure));
    };
    try {
      const result = await runInScope(trace, () => work(trace));
      ended();
      return result;
    } catch (error) {
      ended({ status: isAbort(error) ? "cancelled" : "error", errorType: errorType(error) });
      throw error;
    }
  }

  /** Runs `work` with this trace as the current one. Does not end the trace. */
  run<T>(work: () => T): T {
    checkWork(work, "trace.run");
    return runInScope(this, work);
  }

  /** Starts a span of this trace. The caller ends it. */
  span(name: string, options: SpanOptions = {}): TraceSpan {
    checkOptions(options, spanRules, "span");
    const scope = currentScope();
    return startSpan(scope?.trace === this ? scope : this, { ...options, name });
  }

  /** Takes in a span made with `new TraceSpan`. A span of this trace changes nothing; one of another trace goes to `onError`. */
  addSpan(span: TraceSpan): void {
    if (span?.trace === this || !this.recording) return;
    // Not `instanceof`: the span may come from another copy of the package.
    if (typeof span?.placeIn !== "function" || !span.placeIn(this)) {
      this.settings.onError(misplacedSpan(span), "addSpan");
      return;
    }
    this.spans.push(span);
    if (span.status !== "active") passOn(span);
  }

  /** The spans so far, in the order they started. */
  getSpans(): TraceSpan[] {
    return this.spans.toSorted((a, b) => a.startTime - b.startTime);
  }

  /** Ends the trace; only the first call has an effect. Spans that are still active end on their own. */
  end(): void {
    this.#endTime ??= Math.max(this.startTime, this.clockOffset + performance.now());
  }

  /** Epoch milliseconds; undefined until the trace has ended. */
  get endTime(): number | undefined {
    return this.#endTime ?? (this.#endsWithRoot ? this.spans[0]?.endTime : undefined);
  }

  /** Milliseconds from the start to the end, or until now if the trace has not ended. */
  get duration(): number {
    return (this.endTime ?? this.clockOffset + performance.now()) - this.startTime;
  }

  /** The `traceparent` (and `tracestate`) headers for a call to another process, as a child of the current span. */
  toHeaders(): Record<string, string> {
    const scope = currentScope();
    const parent = scope?.trace === this ? scope.asParent : this.asParent;
    const parentSpanId = typeof parent === "object" ? parent.spanId : (parent ?? newSpanId());
    const { traceId, recording: sampled } = this;
    return formatTraceparent({ traceId, parentSpanId, sampled, tracestate: this.#remote?.tracestate });
  }

  /** The trace and its spans as plain data. */
  toJSON(): JsonObject {
    const { traceId, name, groupId, metadata, startTime, endTime, duration } = this;
    const spans = this.getSpans().map((span) => span.toJSON() as unknown as JsonObject);
    return { traceId, name, groupId, metadata, startTime, endTime, duration, spans };
  }

  /** Whether this trace keeps its spans: tracing is on, and the sampler selected it. */
  get recording(): boolean {
    return this.settings.recording;
  }

  get trace(): this {
    return this;
  }
}

/** The trace that a scope belongs to; undefined for a span that belongs to none. */
export function traceOf(scope: TraceScope | undefined): TraceContext | undefined {
  const trace = scope?.trace;
  return trace === undefined || trace.traceId === noTraceId ? undefined : (trace as TraceContext);
}

/** The id of the current trace, if there is one. */
export function currentTraceId(): string | undefined {
  return TraceContext.current?.traceId;
}

/** The group id of the current trace, if it has one. */
export function currentGroupId(): string | undefined {
  return TraceContext.current?.groupId;
}

/** Throws `invalid-argument` unless `work` is a function. */
export function checkWork(work: unknown, caller: string): asserts work is (...args: never[]) => unknown {
  if (typeof work === "function") return;
  throw new OffstageError("invalid-argument", `${caller}() needs a function to run; found ${shownValue(work)}.`);
}

function remoteParentOf({ headers, traceparent }: TraceOptions): RemoteParent | undefined {
  if (headers == null && traceparent === undefined) return undefined;
  return parseTraceparent(headers ?? {}) ?? parseTraceparent({ traceparent });
}

function misplacedSpan(span: TraceSpan | undefined): OffstageError {
  const sentence =
    typeof span?.placeIn === "function"
      ? `The span "${span.spanId}" belongs to the trace "${span.traceId}" already. Add a span to one trace only.`
      : `trace.addSpan() takes a span made with "new TraceSpan"; found ${shownValue(span)}.`;
  return new OffstageError("invalid-argument", sentence);
}

export interface RootSpanInit extends SpanInit, Pick<TraceInit, "traceId"> {
  /** The group of the trace opened for this span. Default: none. */
  readonly groupId?: string | undefined;
  /** The name of the trace opened for this span. Default: the span's name. */
  readonly traceName?: string | undefined;
  /** Tracing for this span and all below it. */
  readonly tracing?: TracingOptions | false | undefined;
  /** A list that this span and all below it are appended to when they end, beside the exporters. */
  readonly kept?: EndedSpans | undefined;
}

/**
 * Starts a span in the current trace, or in a new trace that ends with the span. The caller ends it. `tracing` and `kept`
 * apply to the span and all below it; a trace that it joins still lists them.
 */
export function startRootSpan(init: RootSpanInit): TraceSpan {
  const scope = currentScope();
  if (scope === undefined) return startSpan(rootScope(init), init);
  const settings = settingsBelow(scope.settings, init);
  return startSpan({ trace: scope.trace, settings, asParent: scope.asParent }, init);
}

/** The scope of a root span: a new trace that ends with the span, or a no-op span if tracing is off. */
export function rootScope(init: RootSpanInit): TraceScope {
  const { name, traceName = name, traceId, groupId } = init;
  const settings = settingsBelow(traceState.settings, init);
  if (!settings.recording) return noopSpan();
  return TraceContext.open(traceName, { groupId }, { traceId, settings, endsWithRoot: true });
}

function settingsBelow(above: TraceSettings, { tracing, kept }: RootSpanInit): TraceSettings {
  const settings = tracing === undefined ? above : refine(above, tracing);
  return kept === undefined ? settings : { ...settings, kept: [...settings.kept, kept] };
}

// A share gives the same answer for an id in every process; a sampler that throws samples.
function isSampled(trace: TraceContext, { sample, onError }: TraceSettings): boolean {
  if (typeof sample === "number") return sample >= 1 || Number.parseInt(trace.traceId.slice(-8), 16) < sample * 2 ** 32;
  try {
    return sample(trace);
  } catch (error) {
    onError(error, "sample");
    return true;
  }
}
