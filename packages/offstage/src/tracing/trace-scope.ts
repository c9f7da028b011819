// Where new spans go: the current trace or span, how to start a span in it, and how to make it current.
import type { TraceInfo } from "./span-bridge.ts";
import type { SpanData } from "./span-data.ts";
import { type SpanPlace, type TraceScope, TraceSpan, type TraceSpanInit, unplaced } from "./trace-span.ts";
import { traceState } from "./trace-state.ts";
import { notify, silenced, type TraceSettings } from "./tracing-options.ts";

/** Starts a span in `scope`, as a child of the span it stands for. Where nothing is recorded it costs next to nothing. */
export function startSpan(scope: TraceScope, init: TraceSpanInit): TraceSpan {
  if (!scope.recording) return scope.standIn;
  return startWith(scope, init);
}

/** Starts a span that is recorded, whatever `scope` says. */
export function startWith(scope: SpanPlace, init: TraceSpanInit): TraceSpan {
  const span = new TraceSpan(init, scope);
  scope.trace.register(span);
  if (scope.settings.bridge !== undefined) notify(scope.settings, (bridge) => bridge.spanStarted(span));
  return span;
}

/** A span that is handed out in `scope` but kept nowhere, for where tracing is off. */
export function standInFor(scope: SpanPlace, settings: TraceSettings): TraceSpan {
  return new TraceSpan({ name: "off" }, { trace: scope.trace, settings: silenced(settings), asParent: scope.asParent });
}

/** The trace or span that new spans belong to here, if there is one. */
export function currentScope(): TraceScope | undefined {
  return traceState.storage.getStore() as TraceScope | undefined;
}

/** Runs `work` with `scope` as the current one, here and in the bridge's world. */
export function enter<T>(scope: TraceScope & (TraceInfo | SpanData), work: () => T): T {
  const { bridge } = scope.settings;
  if (bridge === undefined) return traceState.storage.run(scope, work);
  return traceState.storage.run(scope, () => bridge.run(scope, work));
}

/** The span handed out where tracing is off and there is no trace: its ids are zeros and it keeps nothing. */
export const offSpan: TraceSpan = new TraceSpan(
  { name: "off", spanId: "0".repeat(16) },
  { ...unplaced, settings: silenced(unplaced.settings) },
);
