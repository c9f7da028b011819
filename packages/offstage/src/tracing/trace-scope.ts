// The current trace or span: the scope that new spans of async code belong to.
import type { AsyncLocalStorage } from "node:async_hooks";
import { asyncScope } from "../base/async-scope.ts";
import type { SpanData } from "./span-data.ts";
import type { TraceInfo } from "./span-exporter.ts";
import { noopSpan, type TraceScope } from "./trace-span.ts";

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
