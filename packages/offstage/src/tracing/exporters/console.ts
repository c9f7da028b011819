// Prints a tree with durations each time a root span ends. For people during development, not a log format.
import { checkOptions, type OptionRules, someFunction, yesOrNo } from "../../base/options.ts";
import { type Redactor, redactor } from "../../base/redact.ts";
import { redactSpan } from "../redact-span.ts";
import { renderTrace } from "../render-trace.ts";
import type { SpanData } from "../span-data.ts";
import type { SpanExporter } from "../span-exporter.ts";

const maxPending = 10_000;

export interface ConsoleExporterOptions {
  /** Receives the text. Default: standard error. */
  readonly write?: ((text: string) => unknown) | undefined;
  /** Colors the status marks. Default: true if standard error is a terminal with colors. */
  readonly color?: boolean | undefined;
  /** Removes secrets from every text. Default: `redactor()`. */
  readonly redact?: Redactor | undefined;
}

const rules: OptionRules = { write: someFunction, color: yesOrNo, redact: someFunction };

/** Makes an exporter that prints a trace when its root span ends, at `flush`, or when 10,000 spans are pending. */
export function consoleExporter(options: ConsoleExporterOptions = {}): SpanExporter {
  checkOptions(options, rules, "consoleExporter");
  const { write = (text) => process.stderr.write(text), color = hasColor(), redact = redactor() } = options;
  const pending = new Map<string, SpanData[]>();
  let count = 0;
  let isOpen = true;

  function print(traceId: string): void {
    const spans = pending.get(traceId);
    if (spans === undefined) return;
    pending.delete(traceId);
    count -= spans.length;
    const redacted = spans.map((span) => redactSpan(span, redact));
    write(`${renderTrace(redacted, { color })}\n`);
  }

  function add(span: SpanData): void {
    const spans = pending.get(span.traceId);
    if (spans === undefined) pending.set(span.traceId, [span]);
    else spans.push(span);
    count += 1;
    if (span.parentSpanId === undefined || span.parentIsRemote) print(span.traceId);
  }

  return {
    name: "console",
    export(spans) {
      if (!isOpen) return;
      for (const span of spans) add(span);
      for (const traceId of pending.keys()) {
        if (count <= maxPending) break;
        print(traceId);
      }
    },
    async flush() {
      for (const traceId of pending.keys()) print(traceId);
    },
    async shutdown() {
      for (const traceId of pending.keys()) print(traceId);
      isOpen = false;
    },
  };
}

function hasColor(): boolean {
  return process.stderr.isTTY === true && process.stderr.hasColors();
}
