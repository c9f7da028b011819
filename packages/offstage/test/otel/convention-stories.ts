// Real runs of agents, whose spans and metrics must follow the GenAI conventions on every version of the SDK.
import { expect } from "vitest";
import { z } from "zod";
import {
  Agent,
  type AgentOptions,
  configureTracing,
  type Model,
  memoryStore,
  tool,
  withSpan,
  withTrace,
} from "../../src/index.ts";
import type { ModelCallOptions } from "../../src/models/model.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { otelExporter } from "../../src/tracing/exporters/otel.ts";
import { metricViolations, spanViolations } from "./gen-ai-conventions.ts";
import type { Stage } from "./otel-stories.ts";

const look = tool({ name: "look", description: "Looks out of the window.", execute: () => ({ sky: "blue" }) });
const fails = tool({ name: "fails", execute: () => Promise.reject(new TypeError("no")) });
const calls = (...names: string[]): ScriptEntry => ({ toolCalls: names.map((name) => ({ name })) });

const settings = { temperature: 0.2, maxOutputTokens: 100, topP: 0.9, topK: 5, seed: 7, stopSequences: ["END"] };

function agentOf(script: readonly ScriptEntry[], options: Partial<AgentOptions<unknown>> = {}): Agent<unknown> {
  const model = identified(Object.assign(scriptedModel(script), { provider: "openai.chat", modelId: "gpt-5" }));
  return new Agent({ name: "guide", model, tools: [look, fails], modelSettings: settings, ...options });
}

// As providers do, with the id of each response and the exact model.
function identified(model: Model): Model {
  const response = { id: "resp-1", modelId: "gpt-5-2026-01-01" };
  return Object.assign(Object.create(model), {
    doGenerate: async (options: ModelCallOptions) => ({ ...(await model.doGenerate(options)), response }),
    doStream: async (options: ModelCallOptions) => {
      const { stream } = await model.doStream(options);
      const parts = async function* () {
        yield { type: "response-metadata", ...response };
        yield* stream as AsyncIterable<unknown>;
      };
      return { stream: parts() };
    },
  });
}

const traced = { content: true };

/** Runs of every kind, each in a trace of its own. */
const runs: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  "an answer after tools": () => agentOf([calls("look", "fails"), "Blue."]).run("What is the weather?"),
  "a stream": async () => {
    for await (const _ of agentOf([calls("look"), "Blue."]).stream("Go"));
  },
  "structured output": () =>
    agentOf(['{ "sky": "blue" }'], { output: z.object({ sky: z.string() }) }).run("What is the weather?"),
  "a subagent": () => {
    const child = agentOf(["Blue."], { name: "child" });
    return agentOf([{ toolCalls: [{ name: "child", input: { prompt: "x" } }] }, "Done."], {
      tools: [child.asTool()],
    }).run("Go");
  },
  "a session": () => agentOf([calls("look"), "Blue."]).run("Go", { session: memoryStore().session("anna") }),
  "a session in a trace with a group": () =>
    withTrace("chat", { groupId: "chat-1" }, () =>
      agentOf(["Hi."]).run("Go", { session: memoryStore().session("anna") }),
    ),
  "a session in a trace without a group": () =>
    withTrace("chat", () => agentOf([calls("look"), "Hi."]).run("Go", { session: memoryStore().session("anna") })),
  "a model chosen by a function": () => {
    const model = identified(
      Object.assign(scriptedModel(["Hi."]), { provider: "anthropic.messages", modelId: "opus" }),
    );
    return agentOf([], { model: () => model }).run("Go");
  },
  "a failing model": () => agentOf([new Error("down")]).run("Go"),
  "a guardrail": () => agentOf(["Hi."], { outputGuardrails: [{ name: "no", check: () => false }] }).run("Go"),
  "an unknown tool": () => agentOf([calls("nothing"), "Hm."]).run("Go"),
  "an abort": () => {
    const controller = new AbortController();
    const stops = tool({ name: "look", execute: () => controller.abort() });
    return agentOf([calls("look"), "Never."], { tools: [stops] }).run("Go", { signal: controller.signal });
  },
  "a span of another kind": () => withSpan("own work", async () => {}),
};

