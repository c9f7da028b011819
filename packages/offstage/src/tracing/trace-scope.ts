// The current trace or span: finding it, and making one current.

import type { SpanData } from "./span-data.ts";
import type { TraceInfo } from "./span-exporter.ts";
import { type TraceScope, traceScope } from "./trace-span.ts";

/** The trace or span that new spans belong to here, if there is one. */
export function currentScope(): TraceScope | undefined {
  return traceScope.get();
}

/** Runs `work` with `scope` as the current one, here and in the bridge's world. */
export function enter<T>(scope: TraceScope & (TraceInfo | SpanData), work: () => T): T {
  const { bridge } = scope.settings;
  return traceScope.run(scope, bridge === undefined ? work : () => bridge.run(scope, work));
}
