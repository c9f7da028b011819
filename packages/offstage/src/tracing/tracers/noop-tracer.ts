// A tracer that discards every record.
import type { RecordTracer } from "../tracer.ts";

/** Discards every record. */
export class NoopTracer implements RecordTracer {
  trace(): void {}
  debug(): void {}
  info(): void {}
  warning(): void {}
  error(): void {}
  write(): void {}
}
