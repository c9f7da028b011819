// The metrics of model calls, recorded from their ended spans. Needs a meter provider; without one, nothing is recorded.
import type * as OpenTelemetry from "@opentelemetry/api";
import { isObject } from "../../../base/json.ts";
import type { SpanData } from "../../span-data.ts";
import { metadataAttributes, startAttributes } from "./gen-ai-attributes.ts";
import { durationMetric, type HistogramName, metricAttributes, names, tokenMetric } from "./gen-ai-names.ts";

interface Instruments {
  readonly duration: OpenTelemetry.Histogram;
  readonly tokens: OpenTelemetry.Histogram;
}

/** Records the duration and the tokens of model calls. */
export class GenAiMetrics {
  readonly #providerOf: () => OpenTelemetry.MeterProvider;
  #provider: OpenTelemetry.MeterProvider | undefined;
  #instruments: Instruments | undefined;

  /** `providerOf` is asked with every call, because a global provider may be registered late. */
  constructor(providerOf: () => OpenTelemetry.MeterProvider) {
    this.#providerOf = providerOf;
  }

  record(span: SpanData): void {
    if (span.kind !== "model") return;
    const { duration, tokens } = this.#current();
    const attributes = attributesOf(span);
    duration.record((span.duration ?? 0) / 1000, attributes);
    const { usage } = span.metadata;
    if (!isObject(usage)) return;
    for (const [type, count] of [
      ["input", usage.inputTokens],
      ["output", usage.outputTokens],
    ] as const)
      if (typeof count === "number") tokens.record(count, { ...attributes, [names.tokenType]: type });
  }

  #current(): Instruments {
    const provider = this.#providerOf();
    if (this.#instruments !== undefined && provider === this.#provider) return this.#instruments;
    const meter = provider.getMeter("offstage");
    this.#provider = provider;
    this.#instruments = { duration: histogram(meter, durationMetric), tokens: histogram(meter, tokenMetric) };
    return this.#instruments;
  }
}

function histogram(meter: OpenTelemetry.Meter, { name, description, unit, boundaries }: HistogramName) {
  return meter.createHistogram(name, { description, unit, advice: { explicitBucketBoundaries: [...boundaries] } });
}

function attributesOf(span: SpanData): OpenTelemetry.Attributes {
  const all = { ...startAttributes(span, undefined), ...metadataAttributes(span) };
  return Object.fromEntries(metricAttributes.flatMap((name) => (name in all ? [[name, all[name]]] : [])));
}
