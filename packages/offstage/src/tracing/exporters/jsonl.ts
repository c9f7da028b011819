// Appends ended spans to a file, one JSON object a line. Reading them back is `JSON.parse` on each line.
import { dirname } from "node:path";
import { shownValue } from "../../base/options.ts";
import { type Redactor, redactor } from "../../base/redact.ts";
import { OffstageError } from "../../errors.ts";
import { redactSpan } from "../redact-span.ts";
import type { SpanExporter } from "../span-exporter.ts";

const maxWaitingCharacters = 16 * 1024 * 1024;

export interface JsonlExporterOptions {
  /** The file. It and its folder are made if missing, readable by their owner only. */
  readonly path: string;
  /** Takes secrets out of every text. Default: the usual ones. */
  readonly redact?: Redactor;
}

/** An exporter that appends to a file. Lines are whole and in order; while one write is under way, others wait and join. */
export function jsonlExporter(options: JsonlExporterOptions): SpanExporter {
  if (typeof options?.path !== "string" || options.path === "")
    throw new OffstageError(
      "invalid-argument",
      `jsonlExporter takes { path: "spans.jsonl" }; found ${shownValue(options)}.`,
    );
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
      if (waiting.length > maxWaitingCharacters) throw tooSlow(path, spans.length);
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

function tooSlow(path: string, count: number): OffstageError {
  return new OffstageError(
    "invalid-argument",
    `"${path}" takes spans more slowly than they end; ${count} were dropped. Sample fewer traces.`,
  );
}
