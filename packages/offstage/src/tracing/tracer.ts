// Leveled log lines that know the trace and span they were written in. Timed operations are spans, not these.

import { errorType } from "../base/cancellation.ts";
import { messageOf } from "../errors.ts";
import { noTraceId } from "./trace-ids.ts";
import { currentScope } from "./trace-scope.ts";

/** From chatty to grave. */
export type TracerLevel = "trace" | "debug" | "info" | "warning" | "error";

/** One line of a log. Plain JSON. */
export interface TraceRecord {
  readonly level: TracerLevel;
  readonly message: string;
  /** Epoch milliseconds. */
  readonly time: number;
  /** Missing outside of a trace. */
  readonly traceId?: string;
  /** Missing outside of a span. */
  readonly spanId?: string;
  readonly error?: { readonly type: string; readonly message: string };
}

/**
 * Writes leveled log lines.
 *
 * **Contract:** a method returns at once and never throws into the caller's work. The trace and span of a line are those
 * current when the method is called.
 */
export interface Tracer {
  trace(message: string): void;
  debug(message: string): void;
  info(message: string): void;
  warning(message: string): void;
  error(message: string, error?: unknown): void;
}

/** A tracer that also takes whole records, written elsewhere or earlier. */
export interface RecordTracer extends Tracer {
  write(record: TraceRecord): void;
}

const ranks: Record<TracerLevel, number> = { trace: 0, debug: 1, info: 2, warning: 3, error: 4 };

/** Whether `level` is at least as grave as `threshold`. */
export function isAtLeast(level: TracerLevel, threshold: TracerLevel): boolean {
  return ranks[level] >= ranks[threshold];
}

/** A record of this moment, in the current trace and span. */
export function traceRecord(level: TracerLevel, message: string, error?: unknown): TraceRecord {
  const scope = currentScope();
  const parent = scope?.asParent;
  return {
    level,
    message,
    time: Date.now(),
    ...(scope === undefined || scope.trace.traceId === noTraceId ? undefined : { traceId: scope.trace.traceId }),
    ...(typeof parent === "object" && parent.recording ? { spanId: parent.spanId } : undefined),
    ...(error === undefined ? undefined : { error: { type: errorType(error), message: messageOf(error) } }),
  };
}

/** Gives `record` to any tracer, with its own time and ids where the tracer takes them. */
export function forward(record: TraceRecord, target: Tracer): void {
  if ("write" in target) (target as RecordTracer).write(record);
  else if (record.level === "error") target.error(record.message, record.error);
  else target[record.level](record.message);
}
