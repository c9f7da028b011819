// The two ports of telemetry: an exporter takes ended spans, and a bridge also follows spans from their start.
import type { SpanData } from "./span-data.ts";

/**
 * Receives ended spans.
 *
 * **Contract:** `export` gets each ended span once, in the order the spans ended. It returns at once: slow work goes into the
 * returned promise, which no run waits for. It never changes a span. An error goes to `onError` and never reaches a run. `flush`
 * resolves when every span received so far was delivered or given up. `shutdown` flushes, releases resources and is
 * idempotent; spans exported after it are ignored.
 */
export interface SpanExporter {
  /** Identifies the exporter in error reports. */
  readonly name: string;
  export(spans: readonly SpanData[]): void | Promise<void>;
  flush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** The identity of a trace, as bridges and samplers see it. */
export interface TraceInfo {
  readonly traceId: string;
  readonly name: string;
  readonly groupId?: string | undefined;
  /** The id of the caller's span if the trace came from another process. */
  readonly remoteParentId?: string | undefined;
}

/** How the work of a trace failed. */
export interface TraceFailure {
  readonly status: "error" | "cancelled";
  /** The class of the error, or its code. Never its message. */
  readonly errorType: string;
}

/**
 * Connects a telemetry system that has an ambient context of its own, such as OpenTelemetry, so that the spans it records
 * nest in ours. An exporter becomes a bridge by implementing these methods too.
 *
 * **Contract:** the three notifications return at once; an error goes to `onError`. `run` calls `work` exactly once, at once, and
 * returns its result. A trace that exists only for one root span sends no notifications. Ended spans arrive by `export`.
 */
export interface SpanBridge {
  traceStarted(trace: TraceInfo): void;
  traceEnded(trace: TraceInfo, failure?: TraceFailure): void;
  spanStarted(span: SpanData): void;
  run<T>(scope: TraceInfo | SpanData, work: () => T): T;
}

/** True for an exporter that is also a bridge. */
export function isBridge(exporter: SpanExporter): exporter is SpanExporter & SpanBridge {
  return "spanStarted" in exporter;
}
