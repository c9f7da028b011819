// The port that ended spans leave by. Implementations are leaves in exporters/, one file each.
import type { SpanData } from "./span-data.ts";

/**
 * Receives ended spans.
 *
 * **Contract:** `export` gets each ended span once, in the order the spans ended, and returns at once: what takes time
 * is done later or in the returned promise, which nobody waits for. Spans are never changed. A throw or a rejection
 * goes to `onError` and reaches no run. `flush` resolves when everything handed over so far has left or been given up.
 * `shutdown` flushes, releases what is held and is idempotent; spans exported after it are ignored.
 */
export interface SpanExporter {
  /** Names the exporter in error reports. */
  readonly name: string;
  export(spans: readonly SpanData[]): void | Promise<void>;
  flush(): Promise<void>;
  shutdown(): Promise<void>;
}
