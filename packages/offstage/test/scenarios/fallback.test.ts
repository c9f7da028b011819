// A fallback model: the next model is called when one has failed. What answered is on record, and paid for.
import { describe, expect, test } from "vitest";
import { compactor, summarizeOlder } from "../../src/doors/memory.ts";
import { Agent, type AgentOptions, assistant, fallbackModel, memoryStore, user } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echo, echoing } from "../support/cast.ts";

const usage = { inputTokens: 1_000_000, outputTokens: 0 };
const prices = { first: { input: 1, output: 0 }, second: { input: 3, output: 0 } };
const busy = () => Object.assign(new Error("overloaded"), { statusCode: 529 });

function modelsOf(first: readonly ScriptEntry[], second: readonly ScriptEntry[]) {
  const a = scriptedModel(first, { modelId: "first", provider: "one" });
  const b = scriptedModel(second, { modelId: "second", provider: "two" });
  return { a, b, model: fallbackModel([a, b]) };
}

function agentOf(model: AgentOptions["model"], options: Partial<AgentOptions> = {}): Agent {
  return new Agent({ model, tools: [echo], prices, retry: { maxRetries: 1, initialDelayMs: 1 }, ...options });
}

describe("a fallback model", () => {
  bothWays("calls only the first model while that works", async ({ play }) => {
    const { a, b, model } = modelsOf([calls(echoing("a")), "Done."], []);
    const { text, steps } = await play(agentOf(model), "Go");
    expect([text, a.callCount, b.callCount]).toEqual(["Done.", 2, 0]);
    expect(steps.map(({ modelId }) => modelId)).toEqual(["first", "first"]);
  });

  bothWays("calls the next one after the retries of the first, and prices what answered", async ({ play }) => {
    const { a, b, model } = modelsOf([busy(), busy()], [{ text: "Done.", usage }]);
    const { text, steps, cost, state } = await play(agentOf(model), "Go");
    expect([text, a.callCount, b.callCount, cost]).toEqual(["Done.", 2, 1, 3]);
    expect(steps[0]).toMatchObject({ modelId: "second", cost: 3 });
    expect(Object.keys(state.usageByModel)).toEqual(["second"]);
  });

  bothWays("calls the next one at once after an error that is not worth a retry", async ({ play }) => {
    const { a, b, model } = modelsOf([new Error("context too long")], ["Done."]);
    expect((await play(agentOf(model), "Go")).text).toBe("Done.");
    expect([a.callCount, b.callCount]).toEqual([1, 1]);
  });

  bothWays("does not try a model that failed again in the same run", async ({ play }) => {
    const { a, model } = modelsOf([new Error("down"), "Back."], [calls(echoing("a")), "Done."]);
    const agent = agentOf(model);
    expect((await play(agent, "Go")).text).toBe("Done.");
    expect(a.callCount).toBe(1);
    expect((await play(agent, "Again")).text).toBe("Back.");
  });

  bothWays("falls back in the middle of a run, with all its tool work", async ({ play }) => {
    const { b, model } = modelsOf([calls(echoing("a", "c1")), new Error("down")], ["Done."]);
    const { steps } = await play(agentOf(model), "Go");
    expect(steps.map(({ modelId }) => modelId)).toEqual(["first", "second"]);
    expect(b.requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  });

  bothWays("fails with the error of the last model if all fail", async ({ fail }) => {
    const { model } = modelsOf([new Error("down")], [new Error("also down")]);
    const error = await fail(agentOf(model), "Go");
    expect(error).toMatchObject({ code: "model-failed", message: expect.stringContaining('"second" of "two"') });
    expect(error.message).toContain("also down");
  });

  bothWays("tells listeners which model failed and which is next", async ({ play }) => {
    const { model } = modelsOf([new Error("down")], ["Done."]);
    const told: unknown[] = [];
    const hooks = { onModelFallback: (event: unknown) => told.push(event) };
    await play(agentOf(model, { hooks }), "Go");
    expect(told).toMatchObject([
      { type: "model-fallback", step: 1, provider: "one", modelId: "first", nextModelId: "second" },
    ]);
  });

  bothWays("names its run: lists, summaries and exports have the model that answered last", async ({ play }) => {
    const store = memoryStore();
    const { model } = modelsOf([calls(echoing("a")), new Error("down")], ["Done."]);
    const { runId } = await play(agentOf(model), "Go", { session: store.session("s") });
    expect((await store.runs.list({ model: "second" })).map((run) => run.runId)).toEqual([runId]);
    expect(await store.runs.list({ model: "first" })).toEqual([]);
    expect(await store.runs.get(runId)).toMatchObject({ model: "second", provider: "two" });
    const query = await store.session("s").query();
    expect(query.runs()).toMatchObject([{ model: "second", provider: "two" }]);
    expect(query.export("markdown")).toContain("second");
  });

  test("also writes the summary of a compaction", async () => {
    const { a, b, model } = modelsOf([new Error("down"), new Error("down")], ["They talked.", "Done."]);
    const talk = Array.from({ length: 8 }, (_, n) =>
      n % 2 === 0 ? user("Why? ".repeat(100)) : assistant("So. ".repeat(100)),
    );
    const compaction = compactor({ threshold: 600, strategy: summarizeOlder() });
    const { text } = await agentOf(model, { compaction }).run([...talk, user("Go")]);
    expect([text, a.callCount > 0, b.callCount]).toEqual(["Done.", true, 2]);
  });

  bothWays("that fails leaves its failed attempts on record", async ({ fail }) => {
    const store = memoryStore();
    const agent = agentOf(scriptedModel([busy(), busy()]));
    const { result } = await fail(agent, "Go", { session: store.session("s") });
    const run = await store.runs.get(result.runId);
    expect(run?.failedAttempts).toMatchObject([{ attempt: 1, error: "overloaded" }]);
    expect(run?.steps).toEqual([]);
  });

  bothWays("is on record: the model and provider of each step, and the failed attempt", async ({ play }) => {
    const store = memoryStore();
    const { model } = modelsOf([new Error("down")], ["Done."]);
    const { runId } = await play(agentOf(model), "Go", { session: store.session("s") });
    const run = await store.runs.get(runId);
    expect(run?.steps[0]).toMatchObject({ model: "second", provider: "two" });
    expect(run?.steps[0]?.retries?.[0]?.error).toContain("down");
    expect(await store.runs.input(runId, 1)).toMatchObject({ modelId: "second", provider: "two" });
  });

  bothWays("is not used after an abort", async ({ play }) => {
    const controller = new AbortController();
    const abort = () => {
      controller.abort(new Error("enough"));
      return new Error("down");
    };
    const { b, model } = modelsOf([abort], ["Done."]);
    await expect(play(agentOf(model), "Go", { signal: controller.signal })).rejects.toThrow("enough");
    expect(b.callCount).toBe(0);
  });

  bothWays("adapts the prompt to the provider of each model", async ({ play }) => {
    const a = scriptedModel([calls(echoing("a", "a.long:id")), new Error("down")], { provider: "openai-compatible" });
    const b = scriptedModel(["Done."], { provider: "mistral" });
    await play(agentOf(fallbackModel([a, b])), "Go");
    const part = b.requests[0]?.options.prompt[2]?.content[0] as { readonly toolCallId: string } | undefined;
    expect(part?.toolCallId).toMatch(/^[A-Za-z0-9]{9}$/);
  });

  /** A model whose stream breaks after some text. */
  function breaking() {
    const model = scriptedModel(["Half an answer."], { modelId: "first" });
    return {
      ...model,
      async doStream(options: Parameters<typeof model.doStream>[0]) {
        const { stream } = await model.doStream(options);
        return { stream: cut(stream as AsyncIterable<{ type: string }>) };
      },
    };
  }

  async function* cut(stream: AsyncIterable<{ type: string }>) {
    for await (const part of stream) {
      yield part;
      if (part.type === "text-delta") throw new Error("connection lost");
    }
  }

  test("is not used after text was streamed", async () => {
    const b = scriptedModel(["Done."]);
    const stream = agentOf(fallbackModel([breaking(), b])).stream("Go");
    await expect(stream.result).rejects.toMatchObject({ code: "model-failed" });
    expect(b.callCount).toBe(0);
  });

  test("is used after a broken stream if output guardrails held the text back", async () => {
    const b = scriptedModel(["Done."]);
    const outputGuardrails = [{ name: "any", check: () => true }];
    const stream = agentOf(fallbackModel([breaking(), b]), { outputGuardrails }).stream("Go");
    let text = "";
    for await (const delta of stream.text) text += delta;
    expect([text, (await stream.result).text]).toEqual(["Done.", "Done."]);
  });

  test("works outside of an agent, and nests", async () => {
    const { a, b, model } = modelsOf([new Error("down")], [new Error("down")]);
    const last = scriptedModel(["Three."], { modelId: "third" });
    const all = fallbackModel([model, last]);
    expect(all.models).toEqual([a, b, last]);
    expect([all.modelId, all.provider]).toEqual(["first", "one"]);
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Go" }] }];
    expect((await all.doGenerate({ prompt })).response?.modelId).toBe("third");
  });

  test("of a function of the step is used too", async () => {
    const { model } = modelsOf([new Error("down")], [calls(echoing("a")), "Done."]);
    expect((await agentOf(() => model).run("Go")).text).toBe("Done.");
  });

  test.for([[], undefined, "gpt"])("refuses %j", (models) => {
    expect(() => fallbackModel(models as never)).toThrow("fallbackModel() needs a list of models");
  });

  test("refuses an entry that is not a model", () => {
    expect(() => fallbackModel(["gpt-5" as never])).toThrow(expect.objectContaining({ code: "unsupported-model" }));
  });
});
