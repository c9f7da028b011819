// Sends spans to any OpenTelemetry SDK, under GenAI names, nested with other instrumentation. Needs "@opentelemetry/api".
import type * as OpenTelemetry from "@opentelemetry/api";
import { loadPackage } from "../../base/load-package.ts";
import { checkOptions, type OptionRules, objectWith, someFunction, yesOrNo } from "../../base/options.ts";
import { type Redactor, redactor } from "../../base/redact.ts";
import { redactSpan } from "../redact-span.ts";
import type { SpanData } from "../span-data.ts";
import type { SpanBridge, SpanExporter, TraceFailure, TraceInfo } from "../span-exporter.ts";
import { contentAttributes, metadataAttributes, otelName, startAttributes } from "./otel/gen-ai-attributes.ts";
import { GenAiMetrics } from "./otel/gen-ai-metrics.ts";
import { names, workflowOperation } from "./otel/gen-ai-names.ts";

const otel = await loadOpenTelemetry();

const maxOpen = 100_000;
const maxEnded = 4096;

export interface OtelExporterOptions {
  /** The provider of tracers. Default: the one that is registered globally when a span starts. */
  readonly provider?: OpenTelemetry.TracerProvider | undefined;
  /** The provider of meters, for the metrics of model calls. Default: the one that is registered globally. */
  readonly meterProvider?: OpenTelemetry.MeterProvider | undefined;
  /** Sends prompts, answers, arguments and results. Tracing must keep them, too (`content: true` there). Default false. */
  readonly content?: boolean | undefined;
  /** Removes secrets from every text. Default: `redactor()`. */
  readonly redact?: Redactor | undefined;
}

const rules: OptionRules = {
  provider: objectWith('a tracer provider with a "getTracer" method', "getTracer"),
  meterProvider: objectWith('a meter provider with a "getMeter" method', "getMeter"),
  content: yesOrNo,
  redact: someFunction,
};

/**
 * Makes an exporter to OpenTelemetry that is also a bridge: a span starts there when it starts here, so that spans of other
 * instrumentation nest in it. The caller owns the provider; it is flushed, never shut down.
 */
export function otelExporter(options: OtelExporterOptions = {}): SpanExporter & SpanBridge {
  checkOptions(options, rules, "otelExporter");
  return new OtelExporter(options);
}

class OtelExporter implements SpanExporter, SpanBridge {
  readonly name = "otel";
  readonly #provider: OpenTelemetry.TracerProvider | undefined;
  readonly #meterProvider: OpenTelemetry.MeterProvider | undefined;
  readonly #metrics: GenAiMetrics;
  readonly #content: boolean;
  readonly #redact: Redactor;
  // Keyed by our span id; the span of a trace by its trace id.
  readonly #open = new Map<string, OpenTelemetry.Span>();
  // The conversations of runs in traces without a group, by the id of each span in them.
  readonly #conversations = new Map<string, string>();
  readonly #ended = new Map<string, OpenTelemetry.SpanContext>();
  #isOpen = true;

  constructor({ provider, meterProvider, content = false, redact = redactor() }: OtelExporterOptions) {
    this.#provider = provider;
    this.#meterProvider = meterProvider;
    this.#metrics = new GenAiMetrics(() => meterProvider ?? otel.metrics.getMeterProvider());
    this.#content = content;
    this.#redact = redact;
  }

