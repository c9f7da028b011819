// Spans as a tree, computed from their parent ids. A view: nothing is kept.
import type { SpanData } from "./span-data.ts";

/** A span with the spans below it, in the order they started. */
export interface SpanNode<Span extends SpanData = SpanData> {
  readonly span: Span;
  readonly children: readonly SpanNode<Span>[];
}

interface GrowingNode<Span extends SpanData> extends SpanNode<Span> {
  readonly children: GrowingNode<Span>[];
}

/** The roots, in the order they started. A span whose parent is not among `spans` is a root; none is ever lost. */
export function spanTree<Span extends SpanData>(spans: Iterable<Span>): SpanNode<Span>[] {
  const nodes: GrowingNode<Span>[] = Array.from(spans, (span) => ({ span, children: [] }));
  nodes.sort((a, b) => a.span.startTime - b.span.startTime);
  const byId = new Map(nodes.map((node) => [node.span.spanId, node]));
  const roots: GrowingNode<Span>[] = [];
  for (const node of nodes) {
    const siblings = parentOf(node, byId)?.children ?? roots;
    siblings.push(node);
  }
  return [...roots, ...cutCircles(nodes, { roots, byId })];
}

function parentOf<Span extends SpanData>(
  { span }: GrowingNode<Span>,
  byId: ReadonlyMap<string, GrowingNode<Span>>,
): GrowingNode<Span> | undefined {
  return span.parentSpanId === undefined ? undefined : byId.get(span.parentSpanId);
}

interface Forest<Span extends SpanData> {
  readonly roots: readonly GrowingNode<Span>[];
  readonly byId: ReadonlyMap<string, GrowingNode<Span>>;
}

// Spans read from elsewhere may name each other as parents in a circle; the earliest of a circle becomes a root.
function cutCircles<Span extends SpanData>(
  nodes: readonly GrowingNode<Span>[],
  forest: Forest<Span>,
): GrowingNode<Span>[] {
  const reached = new Set<GrowingNode<Span>>();
  for (const root of forest.roots) reach(root, reached);
  const cut: GrowingNode<Span>[] = [];
  for (const node of nodes) {
    if (reached.has(node)) continue;
    const siblings = parentOf(node, forest.byId)?.children;
    siblings?.splice(siblings.indexOf(node), 1);
    reach(node, reached);
    cut.push(node);
  }
  return cut;
}

function reach<Span extends SpanData>(root: GrowingNode<Span>, reached: Set<GrowingNode<Span>>): void {
  const open = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    reached.add(node);
    for (const child of node.children) open.push(child);
  }
}
