// The tracing settings of the process, shared by all copies of Offstage in it.
import { withDeadline } from "../base/cancellation.ts";
import type { SpanExporter } from "./span-exporter.ts";
import { checkTracing, initialSettings, refine, type TraceSettings, type TracingOptions } from "./tracing-options.ts";

interface TraceState {
  settings: TraceSettings;
}

// The number is the version of `TraceState`'s shape: copies of different versions have separate state.
const key: unique symbol = Symbol.for("offstage.tracing.4");
const holder = globalThis as { [key]?: TraceState };
holder[key] ??= { settings: initialSettings() };

/** The state that all copies of Offstage in this process share. */
export const traceState: TraceState = holder[key];

/** Sets the tracing options of the process, replacing earlier ones. Without options it restores the defaults. */
export function configureTracing(options: TracingOptions = {}): void {
  checkTracing(options);
  traceState.settings = refine(initialSettings(), options);
}

// Longer than the default deadline of `batched`, so that a batched exporter can report what it gave up.
const settleMs = 15_000;

/** Resolves when the exporters of the process have delivered or given up every span so far, or after 15 seconds. Never rejects. */
export async function flushTracing(): Promise<void> {
  await settleExporters("flush");
}

/** Flushes and closes the exporters of the process, within 15 seconds. Never rejects. */
export async function shutdownTracing(): Promise<void> {
  await settleExporters("shutdown");
}

async function settleExporters(action: "flush" | "shutdown"): Promise<void> {
  const { exporters, onError } = traceState.settings;
  const settle = async (exporter: SpanExporter): Promise<void> => {
    try {
      await withDeadline(() => exporter[action](), { what: action, timeoutMs: settleMs, holdsProcess: true });
    } catch (error) {
      onError(error, exporter.name);
    }
  };
  await Promise.all(exporters.map(settle));
}
