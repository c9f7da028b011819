// The current trace or span: finding it, making one current, and the stand-ins for where tracing is off. The run around the
// code stands beside it.
import type { SpanBridge, TraceInfo } from "./span-bridge.ts";
import type { SpanData } from "./span-data.ts";
import { type SpanPlace, type TraceScope, TraceSpan } from "./trace-span.ts";
import { traceState } from "./trace-state.ts";
import { silenced, type TraceSettings } from "./tracing-options.ts";

/** A span that is handed out in `scope` but kept nowhere, for where tracing is off. */
export function standInFor(scope: SpanPlace, settings: TraceSettings): TraceSpan {
  return new TraceSpan({ name: "off" }, { trace: scope.trace, settings: silenced(settings), asParent: scope.asParent });
}

/** The trace or span that new spans belong to here, if there is one. */
export function currentScope(): TraceScope | undefined {
  return traceState.storage.getStore()?.scope as TraceScope | undefined;
}

/** The run around this code, as `enter` or `enterAround` was told; its type is told in sessions/held-session.ts. */
export function currentAround(): object | undefined {
  return traceState.storage.getStore()?.around;
}

/** Runs `work` with `around` as what it is part of; what is current stays so. */
export function enterAround<T>(around: object, work: () => T): T {
  return traceState.storage.run({ scope: currentScope(), around }, work);
}

/** Runs `work` with `scope` as the current one, here and in the bridge's world. */
export function enter<T>(
  scope: TraceScope & (TraceInfo | SpanData),
  work: () => T,
  around: object | undefined = currentAround(),
): T {
  const { bridge } = scope.settings;
  return traceState.storage.run({ scope, around }, bridge === undefined ? work : bridged(bridge, scope, work));
}

// Apart, so that no closure is made where there is no bridge.
function bridged<T>(bridge: SpanBridge, scope: TraceInfo | SpanData, work: () => T): () => T {
  return () => bridge.run(scope, work);
}
