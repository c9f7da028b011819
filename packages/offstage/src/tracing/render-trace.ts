// A trace as text for terminals: a tree with durations, tokens and a waterfall. Untrusted text is made inert.

import { inertLine, styleText } from "../base/inert.ts";
import { isObject } from "../base/json.ts";
import { checkOptions, type OptionRules, shownValue, wholeFrom, yesOrNo } from "../base/options.ts";
import { isThenable } from "../base/thenable.ts";
import { OffstageError } from "../errors.ts";
import type { SpanData, SpanStatus } from "./span-data.ts";

/** A span with the spans below it, in the order they started. */
export interface SpanNode<Span extends SpanData = SpanData> {
  readonly span: Span;
  readonly children: readonly SpanNode<Span>[];
}

interface GrowingNode<Span extends SpanData> extends SpanNode<Span> {
  readonly children: GrowingNode<Span>[];
}

/** Arranges spans as trees and returns the roots, in the order they started. A span whose parent is not in `spans` is a root. */
export function spanTree<Span extends SpanData>(spans: Iterable<Span>): SpanNode<Span>[] {
  const list = checkedSpans(spans, "spanTree");
  const nodes = list.map((span): GrowingNode<Span> => ({ span, children: [] }));
  nodes.sort((a, b) => a.span.startTime - b.span.startTime);
  const byId = new Map(nodes.map((node) => [node.span.spanId, node]));
  const parentOf = ({ span: { parentSpanId } }: GrowingNode<Span>): GrowingNode<Span> | undefined =>
    parentSpanId === undefined ? undefined : byId.get(parentSpanId);
  const roots: GrowingNode<Span>[] = [];
  for (const node of nodes) (parentOf(node)?.children ?? roots).push(node);
  const reached = new Set<GrowingNode<Span>>();
  for (const root of roots) reach(root, reached);
  // Imported spans may name each other as parents in a circle: the earliest span of a circle becomes a root.
  for (const node of nodes) {
    if (reached.has(node)) continue;
    const siblings = parentOf(node)?.children;
    siblings?.splice(siblings.indexOf(node), 1);
    reach(node, reached);
    roots.push(node);
  }
  return roots;
}

function reach<Span extends SpanData>(root: GrowingNode<Span>, reached: Set<GrowingNode<Span>>): void {
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    reached.add(node);
    for (const child of node.children) open.push(child);
  }
}

export interface RenderTraceOptions {
  /** Colors the status marks. Default false. */
  readonly color?: boolean | undefined;
  /** Columns of the waterfall; 0 leaves it out. Default 24. */
  readonly barWidth?: number | undefined;
  /** Columns of the longest name shown, including indentation. Default 56. */
  readonly nameWidth?: number | undefined;
}

const renderRules: OptionRules = { color: yesOrNo, barWidth: wholeFrom(0), nameWidth: wholeFrom(1) };

/** Anything with a name and spans, such as a `TraceContext`. */
export interface RenderableTrace {
  readonly name: string;
  readonly traceId: string;
  readonly duration?: number | undefined;
  getSpans(): readonly SpanData[];
}

const maxIndent = 16;
const marks: Record<SpanStatus, string> = { ok: "✓", error: "✗", cancelled: "⊘", active: "…" };
const colors: Record<SpanStatus, "green" | "red" | "yellow" | "cyan"> = {
  ok: "green",
  error: "red",
  cancelled: "yellow",
  active: "cyan",
};

/** Renders a trace, or any spans, as text: one line per span, each below its parent. */
export function renderTrace(trace: RenderableTrace | Iterable<SpanData>, options: RenderTraceOptions = {}): string {
  checkOptions(options, renderRules, "renderTrace");
  const { color = false, barWidth = 24, nameWidth = 56 } = options;
  const spans = checkedSpans(hasSpans(trace) ? trace.getSpans() : trace, "renderTrace");
  const rows = rowsOf(spanTree(spans), nameWidth);
  const width = rows.reduce((widest, { label }) => Math.max(widest, label.length), 0);
  const bar = waterfall(spans, barWidth);
  const paint = (status: SpanStatus): string =>
    color ? styleText(colors[status], marks[status], { validateStream: false }) : marks[status];
  const lines = rows.map(({ span, label }) => {
    const duration = shownDuration(span.duration).padStart(8);
    return `${paint(span.status)} ${label.padEnd(width)}  ${duration}  ${bar(span)}${details(span)}`.trimEnd();
  });
  return [...(hasSpans(trace) ? [headline(trace)] : []), ...lines].join("\n");
}

