// One timed operation while it happens. Readers see it as SpanData; which one is current is told by trace-scope.ts.

import { type AsyncScope, asyncScope } from "../base/async-scope.ts";
import { errorType, isAbort } from "../base/cancellation.ts";
import { clockMs, clockOffsetMs } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import type { Mutable } from "../base/mutable.ts";
import { printsAs } from "../base/prints-as.ts";
import { messageOf } from "../errors.ts";
import type { EndStatus, SpanData, SpanKind, SpanStatus } from "./span-data.ts";
import { traceState } from "./trace-state.ts";
import { emit, initialSettings, notify, silenced, type TraceSettings } from "./tracing-options.ts";

/** What a span needs to know of the trace it belongs to. */
export interface SpanHome {
  /** All zeros for a span that belongs to no trace. */
  readonly traceId: string;
  readonly name: string;
  readonly groupId: string | undefined;
  /** The id of the caller's span, in a trace that came from another process. */
  readonly remoteParentId: string | undefined;
  /** Added to `clockMs()` it gives epoch milliseconds. */
  readonly clockOffset: number;
  /** Lists a span that has started. */
  register(span: TraceSpan): void;
  /** Told of every end. */
  spanEnded(span: TraceSpan): void;
}

/** What a span takes over from where it is started. */
export interface SpanPlace {
  readonly trace: SpanHome;
  readonly settings: TraceSettings;
  /** The parent: a span, the id of a span elsewhere, or nothing. */
  readonly asParent: TraceSpan | string | undefined;
}

/** Where new spans are put: `TraceContext` is one, and so is every `TraceSpan`. */
export interface TraceScope extends SpanPlace {
  /** Whether spans started here are kept. */
  readonly recording: boolean;
  /** The span handed out here while nothing is recorded. */
  readonly standIn: TraceSpan;
}

/** The scope that new spans belong to here. The number is the version of `TraceScope`'s shape. */
export const traceScope: AsyncScope<TraceScope> = asyncScope("tracing.1");

export interface SpanInit {
  readonly name: string;
  /** Default `custom`. */
  readonly kind?: SpanKind | undefined;
  /** Default: the span that the scope stands for. */
  readonly parentSpanId?: string | undefined;
  readonly metadata?: JsonObject | undefined;
}

/** A span made by hand may also say what it was. */
export interface TraceSpanInit extends SpanInit {
  /** Default: a new id. */
  readonly spanId?: string | undefined;
  /** Epoch milliseconds; default now. */
  readonly startTime?: number | undefined;
  /** Epoch milliseconds. A span made with it is already ended. */
  readonly endTime?: number | undefined;
  /** How a span made with `endTime` ended; default `ok`. */
  readonly status?: EndStatus | undefined;
}

/** The trace id of spans that belong to no trace. */
export const noTraceId: string = "0".repeat(32);

const noMetadata: JsonObject = Object.freeze({});
const nowhere: SpanHome = Object.freeze({
  traceId: noTraceId,
  name: "",
  groupId: undefined,
  remoteParentId: undefined,
  get clockOffset() {
    return clockOffsetMs();
  },
  register() {},
  spanEnded() {},
});

/** The place of a span that no trace has taken in yet. */
export const unplaced: SpanPlace = Object.freeze({
  trace: nowhere,
  settings: initialSettings(),
  asParent: undefined,
});

/** A timed operation: started when made, ended once. Usually made by `withSpan` or `trace.span`. */
export class TraceSpan implements SpanData, TraceScope {
  // Declared, not defined: a field that is first undefined and then a number costs an object more.
  declare readonly name: string;
  declare readonly kind: SpanKind;
  declare readonly startTime: number;
  declare readonly trace: SpanHome;
  declare readonly settings: TraceSettings;
  declare readonly recording: boolean;
  #parent: TraceSpan | string | undefined;
  // The sequence number until somebody asks for the id.
  #id: number | string = traceState.ids.nextSpan();
  #endTime: number = Number.NaN;
  #status: SpanStatus = "active";
  #metadata: JsonObject | undefined;
  #content: JsonObject | undefined;

  /** A span in `place`; without one it belongs to no trace until `trace.addSpan` takes it in. */
  constructor(init: SpanInit, place: SpanPlace);
  constructor(init: TraceSpanInit);
  constructor(init: TraceSpanInit, place: SpanPlace = unplaced) {
    const { trace } = place;
    this.name = init.name;
    this.kind = init.kind ?? "custom";
    this.startTime = trace === nowhere && init.startTime !== undefined ? init.startTime : trace.clockOffset + clockMs();
    this.trace = trace;
    this.settings = place.settings;
    this.recording = place.settings.recording;
    this.#parent = init.parentSpanId ?? place.asParent;
    this.#metadata = init.metadata;
    if (trace === nowhere) this.#describe(init);
  }

