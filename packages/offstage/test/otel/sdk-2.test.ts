import { createRequire } from "node:module";
import type { Tracer } from "@opentelemetry/api";
import { test } from "vitest";
import { collectMetrics, type MetricsSdk } from "./collect-metrics.ts";
import { otelStories } from "./otel-stories.ts";

const load = createRequire(new URL("../../../../interop/otel-sdk-2/package.json", import.meta.url));
const { NodeTracerProvider, BatchSpanProcessor } = load("@opentelemetry/sdk-trace-node") as Sdk;
const { OTLPTraceExporter } = load("@opentelemetry/exporter-trace-otlp-http") as Otlp;
const metricsSdk = load("@opentelemetry/sdk-metrics") as MetricsSdk;

interface Sdk {
  readonly NodeTracerProvider: new (options: {
    spanProcessors: readonly object[];
  }) => { register(): void; getTracer(name: string): Tracer; forceFlush(): Promise<void> };
  readonly BatchSpanProcessor: new (exporter: object) => object;
}

interface Otlp {
  readonly OTLPTraceExporter: new (options: { url: string }) => object;
}

const stories = await otelStories((url) => {
  const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url }))] });
  provider.register();
  return { tracer: provider.getTracer("other"), flush: () => provider.forceFlush(), ...collectMetrics(metricsSdk) };
});

test.each(stories)("OpenTelemetry SDK 2: $name", ({ run }) => run());
