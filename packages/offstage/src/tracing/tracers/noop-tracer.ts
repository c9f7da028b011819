// A tracer that writes nothing.
import type { RecordTracer } from "../tracer.ts";

/** Writes nothing, at no cost. */
export class NoopTracer implements RecordTracer {
  trace(): void {}
  debug(): void {}
  info(): void {}
  warning(): void {}
  error(): void {}
  write(): void {}
}
