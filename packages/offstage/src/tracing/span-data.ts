// The read side of a span: plain data. The write side is trace-span.ts.
import type { JsonObject } from "../base/json.ts";

/** The kind of a timed operation. Kinds nest run > step > model | tool. The default of `withSpan` is `custom`. */
export type SpanKind =
  | "run"
  | "step"
  | "model"
  | "tool"
  | "subagent"
  | "guardrail"
  | "session"
  | "compaction"
  | "custom"
  | (string & {});

/** `active` until the span ends; then how it ended. */
export type SpanStatus = "active" | "ok" | "error" | "cancelled";

/** The status of a span that has ended. */
export type EndStatus = Exclude<SpanStatus, "active">;

/** One timed operation as data: a `TraceSpan`, or a span read from JSONL or a store. */
export interface SpanData {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits. */
  readonly spanId: string;
  /** Missing for a root span. */
  readonly parentSpanId?: string | undefined;
  /** True if the parent belongs to another process, and so is not in this trace's list of spans. */
  readonly parentIsRemote?: boolean | undefined;
  readonly traceName?: string | undefined;
  readonly groupId?: string | undefined;
  readonly name: string;
  readonly kind: SpanKind;
  /** Epoch milliseconds, with fractions. */
  readonly startTime: number;
  /** Missing while the span is active. */
  readonly endTime?: number | undefined;
  /** Milliseconds; missing while the span is active. */
  readonly duration?: number | undefined;
  readonly status: SpanStatus;
  readonly metadata: JsonObject;
  /** Prompts, answers, arguments, results and error messages. Present only if tracing is configured to keep content. */
  readonly content?: JsonObject | undefined;
}
