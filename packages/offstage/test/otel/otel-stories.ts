// Test cases for the spans that an OpenTelemetry back end receives, run on each major version of its SDK.
import type { MeterProvider, Tracer } from "@opentelemetry/api";
import { afterAll, expect } from "vitest";
import { spanExporterContract } from "../../src/testing/span-exporter-contract.ts";
import { memoryExporter } from "../../src/tracing/exporters/memory.ts";
import { otelExporter } from "../../src/tracing/exporters/otel.ts";
import { startRootSpan } from "../../src/tracing/trace-context.ts";
import { runInScope, startSpan } from "../../src/tracing/trace-span.ts";
import { withSpan, withTrace } from "../../src/tracing/with-span.ts";
import { conventionStories } from "./convention-stories.ts";
import type { CollectedMetric } from "./gen-ai-conventions.ts";
import { type OtlpReceiver, otlpReceiver, type ReceivedSpan } from "./otlp-receiver.ts";

/** One version of the SDK, registered globally and sending to a receiver. */
export interface RegisteredSdk {
  readonly tracer: Tracer;
  readonly meterProvider: MeterProvider;
  /** Sends pending spans. */
  flush(): Promise<void>;
  /** The metrics so far. */
  metrics(): Promise<readonly CollectedMetric[]>;
}

export interface Story {
  readonly name: string;
  run(): Promise<void>;
}

export interface Stage {
  readonly sdk: RegisteredSdk;
  readonly receiver: OtlpReceiver;
  /** The spans received since the story began, by name. */
  arrived(): Promise<Readonly<Record<string, ReceivedSpan>>>;
}

/** Registers an SDK that sends to a new receiver, and returns the stories to run on it. */
export async function otelStories(register: (url: string) => RegisteredSdk): Promise<Story[]> {
  const receiver = await otlpReceiver();
  const sdk = register(receiver.url);
  const arrived = async (): Promise<Record<string, ReceivedSpan>> => {
    await sdk.flush();
    return Object.fromEntries(receiver.spans.map((span) => [span.name, span]));
  };
  const clear = (): void => {
    receiver.spans.length = 0;
    receiver.bodies.length = 0;
  };
  const own = Object.entries({ ...stories, ...conventionStories }).map(([name, tell]) => ({
    name,
    async run() {
      await sdk.flush();
      clear();
      await tell({ sdk, receiver, arrived });
    },
  }));
  const contract = spanExporterContract(async () => {
    await sdk.flush();
    clear();
    const exported = async (): Promise<string[]> => {
      await sdk.flush();
      return receiver.spans.map((span) => span.name);
    };
    return { exporter: otelExporter(), exported };
  });
  afterAll(() => receiver.close());
  return [...own, ...contract];
}

/** A run of one step, a model call and a tool call, as the agent loop makes one. */
async function exampleRun(name: string, insideTool: () => unknown = () => {}): Promise<void> {
  const run = startRootSpan({ name, kind: "run", groupId: "session-1", metadata: { agent: name, runId: "r1" } });
  const step = startSpan(run, { name: "step 1", kind: "step" });
  const model = startSpan(step, {
    name: "gpt-5",
    kind: "model",
    metadata: { provider: "openai.chat", model: "gpt-5" },
  });
  const usage = { inputTokens: 120, outputTokens: 7, cachedInputTokens: 100, cacheWriteTokens: 8, reasoningTokens: 3 };
  model.setMetadata({ finishReason: "tool-calls", timeToFirstTokenMs: 250, retries: 1, usage });
  model.setContent({ messages: [{ role: "user", content: "CANARY-prompt" }], text: "CANARY-answer", toolCalls: [] });
  model.end();
  const tool = startSpan(step, { name: "search", kind: "tool", metadata: { toolCallId: "call-1" } });
  tool.setContent({ inputText: '{"q":"CANARY-arguments"}', output: "CANARY-result" });
  await runInScope(tool, async () => insideTool());
  tool.end();
  step.end();
  run.end();
}

