// Lesson 17: send spans to any OpenTelemetry SDK, under the GenAI names that dashboards know, nested with your other spans.
// Prompts and answers are not sent, unless you turn content on in both configureTracing() and otelExporter().
import { trace } from "@opentelemetry/api";
import { InMemorySpanExporter, NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { Agent, configureTracing, tool } from "offstage";
import { otelExporter } from "offstage/otel";
import { scriptedModel } from "offstage/testing";

// In your program this is an OTLP exporter. It does not depend on Offstage.
const received = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(received)] });
provider.register();

configureTracing({ exporters: [otelExporter()] });

const sound = tool({ name: "play_sound", description: "Plays a sound.", execute: () => "thunder" });
const agent = new Agent({
  name: "sound-desk",
  model: scriptedModel([{ toolCalls: [{ name: "play_sound" }] }, "There was thunder."]),
  tools: [sound],
});

// A span of your own code. The run nests in it.
await trace.getTracer("theatre").startActiveSpan("scene 1", async (scene) => {
  await agent.run("Thunder, please.");
  scene.end();
});
await provider.forceFlush();

const spans = received
  .getFinishedSpans()
  .toSorted(({ startTime: [a, nanosOfA] }, { startTime: [b, nanosOfB] }) => a - b || nanosOfA - nanosOfB);
const depthOf = (id: string | undefined): number => {
  const span = spans.find((each) => each.spanContext().spanId === id);
  return span === undefined ? 0 : 1 + depthOf(span.parentSpanContext?.spanId);
};
for (const { name, attributes, parentSpanContext } of spans) {
  const tokens = attributes["gen_ai.usage.input_tokens"];
  console.log(
    `${"  ".repeat(depthOf(parentSpanContext?.spanId))}${name}${tokens === undefined ? "" : `  (${tokens} tokens in)`}`,
  );
}
const run = spans.find(({ name }) => name.startsWith("invoke_agent"));
console.log("\nAttributes of the run:");
for (const [name, value] of Object.entries(run?.attributes ?? {})) console.log(`  ${name} = ${value}`);
