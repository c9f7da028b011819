// Leveled log lines that carry the trace and span they were written in. Not for timed operations: those are spans.

import { errorType } from "../base/cancellation.ts";
import { type OptionRule, objectWith } from "../base/options.ts";
import { messageOf } from "../errors.ts";
import { currentScope, noTraceId } from "./trace-span.ts";

/** From most to least verbose. */
export type TracerLevel = "trace" | "debug" | "info" | "warning" | "error";

/** One log line, as plain JSON. */
export interface TraceRecord {
  readonly level: TracerLevel;
  readonly message: string;
  /** Epoch milliseconds. */
  readonly time: number;
  /** Missing outside of a trace. */
  readonly traceId?: string | undefined;
  /** Missing outside of a span. */
  readonly spanId?: string | undefined;
  readonly error?: { readonly type: string; readonly message: string } | undefined;
}

/**
 * Writes leveled log lines.
 *
 * **Contract:** every method returns at once and never throws. A line belongs to the trace and span that are current when the
 * method is called.
 */
export interface Tracer {
  trace(message: string): void;
  debug(message: string): void;
  info(message: string): void;
  warning(message: string): void;
  error(message: string, error?: unknown): void;
}

/** A tracer that also accepts complete records, made elsewhere or earlier. */
export interface RecordTracer extends Tracer {
  write(record: TraceRecord): void;
}

/** The levels, from most to least verbose. */
export const tracerLevels: readonly TracerLevel[] = ["trace", "debug", "info", "warning", "error"];

/** The rule of an option that is a tracer. */
export const tracerRule: OptionRule = objectWith(
  `a tracer with the methods ${tracerLevels.join(", ")}`,
  ...tracerLevels,
);

/** Whether `level` is at least as severe as `threshold`. */
export function isAtLeast(level: TracerLevel, threshold: TracerLevel): boolean {
  return tracerLevels.indexOf(level) >= tracerLevels.indexOf(threshold);
}

/** A record with the current time, trace and span. */
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

/** Passes `record` to any tracer; a `RecordTracer` keeps its time and ids. */
export function forward(record: TraceRecord, target: Tracer): void {
  if ("write" in target) (target as RecordTracer).write(record);
  else if (record.level === "error") target.error(record.message, record.error);
  else target[record.level](record.message);
}
