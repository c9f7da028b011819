// Keeps ended spans in a store, in batches. For spans outside of durable sessions: those keep the spans of their runs already.

import { checkOptions, type OptionRules, shownValue, someFunction } from "../../base/options.ts";
import { type Redactor, redactor } from "../../base/redact.ts";
import { OffstageError } from "../../errors.ts";
import { type BatchedExporter, type BatchedOptions, batched, batchedRules } from "../batched.ts";
import { redactSpan } from "../redact-span.ts";
import type { SpanData } from "../span-data.ts";
import type { SpanExporter } from "../span-exporter.ts";

export interface StoreExporterOptions extends BatchedOptions {
  /** Removes secrets from every text, before the store's own redactor. Default: `redactor()`. */
  readonly redact?: Redactor | undefined;
}

const rules: OptionRules = { ...batchedRules, redact: someFunction };

/**
 * Makes an exporter that keeps spans in a store, through the queue of `batched`: one write for many spans. `store.spans.list`
 * returns a span once, even if the journal of its run has it too. The caller owns the store: flush before you close it. Shutting
 * down the exporter leaves it open.
 */
export function storeExporter(
  store: { readonly spans: { add(spans: readonly SpanData[]): Promise<void> } },
  options: StoreExporterOptions = {},
): BatchedExporter {
  if (typeof store?.spans?.add !== "function")
    throw new OffstageError("invalid-argument", `storeExporter() takes an open store; found ${shownValue(store)}.`);
  checkOptions(options, rules, "storeExporter");
  const { redact = redactor(), ...queueOptions } = options;
  const exporter: SpanExporter = {
    name: "store",
    export: (spans) => store.spans.add(spans.map((span) => redactSpan(span, redact))),
    async flush() {},
    async shutdown() {},
  };
  return batched(exporter, queueOptions);
}
