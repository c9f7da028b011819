// Keeps ended spans in a store, in batches. A durable session keeps those of its own runs already; this is for all others.

import { shownValue } from "../../base/options.ts";
import { type Redactor, redactor } from "../../base/redact.ts";
import { OffstageError } from "../../errors.ts";
import { type BatchedExporter, type BatchedOptions, batched } from "../batched.ts";
import { redactSpan } from "../redact-span.ts";
import type { SpanData } from "../span-data.ts";

export interface StoreExporterOptions extends BatchedOptions {
  /** Takes secrets out of every text, before the store's own redactor. Default: the usual ones. */
  readonly redact?: Redactor | undefined;
}

/**
 * An exporter that keeps spans in a store, through the queue of `batched`: a write for many spans, not for each.
 * `store.spans.list` shows a span once, also where the journal of its run has kept it too. The caller owns the store:
 * flush before closing it; shutting the exporter down leaves it open.
 */
export function storeExporter(
  store: { readonly spans: { add(spans: readonly SpanData[]): Promise<void> } },
  options: StoreExporterOptions = {},
): BatchedExporter {
  if (typeof store?.spans?.add !== "function")
    throw new OffstageError("invalid-argument", `storeExporter takes an open store; found ${shownValue(store)}.`);
  const { redact = redactor(), ...queue } = options;
  const keep = (spans: readonly SpanData[]) => store.spans.add(spans.map((span) => redactSpan(span, redact)));
  // Nothing is held here: whatever waits, waits in the queue.
  const done = async (): Promise<void> => {};
  return batched({ name: "store", export: keep, flush: done, shutdown: done }, queue);
}
