// Keeps ended spans in memory, to be looked at. The exporter of tests; not a store.
import { checkValue, wholeFrom } from "../../base/options.ts";
import type { SpanData } from "../span-data.ts";
import type { SpanExporter } from "../span-exporter.ts";

export interface MemoryExporterOptions {
  /** Keep only the latest spans, this many. Default: all. */
  readonly limit?: number | undefined;
}

export interface MemoryExporter extends SpanExporter {
  /** What is kept, in the order the spans ended. */
  readonly spans: readonly SpanData[];
  /** Forgets everything kept so far. */
  clear(): void;
}

/** An exporter that keeps ended spans in memory. */
export function memoryExporter(options: MemoryExporterOptions = {}): MemoryExporter {
  checkValue("limit", options.limit, wholeFrom(0));
  const { limit = Number.POSITIVE_INFINITY } = options;
  let spans: SpanData[] = [];
  let isOpen = true;

  return {
    name: "memory",
    export(ended) {
      if (!isOpen) return;
      for (const span of ended) spans.push(span);
      // Cut only now and then, so that keeping the latest stays cheap.
      if (spans.length > 2 * limit) spans = latest(spans, limit);
    },
    get spans() {
      if (spans.length > limit) spans = latest(spans, limit);
      return spans;
    },
    clear() {
      spans = [];
    },
    async flush() {},
    async shutdown() {
      isOpen = false;
    },
  };
}

function latest(spans: readonly SpanData[], limit: number): SpanData[] {
  return spans.slice(spans.length - limit);
}
