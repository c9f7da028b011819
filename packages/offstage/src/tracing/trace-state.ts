// The one piece of process-wide state: the async storage, the process's settings and its id maker. Shared by all copies of Offstage.
import { AsyncLocalStorage } from "node:async_hooks";
import { withDeadline } from "../base/cancellation.ts";
import { type TraceIds, traceIds } from "./trace-ids.ts";
import {
  checkTracing,
  initialSettings,
  refine,
  report,
  type TraceSettings,
  type TracingOptions,
} from "./tracing-options.ts";

/** What follows async code. One storage for all of it: Node copies the map of all storages for every entry. */
export interface AsyncScope {
  /** The current `TraceScope`; its type is told in trace-scope.ts, where it is read. */
  readonly scope: object | undefined;
  /** The run that this code is part of; told in sessions/held-session.ts. */
  readonly around: object | undefined;
}

interface TraceState {
  readonly storage: AsyncLocalStorage<AsyncScope>;
  readonly ids: TraceIds;
  settings: TraceSettings;
}

// The number is that of the shape of `TraceState` and of what is in its storage: copies that differ in it stay apart.
const key: unique symbol = Symbol.for("offstage.tracing.3");
const holder = globalThis as { [key]?: TraceState };
holder[key] ??= { storage: new AsyncLocalStorage(), ids: traceIds(), settings: initialSettings() };

/** The state that all copies of Offstage in this process share. */
export const traceState: TraceState = holder[key];

/** Sets tracing up for the whole process, in place of what was set before; no argument restores the defaults. */
export function configureTracing(options: TracingOptions = {}): void {
  checkTracing(options);
  traceState.settings = refine(initialSettings(), options);
}

// Longer than `batched` takes by default: an exporter that keeps a deadline of its own reports what it gave up.
const settleMs = 15_000;

/** Resolves when the process's exporters have let go of every span ended so far, or after 15 seconds. Never rejects. */
export async function flushTracing(): Promise<void> {
  await settleExporters("flush");
}

/** Flushes and closes the process's exporters, in 15 seconds at most. Never rejects. */
export async function shutdownTracing(): Promise<void> {
  await settleExporters("shutdown");
}

async function settleExporters(action: "flush" | "shutdown"): Promise<void> {
  const { settings } = traceState;
  const settle = async (exporter: TraceSettings["exporters"][number]): Promise<void> => {
    try {
      await withDeadline(() => exporter[action](), { what: action, timeoutMs: settleMs, holdsProcess: true });
    } catch (error) {
      report(settings, error, exporter.name);
    }
  };
  await Promise.all(settings.exporters.map(settle));
}
