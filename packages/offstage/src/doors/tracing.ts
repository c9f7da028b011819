// "offstage/tracing": the exporters, the types to write your own, and traces as text and as trees.

export type { Redactor } from "../base/redact.ts";
export { type BatchedExporter, type BatchedOptions, type BatchStats, batched } from "../tracing/batched.ts";
export { consoleExporter } from "../tracing/exporters/console.ts";
export { jsonlExporter } from "../tracing/exporters/jsonl.ts";
export { type MemoryExporter, memoryExporter } from "../tracing/exporters/memory.ts";
export { type StoreExporterOptions, storeExporter } from "../tracing/exporters/store.ts";
export { redactSpan } from "../tracing/redact-span.ts";
export {
  type RenderableTrace,
  type RenderTraceOptions,
  renderTrace,
  type SpanNode,
  spanTree,
} from "../tracing/render-trace.ts";
export type { EndStatus, SpanData, SpanKind, SpanStatus } from "../tracing/span-data.ts";
export type { SpanExporter } from "../tracing/span-exporter.ts";
export { currentGroupId, currentTraceId, type SpanOptions, type TraceOptions } from "../tracing/trace-context.ts";
export { shutdownTracing } from "../tracing/trace-state.ts";
export type { TraceRecord, TracerLevel } from "../tracing/tracer.ts";
export type { Sampler, TracingOptions } from "../tracing/tracing-options.ts";
export type { WithSpanOptions } from "../tracing/with-span.ts";
