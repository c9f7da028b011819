// Keeps ended spans in memory, for tests and debugging.
import { checkOptions, type OptionRules, wholeFrom } from "../../base/options.ts";
import type { SpanData } from "../span-data.ts";
import type { SpanExporter } from "../span-exporter.ts";

export interface MemoryExporterOptions {
  /** The number of latest spans to keep. Default: all. */
  readonly limit?: number | undefined;
}

const rules: OptionRules = { limit: wholeFrom(0) };

export interface MemoryExporter extends SpanExporter {
  /** The kept spans, in the order they ended. */
  readonly spans: readonly SpanData[];
  /** Removes all spans kept so far. */
  clear(): void;
}

/** Makes an exporter that keeps ended spans in memory. */
export function memoryExporter(options: MemoryExporterOptions = {}): MemoryExporter {
  checkOptions(options, rules, "memoryExporter");
  const { limit = Number.POSITIVE_INFINITY } = options;
  let spans: SpanData[] = [];
  let isOpen = true;

  return {
    name: "memory",
    export(ended) {
      if (!isOpen) return;
      for (const span of ended) spans.push(span);
      // Trims at twice the limit, so that each span costs constant time.
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
