// One timed operation, as the code that does the work sees it. Its read side is SpanData.

import type { AsyncLocalStorage } from "node:async_hooks";
import { asyncScope } from "../base/async-scope.ts";
import { errorType, isAbort } from "../base/cancellation.ts";
import { isObject, type JsonObject } from "../base/json.ts";
import { checkOptions, type OptionRule, type OptionRules, oneOf, someText } from "../base/options.ts";
import { printsAs } from "../base/prints-as.ts";
import { messageOf } from "../errors.ts";
import type { EndStatus, SpanData, SpanKind, SpanStatus } from "./span-data.ts";
import type { TraceInfo } from "./span-exporter.ts";
import { exportSpan, initialSettings, mute, notifyBridge, type TraceSettings } from "./tracing-options.ts";

/** The trace id of spans that belong to no trace. */
export const noTraceId: string = "0".repeat(32);
/** The span id of spans that belong to no trace and record nothing. */
const noSpanId: string = "0".repeat(16);

/** The part of a trace that its spans use. `TraceContext` implements it. */
export interface SpanOwner {
  /** All zeros for spans that belong to no trace. */
  readonly traceId: string;
  readonly name: string;
  readonly groupId: string | undefined;
  /** The id of the caller's span if the trace came from another process. */
  readonly remoteParentId: string | undefined;
  /** Turns `performance.now()` into epoch milliseconds when added to it. */
  readonly clockOffset: number;
  /** The spans so far, the root first. Undefined if they are not listed. */
  readonly spans: TraceSpan[] | undefined;
}

/** A place in a trace where spans can start. Every `TraceContext` and every `TraceSpan` is one. */
export interface TraceScope {
  readonly trace: SpanOwner;
  readonly settings: TraceSettings;
  /** The parent of spans started here: a span, the id of a span in another process, or none. */
  readonly asParent: TraceSpan | string | undefined;
}

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

const epochMs: OptionRule = { isFit: Number.isFinite, words: "epoch milliseconds" };
const initRules: OptionRules = {
  name: someText,
  kind: someText,
  parentSpanId: someText,
  metadata: { isFit: isObject, words: "an object" },
  spanId: someText,
  startTime: epochMs,
  endTime: epochMs,
  status: oneOf("ok", "error", "cancelled"),
};

const noTrace: SpanOwner = {
  traceId: noTraceId,
  name: "",
  groupId: undefined,
  remoteParentId: undefined,
  get clockOffset() {
    return clockOffsetMs();
  },
  spans: undefined,
};

const unplaced: TraceScope = { trace: noTrace, settings: initialSettings(), asParent: undefined };

/** A timed operation: started when made, ended once. Usually made by `withSpan` or `trace.span`. */
export class TraceSpan implements SpanData, TraceScope {
  readonly name: string;
  readonly kind: SpanKind;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly startTime: number;
  readonly trace: SpanOwner;
  readonly traceId: string;
  readonly settings: TraceSettings;
  /** False for a no-op span: nothing set on it is kept, and ending it has no effect. */
  readonly recording: boolean;
  /** Whether `setContent` has an effect. Ask before building content that is expensive. */
  readonly keepsContent: boolean;
  readonly endTime: number | undefined;
  readonly status: SpanStatus;
  readonly metadata: JsonObject;
  readonly content: JsonObject | undefined;
  // Not read from the status, which an exporter could overwrite: a span must end once.
  #hasEnded: boolean;

  /** Makes a span that belongs to no trace until `trace.addSpan` takes it in. */
  constructor(init: TraceSpanInit);
  /** Makes a span in `scope`, unlisted; `startSpan` lists it too. */
  constructor(init: TraceSpanInit, scope: TraceScope);
  constructor(init: TraceSpanInit, scope: TraceScope = unplaced) {
    if (scope === unplaced) checkOptions(init, initRules, "TraceSpan");
    const { trace, settings } = scope;
    this.name = spanName(init.name);
    this.kind = typeof init.kind === "string" ? init.kind : "custom";
    this.spanId = init.spanId ?? newSpanId();
    this.parentSpanId = typeof init.parentSpanId === "string" ? init.parentSpanId : parentIdOf(scope);
    this.startTime = init.startTime ?? trace.clockOffset + performance.now();
    this.trace = trace;
    this.traceId = trace.traceId;
    this.settings = settings;
    this.recording = settings.recording;
    this.keepsContent = settings.recording && settings.content;
    this.endTime = init.endTime;
    this.status = init.endTime === undefined ? "active" : (init.status ?? "ok");
    this.metadata = copyMetadata(init.metadata);
    this.content = undefined;
    this.#hasEnded = init.endTime !== undefined;
  }

