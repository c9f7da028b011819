// A trace as a waterfall: a line for each span below its parent, with a bar that shows when it ran.
import { isObject } from "../../base/json.ts";
import { type SpanNode, spanTree } from "../../tracing/render-trace.ts";
import type { SpanData } from "../../tracing/span-data.ts";
import type { Io, Style } from "../io.ts";
import { fit, pad } from "./columns.ts";
import { duration, markOf, short, styleOf } from "./words.ts";

const kindStyles: Readonly<Record<string, Style>> = {
  run: "blue",
  step: "cyan",
  model: "magenta",
  tool: "yellow",
  subagent: "blue",
  guardrail: "red",
};
const deepest = 12;

interface Row {
  readonly span: SpanData;
  readonly depth: number;
}

/** The lines of a waterfall. */
export function waterfallLines(io: Io, spans: readonly SpanData[]): string[] {
  const rows = flattened(spanTree(spans), 0);
  const labels = rows.map(({ span, depth }) => `${"  ".repeat(Math.min(depth, deepest))}${io.inline(span.name)}`);
  const nameWidth = Math.min(
    Math.max(8, ...labels.map((label) => label.length)),
    Math.max(14, Math.floor(io.width * 0.38)),
  );
  const timeWidth = 8;
  const tokenWidth = io.width >= 100 ? 14 : 0;
  const barWidth = Math.max(0, io.width - nameWidth - timeWidth - tokenWidth - 6 - (tokenWidth > 0 ? 2 : 0));
  const scale = scaleOf(spans, barWidth);
  return rows.map(({ span }, index) => {
    const mark = io.paint(styleOf(span.status) ?? "dim", markOf(span.status));
    const name = pad(labels[index] ?? "", nameWidth);
    const tokens = tokenWidth === 0 ? "" : `  ${io.paint("dim", pad(tokensOf(span), tokenWidth))}`;
    const [before, length] = scale(span);
    const drawn =
      barWidth < 6
        ? ""
        : `  ${" ".repeat(before)}${io.paint(span.status === "error" ? "red" : (kindStyles[span.kind] ?? "dim"), "█".repeat(length))}`;
    return `${mark} ${name}  ${io.paint("dim", pad(duration(span.duration) || "…", timeWidth, "right"))}${tokens}${drawn}`.trimEnd();
  });
}

function flattened(nodes: readonly SpanNode[], depth: number): Row[] {
  const rows: Row[] = [];
  const open = nodes.map((node) => ({ node, depth })).reverse();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, depth: own } = next;
    rows.push({ span: node.span, depth: own });
    for (const child of node.children.toReversed()) open.push({ node: child, depth: own + 1 });
  }
  return rows;
}

// The start and the length of a span's bar. Clocks of two processes may differ, so both are bounded.
function scaleOf(spans: readonly SpanData[], width: number): (span: SpanData) => [before: number, length: number] {
  const start = spans.reduce((least, { startTime }) => Math.min(least, startTime), Number.POSITIVE_INFINITY);
  const end = spans.reduce(
    (most, { startTime, endTime }) => Math.max(most, endTime ?? startTime),
    Number.NEGATIVE_INFINITY,
  );
  const perMs = end > start ? width / (end - start) : 0;
  return ({ startTime, endTime }) => {
    const before = Math.max(0, Math.min(width - 1, Math.floor((startTime - start) * perMs)));
    const length = Math.round(((endTime ?? end) - startTime) * perMs);
    return [before, Math.max(1, Math.min(width - before, length))];
  };
}

function tokensOf({ metadata }: SpanData): string {
  const { usage } = metadata ?? {};
  return isObject(usage)
    ? fit(`${short(Number(usage.inputTokens ?? 0))} → ${short(Number(usage.outputTokens ?? 0))}`, 14)
    : "";
}
