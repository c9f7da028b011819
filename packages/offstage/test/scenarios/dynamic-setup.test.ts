// Functions choose the model, the tools and the instructions of each step. They are asked once a step, and the record has what they gave.
import { describe, expect, test } from "vitest";
import { Agent, AgentBuilder, AgentState, memoryStore, openStore, type Tool, tool } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";

const named = (name: string, options: Partial<Parameters<typeof tool>[0]> = {}): Tool =>
  tool({ name, execute: () => `${name} ran`, ...options });
const call = (name: string): ScriptEntry => ({ toolCalls: [{ name, input: {} }] });
const toolNames = (tools: readonly unknown[] = []) => (tools as { name?: string }[]).map(({ name }) => name);

describe("tools", () => {
  test("a function returns the tools of each step, and is asked once a step", async () => {
    const asked: number[] = [];
    const model = scriptedModel([call("search"), call("book"), "Booked."]);
    const agent = new Agent({
      model,
      tools: async (_, { step }) => {
        asked.push(step);
        return step === 1 ? [named("search")] : [named("search"), named("book")];
      },
    });
    const { text } = await agent.run("Book.");
    expect(text).toBe("Booked.");
    expect(asked).toEqual([1, 2, 3]);
    expect(model.requests.map(({ options }) => toolNames(options.tools))).toEqual([
      ["search"],
      ["search", "book"],
      ["search", "book"],
    ]);
  });

  test("they depend on the context, so tenants have tools of their own", async () => {
    const tools = (context: { get(key: string): unknown }) => [named(`${context.get("tenant")}_search`)];
    const model = scriptedModel([call("acme_search"), "Found.", call("acme_search"), "Not found."]);
    const agent = new Agent({ model, tools });
    const [acme, other] = [
      await agent.run("Search.", { context: { tenant: "acme" } }),
      await agent.run("Search.", { context: { tenant: "other" } }),
    ];
    expect(acme.steps[0]?.toolResults[0]).toMatchObject({ output: "acme_search ran", isError: false });
    expect(other.steps[0]?.toolResults[0]).toMatchObject({
      output: 'There is no tool "acme_search". Available tools: "other_search".',
      isError: true,
    });
  });

  test("a tool may change which tools come next, through the context", async () => {
    const unlock = tool({ name: "unlock", execute: (_, { context }) => void context.set("open", true) });
    const model = scriptedModel([call("unlock"), call("door"), "In."]);
    const agent = new Agent({ model, tools: (context) => (context.get("open") ? [named("door")] : [unlock]) });
    const { steps } = await agent.run("Open.");
    expect(steps.map(({ toolResults }) => toolResults[0]?.isError)).toEqual([false, false, undefined]);
  });

  test("run, stream and execute use them alike", async () => {
    const agent = () =>
      new Agent({
        model: scriptedModel([call("a"), "Done."]),
        tools: (_, { step }) => [named(step === 1 ? "a" : "b")],
      });
    const stream = agent().stream("Go.");
    const state = await agent().execute(AgentState.empty().withUserMessage("Go."));
    const results = [await agent().run("Go."), await stream.result];
    for (const { steps } of [...results, state]) expect(steps[0]?.toolResults[0]?.output).toBe("a ran");
  });

  test("the record has the tools of each step", async () => {
    const store = memoryStore();
    const agent = new Agent({
      model: scriptedModel([call("t1"), call("t2"), "Done."]),
      tools: (_, { step }) => [named(`t${step}`)],
    });
    const { runId } = await agent.run("Go.", { session: store.session("s") });
    const inputs = await Promise.all([1, 2, 3].map((step) => store.runs.input(runId, step)));
    expect(inputs.map((input) => toolNames(input?.tools))).toEqual([["t1"], ["t2"], ["t3"]]);
    expect(inputs[1]?.since(inputs[0]!).changed).toEqual(["tools"]);
  });

  test.each([
    [() => [{}], { code: "invalid-tool" }],
    [() => "search", { code: "invalid-tool" }],
    [() => [named("a"), named("a")], { code: "invalid-tool" }],
    [
      () => {
        throw new Error("no database");
      },
      { code: "run-failed", message: 'The tools function of agent "agent" failed: no database' },
    ],
  ])("a function that gives no tools fails the run (%#)", async (tools, error) => {
    const agent = new Agent({ model: scriptedModel(["Hi."]), tools: tools as () => Tool[] });
    await expect(agent.run("Hi")).rejects.toMatchObject(error);
  });

  test("an abort does not wait for the function", async () => {
    const agent = new Agent({ model: scriptedModel([]), tools: () => new Promise<Tool[]>(() => undefined) });
    await expect(agent.run("Hi", { signal: AbortSignal.timeout(20) })).rejects.toThrow();
  });

  test("a builder takes the function, and then no single tools", async () => {
    const builder = AgentBuilder.base().withModel(scriptedModel([call("a"), "Done."]));
    const { steps } = await builder
      .withTools(() => [named("a")])
      .build()
      .run("Go.");
    expect(steps[0]?.toolResults[0]?.output).toBe("a ran");
    expect(() => builder.withTools(() => []).withTools(named("b"))).toThrow("Add the tool there");
  });
});

