// The port of a telemetry system with an ambient context of its own, such as OpenTelemetry. An exporter may also be a bridge.
import type { SpanData } from "./span-data.ts";
import type { SpanExporter } from "./span-exporter.ts";

/** A trace as others see it. */
export interface TraceInfo {
  readonly traceId: string;
  readonly name: string;
  readonly groupId?: string | undefined;
  /** The id of the caller's span, in a trace that came from another process. */
  readonly remoteParentId?: string | undefined;
}

/**
 * Follows traces and spans from their start, so that what another system records inside them nests in them.
 *
 * **Contract:** the three notices return at once; a throw goes to `onError`. `run` calls `work` exactly once, at once, and
 * gives what it gives. A trace that exists only for one root span gives no notices. Ends of spans come by `export`.
 */
export interface SpanBridge {
  traceStarted(trace: TraceInfo): void;
  traceEnded(trace: TraceInfo): void;
  spanStarted(span: SpanData): void;
  run<T>(scope: TraceInfo | SpanData, work: () => T): T;
}

/** True for an exporter that is a bridge too. */
export function isBridge(exporter: SpanExporter): exporter is SpanExporter & SpanBridge {
  return "spanStarted" in exporter;
}
