// Checks the invariants of spans. Run it in tests over every span that the test exported.
import { checkOptions, checkRequired, type OptionRule, type OptionRules, yesOrNo } from "../base/options.ts";
import type { SpanData } from "../tracing/span-data.ts";

export interface CheckSpansOptions {
  /** Accepts spans that are still active. Default false. */
  readonly allowActive?: boolean | undefined;
  /** Accepts parents that are not in the list, as in a part of a trace. Default false. */
  readonly allowMissingParents?: boolean | undefined;
}

const aList: OptionRule = {
  isFit: (value) => typeof value === "object" && value !== null && Symbol.iterator in value,
  words: "a list of spans",
};
const rules: OptionRules = { allowActive: yesOrNo, allowMissingParents: yesOrNo };

type Spans = ReadonlyMap<string, SpanData>;

// The kinds that the nearest run, step, model or tool span above a span may have. A run may start anywhere.
const nests: Readonly<Record<string, readonly string[]>> = {
  step: ["run"],
  model: ["step", "run"],
  tool: ["step", "run"],
};

/** Returns one sentence per violation: `[]` if every span is well-formed, has ended once and nests correctly. */
export function checkSpans(spans: Iterable<SpanData>, options: CheckSpansOptions = {}): string[] {
  checkOptions(options, rules, "checkSpans");
  checkRequired("spans", spans, aList);
  const list = [...spans];
  const byId = new Map(list.map((span) => [span.spanId, span]));
  const repeated = list.length === byId.size ? [] : [`${list.length - byId.size} span ids are duplicated`];
  return [
    ...repeated,
    ...list.flatMap((span) => checkSpan(span, byId, options).map((violation) => `${shown(span)} ${violation}`)),
  ];
}

function checkSpan(span: SpanData, byId: Spans, options: CheckSpansOptions): string[] {
  return [...checkIds(span), ...checkEnd(span, options), ...checkParent(span, byId, options), ...checkJson(span)];
}

function checkIds({ traceId, spanId }: SpanData): string[] {
  const isTraceId = /^(?!0+$)[0-9a-f]{32}$/.test(traceId);
  const isSpanId = /^(?!0+$)[0-9a-f]{16}$/.test(spanId);
  return [
    ...(isTraceId ? [] : [`has the trace id "${traceId}"`]),
    ...(isSpanId ? [] : [`has the span id "${spanId}"`]),
  ];
}

function checkEnd(
  { status, startTime, endTime, duration }: SpanData,
  { allowActive = false }: CheckSpansOptions,
): string[] {
  if (status === "active") return allowActive && endTime === undefined ? [] : ["is still active"];
  if (!["ok", "error", "cancelled"].includes(status)) return [`has the status "${status}"`];
  if (endTime === undefined || duration === undefined) return ["has ended without an end time"];
  if (endTime < startTime) return ["ends before it starts"];
  return Math.abs(endTime - startTime - duration) < 0.001 ? [] : ["has a duration that is not its end minus its start"];
}

function checkParent(span: SpanData, byId: Spans, { allowMissingParents = false }: CheckSpansOptions): string[] {
  if (span.parentSpanId === undefined) return checkNesting(span, []);
  const parent = byId.get(span.parentSpanId);
  if (parent === undefined) return span.parentIsRemote || allowMissingParents ? [] : ["has a parent that is missing"];
  if (parent.traceId !== span.traceId) return [`has its parent ${shown(parent)} in another trace`];
  if (parent.startTime > span.startTime) return [`starts before its parent ${shown(parent)}`];
  const above = ancestors(span, byId);
  return above.includes(span) ? ["is its own ancestor"] : checkNesting(span, above);
}

function checkNesting({ kind }: SpanData, above: readonly SpanData[]): string[] {
  const allowed = nests[kind];
  const nearest = above.find((span) => span.kind === "run" || span.kind in nests)?.kind;
  if (allowed === undefined || (nearest !== undefined && allowed.includes(nearest))) return [];
  return [`of kind ${kind} is under ${nearest ?? "no run"}`];
}

function ancestors(span: SpanData, byId: Spans): SpanData[] {
  const above = new Set<SpanData>();
  const parentOf = ({ parentSpanId = "" }: SpanData): SpanData | undefined => byId.get(parentSpanId);
  for (let next = parentOf(span); next !== undefined && !above.has(next); next = parentOf(next)) above.add(next);
  return [...above];
}

function checkJson(span: SpanData): string[] {
  try {
    const data = { metadata: span.metadata, content: span.content };
    return JSON.stringify(JSON.parse(JSON.stringify(data))) === JSON.stringify(data)
      ? []
      : ["has data that is not JSON"];
  } catch {
    return ["has data that is not JSON"];
  }
}

function shown({ name, spanId }: SpanData): string {
  return `"${name}" (${spanId})`;
}
