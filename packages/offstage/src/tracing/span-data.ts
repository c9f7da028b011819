// What a span is to those who read it: plain names and numbers. The written side is trace-span.ts.
import type { JsonObject } from "../base/json.ts";

/** What a span timed. Kinds nest run > step > model | tool; `withSpan` makes `custom` unless told otherwise. */
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

/** `active` until the span ends; then how it ended, for good. */
export type SpanStatus = "active" | "ok" | "error" | "cancelled";

/** How a span can end. */
export type EndStatus = Exclude<SpanStatus, "active">;

/** One timed operation, read side. `TraceSpan` is one; so is a span read back from JSONL or a store. */
export interface SpanData {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits. */
  readonly spanId: string;
  /** Missing on a span at the top of its trace. */
  readonly parentSpanId?: string | undefined;
  /** True where the parent is in another process, and so not among these spans. */
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
  /** Prompts, answers, arguments, results, error sentences. Present only where tracing was told to keep content. */
  readonly content?: JsonObject | undefined;
}
