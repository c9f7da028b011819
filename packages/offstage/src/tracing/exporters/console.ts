// Prints a tree with durations each time a root span ends. For eyes, while developing; not a log format.
import { type Redactor, redactor } from "../../base/redact.ts";
import { redactSpan } from "../redact-span.ts";
import { renderTrace } from "../render-trace.ts";
import type { SpanData } from "../span-data.ts";
import type { SpanExporter } from "../span-exporter.ts";

const maxHeld = 10_000;

export interface ConsoleExporterOptions {
  /** Where the text goes. Default: standard error. */
  readonly write?: (text: string) => unknown;
  /** Colours by status. Default: where standard error is a terminal that shows them. */
  readonly color?: boolean;
  /** Takes secrets out of every text. Default: the usual ones. */
  readonly redact?: Redactor;
}

/** An exporter that prints. Spans are held until their root ends, or until 10,000 are held, or until `flush`. */
export function consoleExporter(options: ConsoleExporterOptions = {}): SpanExporter {
  const { write = (text) => process.stderr.write(text), color = hasColor(), redact = redactor() } = options;
  const held = new Map<string, SpanData[]>();
  let count = 0;
  let isOpen = true;

  function print(traceId: string): void {
    const spans = held.get(traceId);
    if (spans === undefined) return;
    held.delete(traceId);
    count -= spans.length;
    const leaving = spans.map((span) => redactSpan(span, redact));
    write(`${renderTrace(leaving, { color })}\n`);
  }

  function hold(span: SpanData): void {
    const spans = held.get(span.traceId);
    if (spans === undefined) held.set(span.traceId, [span]);
    else spans.push(span);
    count += 1;
    if (span.parentSpanId === undefined || span.parentIsRemote) print(span.traceId);
  }

  return {
    name: "console",
    export(spans) {
      if (!isOpen) return;
      for (const span of spans) hold(span);
      for (const traceId of held.keys()) {
        if (count <= maxHeld) break;
        print(traceId);
      }
    },
    async flush() {
      for (const traceId of held.keys()) print(traceId);
    },
    async shutdown() {
      for (const traceId of held.keys()) print(traceId);
      isOpen = false;
    },
  };
}

function hasColor(): boolean {
  return process.stderr.isTTY === true && process.stderr.hasColors();
}
