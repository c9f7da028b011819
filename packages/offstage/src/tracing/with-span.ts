// The public face of spans: `withSpan` and `withTrace`.
import { anything, checkOptions, type OptionRules } from "../base/options.ts";
import { checkWork, rootScope, type SpanOptions, spanRules, TraceContext } from "./trace-context.ts";
import { currentScope, inSpan, type Work } from "./trace-span.ts";

export interface WithSpanOptions extends SpanOptions {
  /** Work that rejects with this signal's reason was cancelled and did not fail. */
  readonly signal?: AbortSignal | undefined;
}

const withSpanRules: OptionRules = { ...spanRules, signal: anything };

/** Runs `work` in a new trace, which ends when `work` settles. Returns the result of `work`. */
export const withTrace: typeof TraceContext.withTrace = TraceContext.withTrace;

/**
 * Runs `work` in a child of the current span, or in a trace of the same name if there is none. The span ends when `work`
 * settles: `ok`, `cancelled` after an abort, else `error`. Returns the result of `work`.
 */
export function withSpan<T>(name: string, work: Work<T>): Promise<T>;
export function withSpan<T>(name: string, options: WithSpanOptions | undefined, work: Work<T>): Promise<T>;
export async function withSpan<T>(
  name: string,
  first: WithSpanOptions | Work<T> | undefined,
  second?: Work<T>,
): Promise<T> {
  const [options = {}, work] = typeof first === "function" ? [undefined, first] : [first, second];
  checkWork(work, "withSpan");
  checkOptions(options, withSpanRules, "span");
  const { kind, parentSpanId, metadata, signal } = options;
  const init = { name, kind, parentSpanId, metadata };
  return await inSpan(currentScope() ?? rootScope(init), init, work, signal);
}
