// Collects the metrics of one version of the OpenTelemetry SDK.
import type { MeterProvider } from "@opentelemetry/api";
import type { CollectedMetric } from "./gen-ai-conventions.ts";

interface Reader {
  collect(): Promise<{
    resourceMetrics: { scopeMetrics: readonly { metrics: readonly CollectedMetric[] }[] };
  }>;
}

/** The part of an SDK for metrics that is used here. */
export interface MetricsSdk {
  readonly MeterProvider: new (options: { readers: readonly Reader[] }) => MeterProvider;
  readonly PeriodicExportingMetricReader: new (options: { exporter: object; exportIntervalMillis: number }) => Reader;
  readonly InMemoryMetricExporter: new (temporality: number) => object;
}

/** A meter provider, and what it has collected so far. */
export function collectMetrics(sdk: MetricsSdk): {
  meterProvider: MeterProvider;
  metrics(): Promise<readonly CollectedMetric[]>;
} {
  const reader = new sdk.PeriodicExportingMetricReader({
    exporter: new sdk.InMemoryMetricExporter(1),
    exportIntervalMillis: 3_600_000,
  });
  const meterProvider = new sdk.MeterProvider({ readers: [reader] });
  const metrics = async () => {
    const { resourceMetrics } = await reader.collect();
    return resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
  };
  return { meterProvider, metrics };
}