const stories: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  "a run arrives with its parents, kinds, names and attributes": async ({ arrived }) => {
    const memory = memoryExporter();
    await withTrace("t", { exporters: [memory, otelExporter()], groupId: "session-1" }, () => exampleRun("assistant"));
    const spans = await arrived();
    const run = spans["invoke_agent assistant"];
    const step = spans["step 1"];
    const model = spans["chat gpt-5"];
    const tool = spans["execute_tool search"];
    expect([step?.parentSpanId, model?.parentSpanId, tool?.parentSpanId]).toEqual([
      run?.spanId,
      step?.spanId,
      step?.spanId,
    ]);
    expect([run?.kind, step?.kind, model?.kind, tool?.kind]).toEqual([1, 1, 3, 1]);
    expect(new Set(Object.values(spans).map((span) => span.traceId)).size).toBe(1);
    expect(run?.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "assistant",
      "gen_ai.conversation.id": "session-1",
      "offstage.runId": "r1",
    });
    expect(model?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "gpt-5",
      "gen_ai.response.finish_reasons": ["tool-calls"],
      "gen_ai.response.time_to_first_chunk": 0.25,
      "gen_ai.usage.input_tokens": 120,
      "gen_ai.usage.output_tokens": 7,
      "gen_ai.usage.cache_read.input_tokens": 100,
      "gen_ai.usage.cache_creation.input_tokens": 8,
      "gen_ai.usage.reasoning.output_tokens": 3,
      "offstage.retries": 1,
    });
    expect(tool?.attributes).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "search",
      "gen_ai.tool.call.id": "call-1",
    });
    const ours = memory.spans.find((span) => span.kind === "run");
    expect(run?.attributes["offstage.span_id"]).toBe(ours?.spanId);
    expect(Number(run?.startTimeUnixNano) / 1e6).toBeCloseTo(ours?.startTime ?? 0, 1);
    expect(Number(run?.endTimeUnixNano) / 1e6).toBeCloseTo(ours?.endTime ?? 0, 1);
  },

  "two runs in one trace arrive under one workflow": async ({ arrived }) => {
    await withTrace("Customer service", { exporters: [otelExporter()] }, async () => {
      await exampleRun("first");
      await exampleRun("second");
    });
    const spans = await arrived();
    const workflow = spans["invoke_workflow Customer service"];
    expect(workflow?.parentSpanId).toBeUndefined();
    expect(workflow?.attributes["gen_ai.workflow.name"]).toBe("Customer service");
    expect(spans["invoke_agent first"]?.parentSpanId).toBe(workflow?.spanId);
    expect(spans["invoke_agent second"]?.parentSpanId).toBe(workflow?.spanId);
  },

  "a run nests in the active OpenTelemetry span, and spans that a tool records nest in the tool": async ({
    sdk,
    arrived,
  }) => {
    const exporter = otelExporter();
    await sdk.tracer.startActiveSpan("GET /chat", async (server) => {
      const work = (): void => sdk.tracer.startSpan("GET weather.example").end();
      const root = startRootSpan({ name: "outer", tracing: { exporters: [exporter] } });
      await runInScope(root, () => exampleRun("nested", work));
      root.end();
      server.end();
    });
    const spans = await arrived();
    expect(spans.outer?.parentSpanId).toBe(spans["GET /chat"]?.spanId);
    expect(spans["invoke_agent nested"]?.parentSpanId).toBe(spans.outer?.spanId);
    expect(spans["GET weather.example"]?.parentSpanId).toBe(spans["execute_tool search"]?.spanId);
  },

  "failures arrive as errors with their type, and aborts as cancelled": async ({ arrived }) => {
    await withTrace("t", { exporters: [otelExporter()] }, async () => {
      await withSpan("fails", () => Promise.reject(new TypeError("CANARY-sentence"))).catch(() => {});
      await withSpan("aborts", () => Promise.reject(new DOMException("stop", "AbortError"))).catch(() => {});
      await withSpan("works", { metadata: { answer: 42 } }, async () => {});
    });
    const { fails, aborts, works } = await arrived();
    expect([fails?.statusCode, fails?.attributes["error.type"]]).toEqual([2, "TypeError"]);
    expect([aborts?.statusCode, aborts?.attributes["offstage.status"]]).toEqual([0, "cancelled"]);
    expect([works?.statusCode, works?.attributes["offstage.answer"]]).toEqual([0, 42]);
  },

  "no content arrives unless it is enabled for both tracing and the exporter": async ({ arrived, receiver }) => {
    const received = async (tracing: boolean, exporter: boolean): Promise<string> => {
      receiver.bodies.length = 0;
      const exporters = [otelExporter({ content: exporter })];
      await withTrace("t", { exporters, content: tracing }, () => exampleRun("assistant"));
      await arrived();
      return receiver.bodies.join();
    };
    expect(await received(false, false)).not.toContain("CANARY");
    expect(await received(true, false)).not.toContain("CANARY");
    expect(await received(false, true)).not.toContain("CANARY");
    await received(true, true);
    const { "chat gpt-5": model, "execute_tool search": tool } = await arrived();
    expect(JSON.parse(String(model?.attributes["gen_ai.input.messages"]))).toEqual([
      { role: "user", parts: [{ type: "text", content: "CANARY-prompt" }] },
    ]);
    expect(JSON.parse(String(model?.attributes["gen_ai.output.messages"]))).toEqual([
      { role: "assistant", parts: [{ type: "text", content: "CANARY-answer" }], finish_reason: "tool_call" },
    ]);
    expect(tool?.attributes["gen_ai.tool.call.arguments"]).toBe('{"q":"CANARY-arguments"}');
    expect(tool?.attributes["gen_ai.tool.call.result"]).toBe("CANARY-result");
  },

  "no secret arrives": async ({ arrived, receiver }) => {
    const secret = "sk-abcdefghijklmnopqrstuvwxyz123456";
    await withTrace(`uses ${secret}`, { exporters: [otelExporter({ content: true })], content: true }, async () => {
      await withSpan(`call ${secret}`, { metadata: { header: secret } }, (span) => span.setContent({ text: secret }));
    });
    await arrived();
    expect(receiver.bodies.join()).toContain("invoke_workflow uses [redacted]");
    expect(receiver.bodies.join()).not.toContain(secret);
  },

  "a trace that continues a traceparent arrives in the caller's trace": async ({ arrived }) => {
    const headers = { traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" };
    await withTrace("served", { headers, exporters: [otelExporter()] }, () => withSpan("inside", async () => {}));
    const { "invoke_workflow served": workflow, inside } = await arrived();
    expect([workflow?.traceId, workflow?.parentSpanId]).toEqual([
      "4bf92f3577b34da6a3ce929d0e0e4736",
      "00f067aa0ba902b7",
    ]);
    expect(inside?.parentSpanId).toBe(workflow?.spanId);
  },

  "a span that starts after its parent has ended still arrives under it": async ({ arrived }) => {
    const root = startRootSpan({ name: "root", tracing: { exporters: [otelExporter()] } });
    root.end();
    startSpan(root, { name: "late" }).end();
    const { late, root: above } = await arrived();
    expect(late?.parentSpanId).toBe(above?.spanId);
  },

  "spans that are still open at shutdown are ended": async ({ arrived }) => {
    const exporter = otelExporter();
    startRootSpan({ name: "unfinished", tracing: { exporters: [exporter] } });
    await exporter.shutdown();
    expect((await arrived()).unfinished).toBeDefined();
  },
};
