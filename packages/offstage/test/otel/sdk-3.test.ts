import { createRequire } from "node:module";
import type { ContextManager, Tracer, TracerProvider } from "@opentelemetry/api";
import { test } from "vitest";
import { collectMetrics, type MetricsSdk } from "./collect-metrics.ts";
import { otelStories } from "./otel-stories.ts";

const load = createRequire(new URL("../../../../interop/otel-sdk-3/package.json", import.meta.url));
const { trace, context } = load("@opentelemetry/api") as Api;
const { TracerProvider: SdkProvider, BatchSpanProcessor } = load("@opentelemetry/sdk-trace") as Sdk;
const { AsyncLocalStorageContextManager } = load("@opentelemetry/context-async-hooks") as Hooks;
const { OTLPTraceExporter } = load("@opentelemetry/exporter-trace-otlp-http") as Otlp;
const metricsSdk = load("@opentelemetry/sdk-metrics") as MetricsSdk;

interface Api {
  readonly trace: { setGlobalTracerProvider(provider: TracerProvider): boolean };
  readonly context: { setGlobalContextManager(manager: ContextManager): boolean };
}

interface Sdk {
  readonly TracerProvider: new (options: {
    spanProcessors: readonly object[];
  }) => { getTracer(name: string): Tracer; forceFlush(): Promise<void> };
  readonly BatchSpanProcessor: new (options: { exporter: object }) => object;
}

interface Hooks {
  readonly AsyncLocalStorageContextManager: new () => ContextManager;
}

interface Otlp {
  readonly OTLPTraceExporter: new (options: { url: string }) => object;
}

const stories = await otelStories((url) => {
  const exporter = new OTLPTraceExporter({ url });
  const provider = new SdkProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return { tracer: provider.getTracer("other"), flush: () => provider.forceFlush(), ...collectMetrics(metricsSdk) };
});

test.each(stories)("OpenTelemetry SDK 3: $name", ({ run }) => run());