function hasSpans(trace: unknown): trace is RenderableTrace {
  return isObject(trace) && typeof trace.getSpans === "function";
}

function checkedSpans<Span extends SpanData>(spans: Iterable<Span>, caller: string): readonly Span[] {
  const list = isObject(spans) || Array.isArray(spans) ? iterated(spans) : undefined;
  const odd = list?.findIndex((span) => !isSpan(span)) ?? -1;
  if (list !== undefined && odd === -1) return list;
  const found = list === undefined ? shownSubject(spans) : `${shownValue(list[odd])} at index ${odd}`;
  throw new OffstageError("invalid-argument", `${caller}() takes a trace or a list of spans; found ${found}.`);
}

function iterated<Span>(spans: Iterable<Span>): readonly Span[] | undefined {
  return Symbol.iterator in spans ? [...spans] : undefined;
}

function isSpan(span: unknown): boolean {
  if (!isObject(span)) return false;
  const { spanId, name, startTime, status } = span;
  return (
    typeof spanId === "string" &&
    typeof name === "string" &&
    typeof startTime === "number" &&
    Object.hasOwn(marks, String(status))
  );
}

function shownSubject(subject: unknown): string {
  return isThenable(subject) ? "a promise. Await it first" : shownValue(subject);
}

function headline({ name, traceId, duration }: RenderableTrace): string {
  return `${inertLine(String(name))}  ${shownDuration(duration)}  trace ${inertLine(String(traceId))}`;
}

/** Formats a duration in µs, ms, s or min. */
export function shownDuration(ms: number | undefined): string {
  if (ms === undefined) return "…";
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(2)} s` : `${(ms / 60_000).toFixed(1)} min`;
}

interface Row {
  readonly span: SpanData;
  readonly label: string;
}

function rowsOf(roots: readonly SpanNode[], nameWidth: number): Row[] {
  const rows: Row[] = [];
  const open = roots.map((node) => ({ node, depth: 0 })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth } = next;
    const label = `${"  ".repeat(Math.min(depth, maxIndent))}${inertLine(node.span.name)}`;
    rows.push({ span: node.span, label: label.length > nameWidth ? `${label.slice(0, nameWidth - 1)}…` : label });
    for (const child of node.children.toReversed()) open.push({ node: child, depth: depth + 1 });
  }
  return rows;
}

function waterfall(spans: readonly SpanData[], width: number): (span: SpanData) => string {
  let start = Number.POSITIVE_INFINITY;
  let end = Number.NEGATIVE_INFINITY;
  for (const span of spans) {
    start = Math.min(start, span.startTime);
    end = Math.max(end, span.endTime ?? span.startTime);
  }
  const scale = end > start ? width / (end - start) : 0;
  return (span) => {
    if (width === 0) return "";
    const from = Math.min(width - 1, Math.floor((span.startTime - start) * scale));
    const to = Math.min(width, Math.max(from + 1, Math.round(((span.endTime ?? end) - start) * scale)));
    return `${"·".repeat(from)}${"█".repeat(to - from)}${"·".repeat(width - to)}`;
  };
}

function details({ metadata, kind }: SpanData): string {
  const { usage, errorType } = metadata ?? {};
  const tokens = isObject(usage)
    ? `  ${Number(usage.inputTokens ?? 0)} → ${Number(usage.outputTokens ?? 0)} tokens`
    : "";
  const error = typeof errorType === "string" ? `  ${inertLine(errorType)}` : "";
  return `${kind === "custom" ? "" : `  ${inertLine(String(kind))}`}${tokens}${error}`;
}