  get asParent(): TraceSpan {
    return this;
  }

  get parentIsRemote(): boolean {
    return this.parentSpanId !== undefined && this.parentSpanId === this.trace.remoteParentId;
  }

  get traceName(): string {
    return this.trace.name;
  }

  get groupId(): string | undefined {
    return this.trace.groupId;
  }

  get duration(): number | undefined {
    return this.endTime === undefined ? undefined : this.endTime - this.startTime;
  }

  /** Adds to the metadata. No effect once the span has ended. */
  setMetadata(metadata: JsonObject): void {
    if (this.#isOpen) this.#self.metadata = { ...this.metadata, ...copyMetadata(metadata) };
  }

  /** Adds content if tracing is configured to keep it (`content: true`). No effect once the span has ended. */
  setContent(content: JsonObject): void {
    if (this.#isOpen && this.keepsContent) this.#self.content = { ...this.content, ...copyMetadata(content) };
  }

  /** Ends the span and passes it to the journal and the exporters. Only the first call has an effect. */
  end(status: EndStatus = "ok"): void {
    if (!this.#isOpen) return;
    this.#self.endTime = Math.max(this.startTime, this.trace.clockOffset + performance.now());
    this.#self.status = status;
    this.#hasEnded = true;
    passOn(this);
  }

  /** Ends the span as `cancelled` if `error` is an abort, else as `error`. The metadata gets the error's type, never its message. */
  fail(error: unknown, signal?: AbortSignal): void {
    this.setMetadata({ errorType: errorType(error) });
    if (this.keepsContent) this.setContent({ error: messageOf(error) });
    this.end(isAbort(error, signal) ? "cancelled" : "error");
  }

  /** Moves a span that belongs to no trace into `scope`; false if it belongs to a trace already. */
  placeIn(scope: TraceScope): boolean {
    if (this.trace !== noTrace) return false;
    const { trace, settings } = scope;
    const parentSpanId = this.parentSpanId ?? parentIdOf(scope);
    const { recording, content } = settings;
    const keepsContent = recording && content;
    Object.assign(this, { trace, traceId: trace.traceId, parentSpanId, settings, recording, keepsContent });
    return true;
  }

  // False if the span has ended, is a no-op span, or was frozen: telemetry never breaks work.
  get #isOpen(): boolean {
    return !this.#hasEnded && this.recording && !Object.isFrozen(this);
  }

  // A writable view of the span: its fields are readonly for all other code.
  get #self(): { -readonly [Key in keyof TraceSpan]: TraceSpan[Key] } {
    return this;
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

function parentIdOf({ asParent }: TraceScope): string | undefined {
  return typeof asParent === "object" ? asParent.spanId : asParent;
}

const noTraceSpan = new TraceSpan(
  { name: "no-op", spanId: noSpanId, startTime: 0 },
  { ...unplaced, settings: mute(unplaced.settings) },
);

/** A no-op span in `scope`, or outside of any trace. The scope itself if it is a no-op span already. */
export function noopSpan(scope?: TraceScope): TraceSpan {
  if (scope === undefined) return noTraceSpan;
  const { trace, settings, asParent } = scope;
  if (typeof asParent === "object" && !asParent.recording) return asParent;
  return new TraceSpan({ name: "no-op", spanId: noSpanId }, { trace, settings: mute(settings), asParent });
}

/** Starts a span in `scope`. The caller ends it. If the scope records nothing, the result is a no-op span. */
export function startSpan(scope: TraceScope, init: SpanInit): TraceSpan {
  if (!scope.settings.recording) return noopSpan(scope);
  const span = new TraceSpan(init, scope);
  scope.trace.spans?.push(span);
  if (scope.settings.bridge !== undefined) notifyBridge(scope.settings, (bridge) => bridge.spanStarted(span));
  return span;
}

/** The name of a trace or span. Telemetry never breaks work: a value that is not text gives "unnamed". */
export function spanName(name: unknown): string {
  return typeof name === "string" ? name : "unnamed";
}

/** Copies metadata. Never throws: metadata that cannot be read is marked. */
export function copyMetadata(metadata: unknown): JsonObject {
  try {
    return typeof metadata === "object" ? ({ ...metadata } as JsonObject) : {};
  } catch {
    return { unreadable: true };
  }
}

const maxSkewMs = 5;

/**
 * The number to add to `performance.now()` to get epoch milliseconds. Usually the start time of the process; if the wall clock has
 * moved since (the machine slept, or the clock was set), it follows the wall clock.
 */
export function clockOffsetMs(now: number = performance.now()): number {
  const offset = Date.now() - now;
  return Math.abs(offset - performance.timeOrigin) > maxSkewMs ? offset : performance.timeOrigin;
}

/** A new trace id: 32 hex digits. */
export function newTraceId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

/** A new span id: 16 random hex digits. Leaves out the middle of a UUID, which holds its version. */
export function newSpanId(): string {
  const uuid = crypto.randomUUID();
  return uuid.slice(0, 8) + uuid.slice(-8);
}

/** The id of the trace opened for a run: the digits of the run id if it is a UUID, else undefined. */
export function traceIdOf(runId: string): string | undefined {
  const digits = runId.replaceAll("-", "");
  return /^(?!0{32})[0-9a-f]{32}$/.test(digits) ? digits : undefined;
}

/** The id of the run that a trace was opened for; reverses `traceIdOf`. */
export function runIdOf(traceId: string): string {
  return traceId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// The number is the version of `TraceScope`'s shape.
const current: AsyncLocalStorage<TraceScope | undefined> = asyncScope("tracing.1");

/** The trace or span that is current here; undefined outside of any. */
export function currentScope(): TraceScope | undefined {
  return current.getStore();
}

/** Runs `work` with `scope` as the current one, here and in the bridge's telemetry system. Does not end it. */
export function runInScope<T>(scope: TraceScope & (TraceInfo | SpanData), work: () => T): T {
  const { bridge } = scope.settings;
  return current.run(scope, bridge === undefined ? work : () => bridge.run(scope, work));
}

/** Runs the work of an exporter with tracing off: its own spans would be exported too, without end. */
export function runUntraced<T>(work: () => T): T {
  return current.run(noopSpan(), work);
}

/** Passes an ended span to the journal and the exporters. */
export function passOn(span: TraceSpan): void {
  const { settings } = span;
  for (const list of settings.kept) list.push(span.toJSON());
  if (settings.exporters.length > 0) runUntraced(() => exportSpan(span, settings));
}

/** The work of a span. */
export type Work<T> = (span: TraceSpan) => T | Promise<T>;

/**
 * Runs `work` in a new child span of `parent`, which is current while `work` runs. Returns the result of `work`.
 *
 * The span ends once: with the status that `work` ended it with, else `ok`, `cancelled` if `work` rejects with the reason of
 * `signal`, or `error`. If `parent` records nothing, `work` gets a no-op span.
 */
export function inSpan<T>(parent: TraceScope, init: SpanInit, work: Work<T>, signal?: AbortSignal): Promise<T> {
  // A no-op span is its own child: there is nothing to enter or to end.
  if (parent instanceof TraceSpan && !parent.recording) return Promise.resolve(work(parent));
  return enterSpan(startSpan(parent, init), work, signal);
}

async function enterSpan<T>(span: TraceSpan, work: Work<T>, signal: AbortSignal | undefined): Promise<T> {
  try {
    const value = await runInScope(span, () => work(span));
    span.end();
    return value;
  } catch (error) {
    span.fail(error, signal);
    throw error;
  }
}
