// A trace: the spans of one piece of work, under one id. It is not itself a span.

import { clockMs, clockOffsetMs } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import { OffstageError } from "../errors.ts";
import type { SpanKind } from "./span-data.ts";
import { newSpanId, newTraceId, noTraceId } from "./trace-ids.ts";
import { currentScope, enter } from "./trace-scope.ts";
import { type SpanOwner, startSpan, type TraceScope, type TraceSpan } from "./trace-span.ts";
import { traceState } from "./trace-state.ts";
import { formatTraceparent, type HeaderSource, parseTraceparent, type RemoteParent } from "./traceparent.ts";
import {
  isSampled,
  type KeepSpan,
  keeping,
  notify,
  refine,
  report,
  silenced,
  type TraceSettings,
  type TracingOptions,
} from "./tracing-options.ts";

export interface TraceOptions extends TracingOptions {
  /** Links traces that belong together, such as the turns of one session. */
  readonly groupId?: string | undefined;
  readonly metadata?: JsonObject | undefined;
  /** Incoming headers: a valid `traceparent` among them makes this the caller's trace, continued. */
  readonly headers?: HeaderSource | undefined;
  /** The `traceparent` alone, where there are no headers; one that is not valid is passed over as in them. */
  readonly traceparent?: string | undefined;
}

export interface SpanOptions {
  /** Default `custom`. */
  readonly kind?: SpanKind | undefined;
  /** Default: the current span, if it is one of this trace. */
  readonly parentSpanId?: string | undefined;
  readonly metadata?: JsonObject | undefined;
}

/** What is said of a trace by whoever opens it. */
export interface TraceInit {
  /** Its id, where the trace is not the caller's. Default: a random one. */
  readonly traceId?: string | undefined;
  /** Gets its spans when they end, beside the exporters. */
  readonly keep?: KeepSpan | undefined;
}

type Work<T> = (trace: TraceContext) => T | Promise<T>;

/** One trace and the spans in it. `withTrace` opens one; `TraceContext.current` is the one this code runs in. */
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
  readonly #remote: RemoteParent | undefined;
  readonly #spans: TraceSpan[] = [];
  #inOrder = true;
  #endTime: number | undefined;
  #endsWith: TraceSpan | undefined;

  private constructor(name: string, options: TraceOptions, init?: TraceInit) {
    const remote = remoteOf(options);
    this.name = name;
    this.traceId = remote?.traceId ?? init?.traceId ?? newTraceId();
    this.groupId = options.groupId;
    this.metadata = { ...options.metadata };
    const now = clockMs();
    this.clockOffset = clockOffsetMs(now);
    this.startTime = this.clockOffset + now;
    this.#remote = remote;
    const settings = keeping(refine(currentScope()?.settings ?? traceState.settings, options), init?.keep);
    const sampled = settings.recording && remote?.sampled !== false && isSampled(this, settings);
    this.settings = sampled ? settings : silenced(settings);
  }

  /** The trace this code runs in; undefined outside of any. */
  static get current(): TraceContext | undefined {
    return traceOf(currentScope());
  }

  /** Starts a trace without making it current. Whoever opens it calls `end`. */
  static open(name: string, options: TraceOptions = {}, init?: TraceInit): TraceContext {
    return new TraceContext(name, options, init);
  }

  /** The caller's trace, continued here; undefined where the headers carry none that is valid. */
  static fromHeaders(
    headers: HeaderSource,
    options: TraceOptions & { readonly name?: string } = {},
  ): TraceContext | undefined {
    if (parseTraceparent(headers) === undefined) return undefined;
    return new TraceContext(options.name ?? "remote", { ...options, headers });
  }

  /** Runs `work` in a new trace, which ends when `work` settles. Gives what `work` gives. */
  static withTrace<T>(name: string, work: Work<T>): Promise<T>;
  static withTrace<T>(name: string, options: TraceOptions | undefined, work: Work<T>): Promise<T>;
  static withTrace<T>(name: string, first: TraceOptions | Work<T> | undefined, second?: Work<T>): Promise<T> {
    const [options, work] = typeof first === "function" ? [undefined, first] : [first, second as Work<T>];
    const trace = new TraceContext(name, options ?? {});
    notify(trace.settings, (bridge) => bridge.traceStarted(trace));
    return enter(trace, () => settle(trace, work));
  }

  /** Runs `work` with this trace as the current one. Does not end the trace. */
  run<T>(work: () => T): T {
    return enter(this, work);
  }

  /** Starts a span of this trace. The caller ends it. */
  span(name: string, options: SpanOptions = {}): TraceSpan {
    const scope = currentScope();
    return startSpan(scope?.trace === this ? scope : this, { ...options, name });
  }

  /** Takes in a span made with `new TraceSpan`. A span this trace knows changes nothing; one of another trace is refused. */
  addSpan(span: TraceSpan): void {
    if (span.trace === this || !this.settings.recording) return;
    if (span.placeIn(this)) {
      this.#inOrder = false;
      this.register(span);
    } else report(this.settings, misplaced(span), "addSpan");
  }

  /** The spans so far, in the order they started. */
  getSpans(): TraceSpan[] {
    if (!this.#inOrder) this.#spans.sort((a, b) => a.startTime - b.startTime);
    this.#inOrder = true;
    return this.#spans.slice();
  }

  /** Ends the trace: its duration stands still. Spans still active end on their own. Works once. */
  end(): void {
    this.#endTime ??= Math.max(this.startTime, this.clockOffset + clockMs());
  }

  /** Epoch milliseconds; undefined until the trace has ended. */
  get endTime(): number | undefined {
    return this.#endTime;
  }

  /** Milliseconds from the start to the end, or to now while the trace is going on. */
  get duration(): number {
    return (this.#endTime ?? this.clockOffset + clockMs()) - this.startTime;
  }

  /** `traceparent` (and `tracestate`) for a call to another process, as a child of the current span. */
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

  /** Makes the trace end when `span` does. */
  endWith(span: TraceSpan): void {
    this.#endsWith = span;
  }

  spanEnded(span: TraceSpan): void {
    if (span === this.#endsWith) this.end();
  }

  register(span: TraceSpan): void {
    this.#spans.push(span);
  }

  get trace(): this {
    return this;
  }

  /** Whether this trace keeps its spans: tracing is on here, and the sampler chose it. */
  get recording(): boolean {
    return this.settings.recording;
  }

  get remoteParentId(): string | undefined {
    return this.#remote?.parentSpanId;
  }

  get asParent(): string | undefined {
    return this.#remote?.parentSpanId;
  }
}

/** The trace that a span belongs to; undefined for a span in none. */
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

function remoteOf({ headers, traceparent }: TraceOptions): RemoteParent | undefined {
  const sent = headers === undefined ? undefined : parseTraceparent(headers);
  return sent ?? (traceparent === undefined ? undefined : parseTraceparent({ traceparent }));
}

function misplaced({ spanId, traceId }: TraceSpan): OffstageError {
  return new OffstageError(
    "invalid-argument",
    `The span "${spanId}" belongs to the trace "${traceId}" already. Add a span to one trace only.`,
  );
}

async function settle<T>(trace: TraceContext, work: Work<T>): Promise<T> {
  try {
    return await work(trace);
  } finally {
    trace.end();
    notify(trace.settings, (bridge) => bridge.traceEnded(trace));
  }
}
