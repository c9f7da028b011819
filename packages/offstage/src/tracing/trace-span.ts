// One timed operation while it happens, and the scope that new spans are put in. Readers see it as SpanData.
import { messageOf } from "../errors.ts";
import type { JsonObject } from "../messages/json.ts";
import { errorType, isAbort } from "./abort.ts";
import type { EndStatus, SpanData, SpanKind, SpanStatus } from "./span-data.ts";
import { traceState } from "./trace-state.ts";
import { emit, silenced, type TraceSettings } from "./tracing-options.ts";

/** What a span needs to know of the trace it belongs to. */
export interface SpanHome {
  /** All zeros for a span that belongs to no trace. */
  readonly traceId: string;
  readonly name: string;
  readonly groupId: string | undefined;
  /** Added to `performance.now()` it gives epoch milliseconds. */
  readonly clockOffset: number;
  /** Lists a span that has started. */
  register(span: TraceSpan): void;
  /** Told of every end. */
  spanEnded(span: TraceSpan): void;
}

/** Where new spans are put: `TraceContext` is one, and so is every `TraceSpan`. */
export interface TraceScope {
  readonly trace: SpanHome;
  readonly settings: TraceSettings;
  /** Whether spans started here are kept. */
  readonly recording: boolean;
  /** The parent of spans started here: a span, the id of a span elsewhere, or nothing. */
  readonly asParent: TraceSpan | string | undefined;
  /** The span handed out here while nothing is recorded. */
  readonly standIn: TraceSpan;
}

export interface TraceSpanInit {
  readonly name: string;
  /** Default `custom`. */
  readonly kind?: SpanKind | undefined;
  /** Default: the span the scope stands for. */
  readonly parentSpanId?: string | undefined;
  readonly metadata?: JsonObject | undefined;
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
export const NO_TRACE_ID: string = "0".repeat(32);

const noMetadata: JsonObject = Object.freeze({});
const nowhere: SpanHome = Object.freeze({
  traceId: NO_TRACE_ID,
  name: "",
  groupId: undefined,
  clockOffset: performance.timeOrigin,
  register() {},
  spanEnded() {},
});
const unplaced: Pick<TraceScope, "trace" | "settings" | "asParent"> = Object.freeze({
  trace: nowhere,
  settings: { recording: true, content: false, sample: 1, exporters: [], onError() {} },
  asParent: undefined,
});

/** A timed operation: started when made, ended once. Usually made by `withSpan` or `trace.span`. */
export class TraceSpan implements SpanData, TraceScope {
  readonly name: string;
  readonly kind: SpanKind;
  readonly startTime: number;
  #trace: SpanHome;
  #settings: TraceSettings;
  #parent: TraceSpan | string | undefined;
  // The sequence number until somebody asks for the id.
  #id: number | string;
  #endTime: number;
  #status: SpanStatus;
  #metadata: JsonObject | undefined;
  #content: JsonObject | undefined = undefined;

  /** A span in `scope`; without one it belongs to no trace until `trace.addSpan` takes it. */
  constructor(init: TraceSpanInit, scope: Pick<TraceScope, "trace" | "settings" | "asParent"> = unplaced) {
    this.name = init.name;
    this.kind = init.kind ?? "custom";
    this.startTime = init.startTime ?? scope.trace.clockOffset + performance.now();
    this.#trace = scope.trace;
    this.#settings = scope.settings;
    this.#parent = init.parentSpanId ?? scope.asParent;
    this.#id = init.spanId ?? traceState.ids.nextSpan();
    this.#endTime = init.endTime ?? Number.NaN;
    this.#status = init.endTime === undefined ? "active" : (init.status ?? "ok");
    this.#metadata = init.metadata;
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

  get traceId(): string {
    return this.#trace.traceId;
  }

  get traceName(): string {
    return this.#trace.name;
  }

  get groupId(): string | undefined {
    return this.#trace.groupId;
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
    if (this.#status !== "active" || !this.#settings.recording) return;
    this.#metadata = this.#metadata === undefined ? { ...metadata } : { ...this.#metadata, ...metadata };
  }

  /** Adds content, where tracing was told to keep it; else without effect. */
  setContent(content: JsonObject): void {
    if (this.#status !== "active" || !this.#settings.recording || !this.#settings.content) return;
    this.#content = { ...this.#content, ...content };
  }

  /** Ends the span and hands it to the exporters. Works once; later calls have no effect. */
  end(status: EndStatus = "ok"): void {
    if (this.#status !== "active" || !this.#settings.recording) return;
    const now = this.#trace.clockOffset + performance.now();
    this.#endTime = now < this.startTime ? this.startTime : now;
    this.#status = status;
    this.#trace.spanEnded(this);
    emit(this, this.#settings);
  }

  /** Ends the span the way `error` says: `cancelled` for an abort, else `error`, with the error's type as metadata. */
  fail(error: unknown, signal?: AbortSignal): void {
    if (this.#status !== "active" || !this.#settings.recording) return;
    const cancelled = isAbort(error, signal);
    this.setMetadata({ errorType: errorType(error) });
    if (this.#settings.content) this.setContent({ error: messageOf(error) });
    this.end(cancelled ? "cancelled" : "error");
  }

  /** Places a span that belongs to no trace yet; false if it belongs to one already. */
  placeIn(scope: TraceScope): boolean {
    if (this.#trace !== nowhere) return false;
    this.#trace = scope.trace;
    this.#settings = scope.settings;
    this.#parent ??= scope.asParent;
    if (this.#status !== "active") emit(this, this.#settings);
    return true;
  }

  /** The span as plain data. */
  toJSON(): SpanData {
    return {
      traceId: this.traceId,
      spanId: this.spanId,
      parentSpanId: this.parentSpanId,
      traceName: this.traceName,
      groupId: this.groupId,
      name: this.name,
      kind: this.kind,
      startTime: this.startTime,
      endTime: this.endTime,
      duration: this.duration,
      status: this.#status,
      metadata: this.metadata,
      content: this.#content,
    };
  }

  get trace(): SpanHome {
    return this.#trace;
  }

  get settings(): TraceSettings {
    return this.#settings;
  }

  get recording(): boolean {
    return this.#settings.recording;
  }

  get asParent(): TraceSpan {
    return this;
  }

  get standIn(): TraceSpan {
    return this;
  }
}

/** Starts a span in `scope`, as a child of the span it stands for. Where nothing is recorded it costs next to nothing. */
export function startSpan(scope: TraceScope, init: TraceSpanInit): TraceSpan {
  if (!scope.recording) return scope.standIn;
  const span = new TraceSpan(init, scope);
  scope.trace.register(span);
  return span;
}

/** A span that is handed out in `scope` but kept nowhere, for where tracing is off. */
export function standInFor(scope: Omit<TraceScope, "standIn">, settings: TraceSettings): TraceSpan {
  return new TraceSpan({ name: "off" }, { trace: scope.trace, settings: silenced(settings), asParent: scope.asParent });
}

/** The trace or span that new spans belong to here, if there is one. */
export function currentScope(): TraceScope | undefined {
  return traceState.storage.getStore() as TraceScope | undefined;
}

/** The span handed out where tracing is off and there is no trace: its ids are zeros and it keeps nothing. */
export const offSpan: TraceSpan = new TraceSpan(
  { name: "off", spanId: "0".repeat(16) },
  { ...unplaced, settings: silenced(unplaced.settings) },
);
