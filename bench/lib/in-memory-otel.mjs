// OpenTelemetry with spans kept in memory, for the peers that report to it.

/** Registers a global provider; `load(name)` imports a package from the peer's own folder. */
export async function startInMemoryOtel(load) {
  const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = await load(
    "@opentelemetry/sdk-trace-base",
  );
  const { AsyncLocalStorageContextManager } = await load("@opentelemetry/context-async-hooks");
  const { context, trace } = await load("@opentelemetry/api");
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  return { exporter, provider };
}
