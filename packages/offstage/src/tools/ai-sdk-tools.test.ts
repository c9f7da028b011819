// The tools are made with the real package of the AI SDK.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { tool as aiTool, jsonSchema } from "ai";
import { expect, test } from "vitest";
import { z } from "zod";
import { Agent, type AgentEvent, memoryStore } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { type AiSdkTool, fromAiSdkTools } from "./ai-sdk-tools.ts";

async function callOf(tool: AiSdkTool, input: object = { city: "Rome" }, context: object = {}) {
  const model = scriptedModel([{ toolCalls: [{ name: "weather", input }] }, "Done."]);
  const agent = new Agent({ model, tools: fromAiSdkTools({ weather: tool }) });
  const events: AgentEvent[] = [];
  const stream = agent.stream("Go.", { context });
  for await (const event of stream) events.push(event);
  const { steps } = await stream.result;
  return { model, events, result: steps[0]?.toolResults[0] };
}

const inputSchema = z.object({ city: z.string() });

test("a tool runs with its checked input, the call id, the signal and the context", async () => {
  let seen: Record<string, unknown> = {};
  const weather = aiTool({
    description: "The weather.",
    inputSchema,
    execute: async ({ city }, options) => {
      seen = { ...options };
      return { city, degrees: 21 };
    },
  });
  const { model, result } = await callOf(weather, { city: "Rome" }, { tenant: "acme" });
  expect(result?.output).toEqual({ city: "Rome", degrees: 21 });
  expect(seen).toMatchObject({ toolCallId: result?.toolCallId, messages: [], context: { tenant: "acme" } });
  expect(seen.abortSignal).toBeInstanceOf(AbortSignal);
  expect(model.requests[0]?.options.tools?.[0]).toMatchObject({
    type: "function",
    name: "weather",
    description: "The weather.",
    inputSchema: { type: "object", required: ["city"] },
  });
});

test("zod schemas, jsonSchema() with and without a check, and functions that return one are checked", async () => {
  const described = { type: "object" as const, properties: { city: { type: "string" as const } } };
  const checked = jsonSchema<{ city: string }>(described, {
    validate: (value) =>
      (value as { city?: unknown }).city === "Rome"
        ? { success: true, value: { city: "ROME" } }
        : { success: false, error: new Error("only Rome") },
  });
  const schemas = [inputSchema, jsonSchema<{ city: string }>(described), checked, () => checked];
  for (const schema of schemas) {
    const weather = aiTool({ inputSchema: schema as typeof inputSchema, execute: ({ city }) => city });
    expect((await callOf(weather)).result?.output).toMatch(/^rome$/i);
    expect((await callOf(weather, { city: 5 })).result?.isError).toBe(true);
  }
});

test("a tool that yields reports progress, and its last value is the result", async () => {
  const weather = aiTool({
    inputSchema,
    async *execute() {
      yield "asking";
      yield "21 degrees";
    },
  });
  const { events, result } = await callOf(weather);
  expect(result?.output).toBe("21 degrees");
  expect(events.flatMap((event) => (event.type === "tool-progress" ? [event.value] : []))).toEqual([
    "asking",
    "21 degrees",
  ]);
});

test.each([
  [
    { type: "text", value: "warm" },
    { output: "warm", isError: false },
  ],
  [
    { type: "json", value: { degrees: 21 } },
    { output: { degrees: 21 }, isError: false },
  ],
  [
    { type: "error-text", value: "no sensor" },
    { output: "no sensor", isError: true },
  ],
  [
    { type: "error-json", value: { code: 5 } },
    { output: { code: 5 }, isError: true },
  ],
  [
    { type: "execution-denied", reason: "not now" },
    { output: "not now", isError: true },
  ],
] as const)("toModelOutput %j is the result", async (shown, expected) => {
  const weather = aiTool({ inputSchema, execute: () => "raw", toModelOutput: () => shown });
  expect((await callOf(weather)).result).toMatchObject(expected);
});

test("files of toModelOutput reach the model as files", async () => {
  const png = "iVBORw0KGgo=";
  const weather = aiTool({
    inputSchema,
    execute: () => "raw",
    toModelOutput: ({ output }) => ({
      type: "content",
      value: [
        { type: "text", text: output },
        { type: "file", mediaType: "image/png", data: { type: "data", data: png } },
        { type: "file", mediaType: "application/pdf", filename: "a.pdf", data: { type: "data", data: png } },
      ],
    }),
  });
  const { model } = await callOf(weather);
  expect(model.requests[1]?.messages.at(-1)?.content).toMatchObject([
    { type: "text", text: "raw" },
    { type: "file", mediaType: "image/png" },
    { type: "file", mediaType: "application/pdf", filename: "a.pdf" },
  ]);
});

test("needsApproval pauses the run, always or by the input", async () => {
  for (const needsApproval of [true, ({ city }: { city: string }) => city === "Rome"]) {
    const store = memoryStore();
    const weather: AiSdkTool = { inputSchema, execute: () => "21", needsApproval };
    const model = scriptedModel([{ toolCalls: [{ name: "weather", input: { city: "Rome" } }] }, "Done."]);
    const agent = new Agent({ model, tools: fromAiSdkTools({ weather }) });
    const { outcome, runId, approvals } = await agent.run("Go.", { session: store.session("s") });
    expect(outcome.status).toBe("waiting");
    expect((await agent.resume(runId, { store, approve: approvals })).text).toBe("Done.");
  }
});

test("a tool that the provider runs stays hosted, and one that you run keeps the provider's definition", async () => {
  const bash = createAnthropic({ apiKey: "key" }).tools.bash_20250124({ execute: ({ command }) => `ran ${command}` });
  const search = createOpenAI({ apiKey: "key" }).tools.webSearch({});
  const model = scriptedModel([{ toolCalls: [{ name: "bash", input: { command: "ls" } }] }, "Done."]);
  const { steps } = await new Agent({ model, tools: fromAiSdkTools({ bash, search }) }).run("Go.");
  expect(steps[0]?.toolResults[0]?.output).toBe("ran ls");
  expect(model.requests[0]?.options.tools).toMatchObject([
    { type: "provider", id: "anthropic.bash_20250124", name: "bash" },
    { type: "provider", id: "openai.web_search", name: "search" },
  ]);
});

test("a tool without execute is refused, and so is a name that no tool may have", () => {
  const open = aiTool({ inputSchema });
  expect(() => fromAiSdkTools({ open })).toThrow('The AI SDK tool "open" has no execute function');
  expect(() => fromAiSdkTools({ "a b": aiTool({ inputSchema, execute: () => 1 }) })).toThrow("A tool's name must be");
});
