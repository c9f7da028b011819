// One timed operation, as the code that does the work sees it. Its read side is SpanData.

import { type AsyncScope, asyncScope } from "../base/async-scope.ts";
import { errorType, isAbort } from "../base/cancellation.ts";
import { clockMs, clockOffsetMs } from "../base/clock.ts";
import type { JsonObject } from "../base/json.ts";
import { printsAs } from "../base/prints-as.ts";
import { messageOf } from "../errors.ts";
import type { EndStatus, SpanData, SpanKind, SpanStatus } from "./span-data.ts";
import { newSpanId, noSpanId, noTraceId } from "./trace-ids.ts";
import { emit, initialSettings, notify, silenced, type TraceSettings } from "./tracing-options.ts";

/** The part of a trace that its spans use. `TraceContext` implements it. */
export interface SpanOwner {
  /** All zeros for spans that belong to no trace. */
  readonly traceId: string;
  readonly name: string;
  readonly groupId: string | undefined;
  /** The id of the caller's span if the trace came from another process. */
  readonly remoteParentId: string | undefined;
  /** Turns `clockMs()` into epoch milliseconds when added to it. */
  readonly clockOffset: number;
  /** Lists a span that has started. */
  register(span: TraceSpan): void;
  /** Called once for each span that ends. */
  spanEnded(span: TraceSpan): void;
}

/** A place in a trace where spans can start. Every `TraceContext` and every `TraceSpan` is one. */
export interface TraceScope {
  readonly trace: SpanOwner;
  readonly settings: TraceSettings;
  /** The parent of spans started here: a span, the id of a span in another process, or none. */
  readonly asParent: TraceSpan | string | undefined;
}

/** The current scope. The number is the version of `TraceScope`'s shape. */
export const traceScope: AsyncScope<TraceScope> = asyncScope("tracing.1");

export interface SpanInit {
  readonly name: string;
  /** Default `custom`. */
  readonly kind?: SpanKind | undefined;
  /** Default: the parent that the scope gives. */
  readonly parentSpanId?: string | undefined;
  readonly metadata?: JsonObject | undefined;
}

/** Options of a span made by hand. */
export interface TraceSpanInit extends SpanInit {
  /** Default: a new id. */
  readonly spanId?: string | undefined;
  /** Epoch milliseconds; default now. */
  readonly startTime?: number | undefined;
  /** Epoch milliseconds. A span made with it has already ended. */
  readonly endTime?: number | undefined;
  /** How a span made with `endTime` ended; default `ok`. */
  readonly status?: EndStatus | undefined;
}

const noTrace: SpanOwner = {
  traceId: noTraceId,
  name: "",
  groupId: undefined,
  remoteParentId: undefined,
  get clockOffset() {
    return clockOffsetMs();
  },
  register() {},
  spanEnded() {},
};

const unplaced: TraceScope = { trace: noTrace, settings: initialSettings(), asParent: undefined };

/** A timed operation: started when made, ended once. Usually made by `withSpan` or `trace.span`. */
export class TraceSpan implements SpanData, TraceScope {
  readonly name: string;
  readonly kind: SpanKind;
  readonly spanId: string;
  readonly startTime: number;
  #trace: SpanOwner;
  #settings: TraceSettings;
  #parent: TraceSpan | string | undefined;
  #endTime: number | undefined;
  #status: SpanStatus = "active";
  #metadata: JsonObject;
  #content: JsonObject | undefined;

  /** Makes a span that belongs to no trace until `trace.addSpan` takes it in. */
  constructor(init: TraceSpanInit);
  /** Makes a span in `scope`, unlisted; `startSpan` lists it too. */
  constructor(init: TraceSpanInit, scope: TraceScope);
  constructor(init: TraceSpanInit, scope: TraceScope = unplaced) {
    this.name = init.name;
    this.kind = init.kind ?? "custom";
    this.spanId = init.spanId ?? newSpanId();
    this.startTime = init.startTime ?? scope.trace.clockOffset + clockMs();
    this.#trace = scope.trace;
    this.#settings = scope.settings;
    this.#parent = init.parentSpanId ?? scope.asParent;
    this.#metadata = { ...init.metadata };
    if (init.endTime === undefined) return;
    this.#endTime = init.endTime;
    this.#status = init.status ?? "ok";
  }

  get trace(): SpanOwner {
    return this.#trace;
  }

  get settings(): TraceSettings {
    return this.#settings;
  }

  get asParent(): TraceSpan {
    return this;
  }