/** The stories about the conventions. */
export const conventionStories: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  ...Object.fromEntries(
    Object.entries(runs).map(([name, run]) => [
      `what is sent of ${name} follows the conventions`,
      async (stage: Stage) => {
        const exporter = otelExporter({ content: true, meterProvider: stage.sdk.meterProvider });
        configureTracing({ ...traced, exporters: [exporter] });
        try {
          await run(stage).catch(() => undefined);
        } finally {
          configureTracing({});
        }
        await stage.arrived();
        expect(spanViolations(stage.receiver.spans)).toEqual([]);
        expect(stage.receiver.spans.length).toBeGreaterThan(0);
        expect(metricViolations(await stage.sdk.metrics())).toEqual([]);
      },
    ]),
  ),

  "the settings, the response and the tool of a run are told": async ({ sdk, arrived }) => {
    const exporters = [otelExporter({ meterProvider: sdk.meterProvider })];
    const agent = agentOf([calls("look"), "Blue."]);
    await withTrace("t", { exporters }, async () => {
      for await (const _ of agent.stream("Go"));
    });
    const { "chat gpt-5": model, "execute_tool look": used, "invoke_agent guide": run } = await arrived();
    expect(model?.attributes).toMatchObject({
      "gen_ai.request.temperature": 0.2,
      "gen_ai.request.max_tokens": 100,
      "gen_ai.request.top_p": 0.9,
      "gen_ai.request.top_k": 5,
      "gen_ai.request.seed": 7,
      "gen_ai.request.stop_sequences": ["END"],
      "gen_ai.request.stream": true,
      "gen_ai.response.id": "resp-1",
      "gen_ai.response.model": "gpt-5-2026-01-01",
    });
    expect(used?.attributes).toMatchObject({
      "gen_ai.tool.type": "function",
      "gen_ai.tool.description": "Looks out of the window.",
    });
    expect(run?.attributes).toMatchObject({ "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-5" });
  },

  "a trace whose work throws arrives as an error, and an aborted one as cancelled": async ({ arrived }) => {
    const exporters = [otelExporter()];
    const fail = (error: unknown) => async (): Promise<never> => {
      throw error;
    };
    await withTrace("fails", { exporters }, fail(new TypeError("CANARY"))).catch(() => undefined);
    await withTrace("stops", { exporters }, fail(new DOMException("stop", "AbortError"))).catch(() => undefined);
    const { "invoke_workflow fails": failed, "invoke_workflow stops": stopped } = await arrived();
    expect([failed?.statusCode, failed?.attributes["error.type"]]).toEqual([2, "TypeError"]);
    expect([stopped?.statusCode, stopped?.attributes["error.type"]]).toEqual([0, undefined]);
    expect(stopped?.attributes["offstage.status"]).toBe("cancelled");
  },

  "duration and tokens of model calls are metrics, failures included": async ({ sdk }) => {
    const before = await sdk.metrics();
    const countOf = (name: string, metrics: Awaited<ReturnType<typeof sdk.metrics>>, filter = {}) =>
      (metrics.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? [])
        .filter(({ attributes }) => Object.entries(filter).every(([key, value]) => attributes[key] === value))
        .reduce((sum, { value }) => sum + value.count, 0);
    const exporters = [otelExporter({ meterProvider: sdk.meterProvider })];
    await withTrace("t", { exporters }, async () => {
      await agentOf([calls("look"), "Blue."]).run("Go");
      await agentOf([new Error("down")])
        .run("Go")
        .catch(() => undefined);
    });
    const after = await sdk.metrics();
    const [duration, tokens] = ["gen_ai.client.operation.duration", "gen_ai.client.token.usage"];
    const grown = (name: string, filter = {}) => countOf(name, after, filter) - countOf(name, before, filter);
    expect(grown(duration)).toBe(3);
    expect(grown(duration, { "error.type": "Error" })).toBe(1);
    expect([grown(tokens, { "gen_ai.token.type": "input" }), grown(tokens, { "gen_ai.token.type": "output" })]).toEqual(
      [2, 2],
    );
    expect(metricViolations(after)).toEqual([]);
  },
};