  traceStarted(trace: TraceInfo): void {
    if (!this.#isOpen) return;
    const name = this.#redact(trace.name);
    const attributes = {
      [names.operation]: workflowOperation,
      [names.workflow]: name,
      [`${names.own}.trace_id`]: trace.traceId,
      ...(trace.groupId === undefined ? undefined : { [names.conversation]: this.#redact(trace.groupId) }),
    };
    const { remoteParentId } = trace;
    const parent = remoteParentId === undefined ? otel.context.active() : remoteContext(trace.traceId, remoteParentId);
    const span = this.#tracer().startSpan(`${workflowOperation} ${name}`, { attributes }, parent);
    keep(this.#open, { key: trace.traceId, value: span, limit: maxOpen });
  }

  traceEnded(trace: TraceInfo, failure?: TraceFailure): void {
    const span = this.#open.get(trace.traceId);
    if (failure?.status === "error") {
      span?.setAttributes({ [names.error]: failure.errorType });
      span?.setStatus({ code: otel.SpanStatusCode.ERROR, message: failure.errorType });
    } else if (failure !== undefined) span?.setAttributes({ [`${names.own}.status`]: failure.status });
    this.#end(trace.traceId);
  }

  spanStarted(span: SpanData): void {
    if (this.#isOpen) this.#start(redactSpan(span, this.#redact));
  }

  run<T>(scope: TraceInfo | SpanData, work: () => T): T {
    const span = this.#open.get("spanId" in scope ? scope.spanId : scope.traceId);
    if (span === undefined) return work();
    return otel.context.with(otel.trace.setSpan(otel.context.active(), span), work);
  }

  export(spans: readonly SpanData[]): void {
    if (!this.#isOpen) return;
    for (const ended of spans) {
      const span = redactSpan(ended, this.#redact);
      const there = this.#open.get(span.spanId) ?? this.#start(span);
      there.setAttributes(metadataAttributes(span));
      if (this.#content) there.setAttributes(contentAttributes(span));
      if (span.status === "error") {
        const errorType = errorTypeOf(span);
        there.setAttributes({ [names.error]: errorType });
        there.setStatus({ code: otel.SpanStatusCode.ERROR, message: errorType });
      }
      this.#metrics.record(span);
      this.#end(span.spanId, toTime(span.endTime ?? span.startTime));
    }
  }

  async flush(): Promise<void> {
    const provider = this.#provider ?? otel.trace.getTracerProvider();
    const delegate = provider instanceof otel.ProxyTracerProvider ? provider.getDelegate() : provider;
    const meters = this.#meterProvider ?? otel.metrics.getMeterProvider();
    await Promise.all([delegate, meters].map((each) => (each as { forceFlush?(): Promise<void> }).forceFlush?.()));
  }

  async shutdown(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const id of [...this.#open.keys()]) this.#end(id);
    await this.flush();
  }

  #tracer(): OpenTelemetry.Tracer {
    return (this.#provider ?? otel.trace).getTracer("offstage");
  }

  #start(span: SpanData): OpenTelemetry.Span {
    const kind = span.kind === "model" ? otel.SpanKind.CLIENT : otel.SpanKind.INTERNAL;
    const conversation = this.#conversationOf(span);
    const started = { kind, attributes: startAttributes(span, conversation), startTime: toTime(span.startTime) };
    const there = this.#tracer().startSpan(otelName(span), started, this.#parentOf(span));
    keep(this.#open, { key: span.spanId, value: there, limit: maxOpen });
    return there;
  }

  // The group of the trace. Without one: the session of the run that the span belongs to.
  #conversationOf({ groupId, metadata, spanId, parentSpanId }: SpanData): string | undefined {
    if (groupId !== undefined) return groupId;
    const { sessionId } = metadata;
    const found = typeof sessionId === "string" ? sessionId : this.#conversations.get(parentSpanId ?? "");
    if (found !== undefined) keep(this.#conversations, { key: spanId, value: found, limit: maxOpen });
    return found;
  }

  #end(id: string, time?: OpenTelemetry.HrTime): void {
    const span = this.#open.get(id);
    if (span === undefined) return;
    span.end(time);
    this.#open.delete(id);
    this.#conversations.delete(id);
    keep(this.#ended, { key: id, value: span.spanContext(), limit: maxEnded });
  }

  #parentOf(span: SpanData): OpenTelemetry.Context {
    const active = otel.context.active();
    if (span.parentIsRemote && span.parentSpanId !== undefined && !this.#open.has(span.traceId)) {
      const isInside = otel.trace.getSpanContext(active)?.traceId === span.traceId;
      return isInside ? active : remoteContext(span.traceId, span.parentSpanId);
    }
    const parentId = span.parentIsRemote ? span.traceId : (span.parentSpanId ?? span.traceId);
    const open = this.#open.get(parentId);
    if (open !== undefined) return otel.trace.setSpan(active, open);
    const ended = this.#ended.get(parentId);
    return ended === undefined ? active : otel.trace.setSpanContext(active, ended);
  }
}

function loadOpenTelemetry(): Promise<typeof OpenTelemetry> {
  const optional = { name: "@opentelemetry/api", user: "Exporting to OpenTelemetry" };
  return loadPackage(() => import("@opentelemetry/api"), optional);
}

function remoteContext(traceId: string, spanId: string): OpenTelemetry.Context {
  const parent = { traceId, spanId, traceFlags: otel.TraceFlags.SAMPLED, isRemote: true };
  return otel.trace.setSpanContext(otel.context.active(), parent);
}

// A pair of seconds and nanoseconds: OpenTelemetry may read a plain number as a time of the monotonic clock.
function toTime(epochMs: number): OpenTelemetry.HrTime {
  const seconds = Math.floor(epochMs / 1000);
  return [seconds, Math.round((epochMs - seconds * 1000) * 1e6)];
}

function errorTypeOf(span: SpanData): string {
  const { errorType } = span.metadata;
  return typeof errorType === "string" ? errorType : "error";
}

interface Entry<Value> {
  readonly key: string;
  readonly value: Value;
  readonly limit: number;
}

// Sets an entry and removes the oldest above the limit, so that spans that never end cannot accumulate.
function keep<Value>(map: Map<string, Value>, { key, value, limit }: Entry<Value>): void {
  map.set(key, value);
  if (map.size <= limit) return;
  const [oldest = key] = map.keys();
  map.delete(oldest);
}