  /** False for a no-op span: nothing set on it is kept, and ending it has no effect. */
  get recording(): boolean {
    return this.#settings.recording;
  }

  /** Whether `setContent` has an effect. Ask before building content that is expensive. */
  get keepsContent(): boolean {
    return this.#settings.recording && this.#settings.content;
  }

  get parentSpanId(): string | undefined {
    return typeof this.#parent === "object" ? this.#parent.spanId : this.#parent;
  }

  get parentIsRemote(): boolean {
    return this.#parent !== undefined && this.#parent === this.#trace.remoteParentId;
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
    return this.#endTime;
  }

  get duration(): number | undefined {
    return this.#endTime === undefined ? undefined : this.#endTime - this.startTime;
  }

  get status(): SpanStatus {
    return this.#status;
  }

  get metadata(): JsonObject {
    return this.#metadata;
  }

  get content(): JsonObject | undefined {
    return this.#content;
  }

  /** Adds to the metadata. No effect once the span has ended. */
  setMetadata(metadata: JsonObject): void {
    if (this.#isOpen) this.#metadata = { ...this.#metadata, ...metadata };
  }

  /** Adds content if tracing is configured to keep it (`content: true`). No effect once the span has ended. */
  setContent(content: JsonObject): void {
    if (this.#isOpen && this.keepsContent) this.#content = { ...this.#content, ...content };
  }

  /** Ends the span and passes it to the journal and the exporters. Only the first call has an effect. */
  end(status: EndStatus = "ok"): void {
    if (!this.#isOpen) return;
    this.#endTime = Math.max(this.startTime, this.#trace.clockOffset + clockMs());
    this.#status = status;
    this.#trace.spanEnded(this);
    this.#emit();
  }

  /** Ends the span as `cancelled` if `error` is an abort, else as `error`. The metadata gets the error's type, never its message. */
  fail(error: unknown, signal?: AbortSignal): void {
    if (!this.#isOpen) return;
    this.setMetadata({ errorType: errorType(error) });
    if (this.keepsContent) this.setContent({ error: messageOf(error) });
    this.end(isAbort(error, signal) ? "cancelled" : "error");
  }

  /** Moves a span that belongs to no trace into `scope`; false if it belongs to a trace already. */
  placeIn(scope: TraceScope): boolean {
    if (this.#trace !== noTrace) return false;
    this.#trace = scope.trace;
    this.#settings = scope.settings;
    this.#parent ??= scope.asParent;
    if (this.#status !== "active") this.#emit();
    return true;
  }

  get #isOpen(): boolean {
    return this.#status === "active" && this.#settings.recording;
  }

  #emit(): void {
    const settings = this.#settings;
    settings.keep?.(this);
    if (settings.exporters.length > 0) unrecorded(() => emit(this, settings));
  }

  /** The span as plain data. */
  toJSON(): SpanData {
    return {
      traceId: this.traceId,
      spanId: this.spanId,
      parentSpanId: this.parentSpanId,
      parentIsRemote: this.parentIsRemote || undefined,
      traceName: this.traceName,
      groupId: this.groupId,
      name: this.name,
      kind: this.kind,
      startTime: this.startTime,
      endTime: this.endTime,
      duration: this.duration,
      status: this.status,
      metadata: this.metadata,
      content: this.content,
    };
  }
}

printsAs(TraceSpan, (span) => span.toJSON());

const noTraceSpan = new TraceSpan(
  { name: "no-op", spanId: noSpanId, startTime: 0 },
  { ...unplaced, settings: silenced(unplaced.settings) },
);

/** A no-op span in `scope`, or outside of any trace. The scope itself if it is a no-op span already. */
export function noopSpan(scope?: TraceScope): TraceSpan {
  if (scope === undefined) return noTraceSpan;
  const { trace, settings, asParent } = scope;
  if (typeof asParent === "object" && !asParent.recording) return asParent;
  return new TraceSpan({ name: "no-op" }, { trace, settings: silenced(settings), asParent });
}

/** Starts a span in `scope`. The caller ends it. If the scope records nothing, the result is a no-op span. */
export function startSpan(scope: TraceScope, init: SpanInit): TraceSpan {
  if (!scope.settings.recording) return noopSpan(scope);
  const span = new TraceSpan(init, scope);
  scope.trace.register(span);
  notify(scope.settings, (bridge) => bridge.spanStarted(span));
  return span;
}

/** Runs `work` of an exporter with tracing off: its own spans would be exported too, without end. */
export function unrecorded<T>(work: () => T): T {
  return traceScope.run(noTraceSpan, work);
}