describe("a resumed run", () => {
  const waiting = (store = memoryStore()) => {
    const asked: number[] = [];
    const state = { isGone: false };
    const agent = new Agent({
      model: scriptedModel([call("look"), call("pay"), "Paid."]),
      tools: (_, { step }) => {
        asked.push(step);
        return state.isGone ? [named("look")] : [named("look"), named("pay", { needsApproval: true })];
      },
    });
    return { agent, asked, state, store, session: store.session("s") };
  };

  test("is asked for the tools of the waiting step again", async () => {
    const { agent, asked, store, session } = waiting();
    const { runId, approvals } = await agent.run("Pay.", { session });
    const { text, steps } = await agent.resume(runId, { store, approve: approvals });
    expect(text).toBe("Paid.");
    expect(steps[1]?.toolResults[0]?.output).toBe("pay ran");
    expect(asked).toEqual([1, 2, 2, 3]);
  });

  test.each(["memory:", "sqlite::memory:"])(
    "is refused before anything is written if the tool is gone (%s)",
    async (url) => {
      const { agent, state, store, session } = waiting(await openStore(url));
      const { runId, approvals, state: last } = await agent.run("Pay.", { session });
      state.isGone = true;
      const before = await store.runs.get(runId);
      for (const approve of [[], approvals])
        await expect(agent.resume(runId, { store, approve })).rejects.toMatchObject({ code: "run-not-resumable" });
      await expect(agent.resume(last, { approve: approvals })).rejects.toMatchObject({ code: "run-not-resumable" });
      expect(await store.runs.get(runId)).toEqual(before);
      state.isGone = false;
      const { text } = await agent.resume(runId, { store, approve: approvals });
      expect(text).toBe("Paid.");
      await store.close();
    },
  );
});

describe("models and instructions", () => {
  test("a function chooses the model of each step, and steps, usage and record name it", async () => {
    const store = memoryStore();
    const usage = { inputTokens: 1, outputTokens: 1 };
    const cheap = scriptedModel([{ ...(call("look") as object), usage }], { modelId: "cheap" });
    const clever = scriptedModel([{ text: "Seen.", usage }], { modelId: "clever", provider: "other" });
    const agent = new Agent({ model: (_, { step }) => (step === 1 ? cheap : clever), tools: [named("look")] });
    const { text, steps, state, runId } = await agent.run("Look.", { session: store.session("s") });
    expect(text).toBe("Seen.");
    expect(steps.map(({ modelId }) => modelId)).toEqual(["cheap", "clever"]);
    expect(Object.keys(state.usageByModel)).toEqual(["cheap", "clever"]);
    const inputs = [await store.runs.input(runId, 1), await store.runs.input(runId, 2)];
    expect(inputs.map((input) => `${input?.provider}/${input?.modelId}`)).toEqual(["offstage/cheap", "other/clever"]);
  });

  test("a step with another provider gets the whole prompt by that provider's rules", async () => {
    const first = scriptedModel([{ toolCalls: [{ name: "look", input: {}, id: "functions.look:0" }] }]);
    const second = scriptedModel(["Seen."], { provider: "mistral.chat" });
    const agent = new Agent({ model: (_, { step }) => (step === 1 ? first : second), tools: [named("look")] });
    await agent.run("Look.");
    const calls = second.requests[0]?.messages.flatMap((message) =>
      message.role === "assistant" ? message.tool_calls : [],
    );
    expect(calls?.[0]?.id).toMatch(/^[A-Za-z0-9]{9}$/);
  });

  test("instructions are asked for once a step", async () => {
    const model = scriptedModel([call("look"), "Seen."]);
    const agent = new Agent({ model, tools: [named("look")], instructions: (_, { step }) => `Step ${step}.` });
    const { messages } = await agent.run("Look.");
    expect(model.requests.map((request) => request.messages[0]?.content)).toEqual(["Step 1.", "Step 2."]);
    expect(messages.runs()[0]?.instructions).toBe("Step 2.");
  });

  test("a subagent's functions see its parent's context", async () => {
    const child = new Agent({
      name: "child",
      model: (context) => scriptedModel([`For ${context.get("tenant")}.`]),
      instructions: (context) => `Tenant ${context.get("tenant")}`,
    });
    const agent = new Agent({
      model: scriptedModel([{ toolCalls: [{ name: "child", input: { prompt: "Hi" } }] }, "Done."]),
      tools: [child.asTool()],
    });
    const { steps } = await agent.run("Go.", { context: { tenant: "acme" } });
    expect(steps[0]?.toolResults[0]?.output).toBe("[Subagent: child] For acme.");
  });

  test("a function that returns no model fails the run, and a provider is refused at once", async () => {
    const agent = new Agent({ model: () => "gpt-5" as never });
    await expect(agent.run("Hi")).rejects.toMatchObject({ code: "unsupported-model" });
    const provider = Object.assign(() => scriptedModel([]), { languageModel: () => scriptedModel([]) });
    expect(() => new Agent({ model: provider })).toThrow('"model" is a provider. Call it with the id of a model');
  });
});
