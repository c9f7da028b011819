// A trace as text for terminals: a tree with durations, tokens and a waterfall. Untrusted text comes out inert.

import { inertLine, styleText } from "../base/inert.ts";
import { isObject } from "../base/json.ts";
import { shownValue } from "../base/options.ts";
import { isThenable } from "../base/thenable.ts";
import { OffstageError } from "../errors.ts";
import type { SpanData, SpanStatus } from "./span-data.ts";
import { type SpanNode, spanTree } from "./span-tree.ts";

export interface RenderTraceOptions {
  /** Colours by status. Default false. */
  readonly color?: boolean | undefined;
  /** Columns of the waterfall; 0 leaves it out. Default 24. */
  readonly barWidth?: number | undefined;
  /** Columns of the longest name shown, indentation included. Default 56. */
  readonly nameWidth?: number | undefined;
}

/** Anything with a name and spans: a `TraceContext`, or data of that form. */
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

interface Row {
  readonly span: SpanData;
  readonly label: string;
}

/** The trace, or any spans, as lines of text: one a span, each under its parent. */
export function renderTrace(trace: RenderableTrace | Iterable<SpanData>, options: RenderTraceOptions = {}): string {
  const { color = false, barWidth = 24, nameWidth = 56 } = options;
  const spans = spansOf(trace);
  const rows = rowsOf(spanTree(spans), nameWidth);
  const width = rows.reduce((widest, { label }) => Math.max(widest, label.length), 0);
  const bar = waterfall(spans, barWidth);
  const lines = rows.map(({ span, label }) => {
    const mark = color
      ? styleText(colors[span.status], marks[span.status], { validateStream: false })
      : marks[span.status];
    return `${mark} ${label.padEnd(width)}  ${shownDuration(span.duration).padStart(8)}  ${bar(span)}${details(span)}`.trimEnd();
  });
  return [...headline(trace), ...lines].join("\n");
}

function spansOf(trace: RenderableTrace | Iterable<SpanData>): readonly SpanData[] {
  if (typeof trace === "object" && trace !== null) {
    if ("getSpans" in trace) return trace.getSpans();
    if (Symbol.iterator in trace) return [...trace];
  }
  const hint = isThenable(trace) ? "a promise. Await it first" : shownValue(trace);
  throw new OffstageError("invalid-argument", `renderTrace() takes a trace or a list of spans; found ${hint}.`);
}

/** A duration for people: µs, ms, s or min. */
export function shownDuration(ms: number | undefined): string {
  if (ms === undefined) return "…";
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(2)} s` : `${(ms / 60_000).toFixed(1)} min`;
}

function headline(trace: RenderableTrace | Iterable<SpanData>): string[] {
  if (!("getSpans" in trace)) return [];
  return [`${inertLine(trace.name)}  ${shownDuration(trace.duration)}  trace ${inertLine(trace.traceId)}`];
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
    if (width <= 0) return "";
    const from = Math.min(width - 1, Math.floor((span.startTime - start) * scale));
    const to = Math.min(width, Math.max(from + 1, Math.round(((span.endTime ?? end) - start) * scale)));
    return `${"·".repeat(from)}${"█".repeat(to - from)}${"·".repeat(width - to)}`;
  };
}

function details({ metadata, kind }: SpanData): string {
  const { usage, errorType } = metadata;
  const tokens = isObject(usage)
    ? `  ${Number(usage.inputTokens ?? 0)} → ${Number(usage.outputTokens ?? 0)} tokens`
    : "";
  const error = typeof errorType === "string" ? `  ${inertLine(errorType)}` : "";
  return `${kind === "custom" ? "" : `  ${inertLine(kind)}`}${tokens}${error}`;
}
