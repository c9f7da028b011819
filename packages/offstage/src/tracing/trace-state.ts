// The process-wide state of tracing: its settings. Shared by all copies of Offstage.
import { withDeadline } from "../base/cancellation.ts";
import {
  checkTracing,
  initialSettings,
  refine,
  report,
  type TraceSettings,
  type TracingOptions,
} from "./tracing-options.ts";

interface TraceState {
  settings: TraceSettings;
}

// The number is the version of `TraceState`'s shape: copies of different versions have separate state.
const key: unique symbol = Symbol.for("offstage.tracing.4");
const holder = globalThis as { [key]?: TraceState };
holder[key] ??= { settings: initialSettings() };

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