  #describe({ spanId, endTime, status = "ok" }: TraceSpanInit): void {
    if (spanId !== undefined) this.#id = spanId;
    if (endTime === undefined) return;
    this.#endTime = endTime;
    this.#status = status;
  }

  get spanId(): string {
    const id = this.#id;
    if (typeof id === "string") return id;
    const made = traceState.ids.spanId(id);
    this.#id = made;
    return made;
  }

  get parentSpanId(): string | undefined {
    const parent = this.#parent;
    return typeof parent === "object" ? parent.spanId : parent;
  }

  get parentIsRemote(): boolean {
    return this.#parent !== undefined && this.#parent === this.trace.remoteParentId;
  }

  get traceId(): string {
    return this.trace.traceId;
  }

  get traceName(): string {
    return this.trace.name;
  }

  get groupId(): string | undefined {
    return this.trace.groupId;
  }

  get endTime(): number | undefined {
    return this.#status === "active" ? undefined : this.#endTime;
  }

  get duration(): number | undefined {
    return this.#status === "active" ? undefined : this.#endTime - this.startTime;
  }

  get status(): SpanStatus {
    return this.#status;
  }

  get metadata(): JsonObject {
    return this.#metadata ?? noMetadata;
  }

  get content(): JsonObject | undefined {
    return this.#content;
  }

  /** Adds to the metadata. Without effect once the span has ended. */
  setMetadata(metadata: JsonObject): void {
    if (this.#status !== "active" || !this.recording) return;
    this.#metadata = this.#metadata === undefined ? { ...metadata } : { ...this.#metadata, ...metadata };
  }

  /** Adds content, where tracing was told to keep it; else without effect. */
  setContent(content: JsonObject): void {
    if (this.#status !== "active" || !this.keepsContent) return;
    this.#content = { ...this.#content, ...content };
  }

  /** Ends the span and hands it to journal and exporters. Works once; later calls have no effect. */
  end(status: EndStatus = "ok"): void {
    if (this.#status !== "active" || !this.recording) return;
    const now = this.trace.clockOffset + clockMs();
    this.#endTime = now < this.startTime ? this.startTime : now;
    this.#status = status;
    this.trace.spanEnded(this);
    this.#hand();
  }

  /** Ends the span the way `error` says: `cancelled` for an abort, else `error`, with the error's type as metadata. */
  fail(error: unknown, signal?: AbortSignal): void {
    if (this.#status !== "active" || !this.recording) return;
    const cancelled = isAbort(error, signal);
    this.setMetadata({ errorType: errorType(error) });
    if (this.keepsContent) this.setContent({ error: messageOf(error) });
    this.end(cancelled ? "cancelled" : "error");
  }

  /** Places a span that belongs to no trace yet; false if it belongs to one already. */
  placeIn(scope: TraceScope): boolean {
    if (this.trace !== nowhere) return false;
    const placed = this as Mutable<Pick<TraceSpan, "trace" | "settings" | "recording">>;
    placed.trace = scope.trace;
    placed.settings = scope.settings;
    placed.recording = scope.settings.recording;
    this.#parent ??= scope.asParent;
    if (this.#status !== "active") this.#hand();
    return true;
  }

  #hand(): void {
    const settings = this.settings;
    settings.keep?.(this);
    if (settings.exporters.length > 0) unrecorded(() => emit(this, settings));
  }

  /** The span as plain data. */
  toJSON(): SpanData {
    const trace = this.trace;
    const parent = this.#parent;
    const isActive = this.#status === "active";
    return {
      traceId: trace.traceId,
      spanId: this.spanId,
      parentSpanId: typeof parent === "object" ? parent.spanId : parent,
      parentIsRemote: (typeof parent === "string" && parent === trace.remoteParentId) || undefined,
      traceName: trace.name,
      groupId: trace.groupId,
      name: this.name,
      kind: this.kind,
      startTime: this.startTime,
      endTime: isActive ? undefined : this.#endTime,
      duration: isActive ? undefined : this.#endTime - this.startTime,
      status: this.#status,
      metadata: this.#metadata ?? noMetadata,
      content: this.#content,
    };
  }

  /** Whether `setContent` has an effect; worth asking before content is put together. */
  get keepsContent(): boolean {
    return this.recording && this.settings.content;
  }

  get asParent(): TraceSpan {
    return this;
  }

  get standIn(): TraceSpan {
    return this;
  }
}

printsAs(TraceSpan, (span) => span.toJSON());

// Says when it started, so that making it does not ask the clock.
const off: TraceSpanInit = { name: "off", startTime: 0 };

/** The span handed out where tracing is off and there is no trace: its trace id is zeros and it keeps nothing. */
export const offSpan: TraceSpan = new TraceSpan(off, { ...unplaced, settings: silenced(unplaced.settings) });

/** Runs `work` of an exporter with tracing off: its own spans would be exported too, without end. */
export function unrecorded<T>(work: () => T): T {
  return traceScope.run(offSpan, work);
}

/** Starts a span in `scope`, as a child of the span it stands for. Where nothing is recorded it costs next to nothing. */
export function startSpan(scope: TraceScope, init: SpanInit): TraceSpan {
  if (!scope.recording) return scope.standIn;
  return startWith(scope, init);
}

/** Starts a span that is recorded, whatever the place says. */
export function startWith(place: SpanPlace, init: SpanInit): TraceSpan {
  const { trace, settings } = place;
  const span = new TraceSpan(init, place);
  trace.register(span);
  if (settings.bridge !== undefined) notify(settings, (bridge) => bridge.spanStarted(span));
  return span;
}
