// Appends ended spans to a file, one JSON object per line. Read them back with `JSON.parse` on each line.
import { dirname } from "node:path";
import { checkOptions, type OptionRules, someFunction, someText } from "../../base/options.ts";
import { type Redactor, redactor } from "../../base/redact.ts";
import { OffstageError } from "../../errors.ts";
import { redactSpan } from "../redact-span.ts";
import type { SpanExporter } from "../span-exporter.ts";

const maxWaitingCharacters = 16 * 1024 * 1024;

export interface JsonlExporterOptions {
  /** The file. Created if missing, with its folder, readable by their owner only. */
  readonly path: string;
  /** Removes secrets from every text. Default: `redactor()`. */
  readonly redact?: Redactor | undefined;
}

const rules: OptionRules = { path: someText, redact: someFunction };

/** Makes an exporter that appends to a file. Lines are complete and in order; spans that end during a write go into the next one. */
export function jsonlExporter(options: JsonlExporterOptions): SpanExporter {
  checkOptions(options, rules, "jsonlExporter");
  if (options.path === undefined)
    throw new OffstageError("invalid-argument", 'jsonlExporter() needs a path, such as { path: "spans.jsonl" }.');
  const { path, redact = redactor() } = options;
  let waiting = "";
  let writing: Promise<void> | undefined;
  let isOpen = true;

  async function write(): Promise<void> {
    try {
      const { appendFile, mkdir } = await import("node:fs/promises");
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      while (waiting !== "") {
        const lines = waiting;
        waiting = "";
        await appendFile(path, lines, { mode: 0o600 });
      }
    } catch (error) {
      waiting = "";
      throw error;
    }
  }

  function settle(): Promise<void> {
    writing ??= write().finally(() => {
      writing = undefined;
    });
    return writing;
  }

  return {
    name: "jsonl",
    export(spans) {
      if (!isOpen) return;
      if (waiting.length > maxWaitingCharacters) throw fullError(path, spans.length);
      for (const span of spans) waiting += `${JSON.stringify(redactSpan(span, redact))}\n`;
      return settle();
    },
    async flush() {
      if (waiting !== "" || writing !== undefined) await settle();
    },
    async shutdown() {
      isOpen = false;
      if (waiting !== "" || writing !== undefined) await settle();
    },
  };
}

function fullError(path: string, count: number): OffstageError {
  const sentence = `Writing "${path}" is slower than spans end; dropped ${count}. Sample fewer traces.`;
  return new OffstageError("export-failed", sentence);
}
