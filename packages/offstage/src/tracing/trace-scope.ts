// The current trace or span: finding it, making one current, and the stand-ins for where tracing is off.
import type { TraceInfo } from "./span-bridge.ts";
import type { SpanData } from "./span-data.ts";
import { type SpanPlace, type TraceScope, TraceSpan, traceScope } from "./trace-span.ts";
import { silenced, type TraceSettings } from "./tracing-options.ts";

/** A span that is handed out in `scope` but kept nowhere, for where tracing is off. */
export function standInFor(scope: SpanPlace, settings: TraceSettings): TraceSpan {
  return new TraceSpan({ name: "off" }, { trace: scope.trace, settings: silenced(settings), asParent: scope.asParent });
}

/** The trace or span that new spans belong to here, if there is one. */
export function currentScope(): TraceScope | undefined {
  return traceScope.get();
}

/** Runs `work` with `scope` as the current one, here and in the bridge's world. */
export function enter<T>(scope: TraceScope & (TraceInfo | SpanData), work: () => T): T {
  const { bridge } = scope.settings;
  return traceScope.run(scope, bridge === undefined ? work : () => bridge.run(scope, work));
}
