// A run that a limit stopped goes on with a higher one, with everything that its tools did.
import { describe, expect } from "vitest";
import { budget } from "../../src/doors/costs.ts";
import { type Criterion, deadline } from "../../src/doors/criteria.ts";
import { Agent, type AgentOptions, AgentState, costLimit, timeLimit, tokenLimit } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { echo, echoing, glance } from "../support/cast.ts";
import { onStores } from "../support/session-kinds.ts";

const usage = { inputTokens: 1_000_000, outputTokens: 0 };
const prices = { scripted: { input: 1, output: 0 } };
const looking = (text: string): ScriptEntry => ({ text: `Looking for ${text}.`, toolCalls: [echoing(text)], usage });

function agentOf(script: readonly ScriptEntry[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(script);
  return { model, agent: new Agent({ model, tools: [echo], prices, ...options }) };
}

describe("a run that a limit stopped", () => {
  onStores("goes on by its id with a higher limit, and no tool runs twice", async ({ play, session, store }) => {
    let runs = 0;
    const counting = {
      ...echo,
      execute: (...given: Parameters<typeof echo.execute>) => {
        runs++;
        return echo.execute(...given);
      },
    };
    const { agent, model } = agentOf([looking("a"), looking("b"), looking("c"), "Found."], { tools: [counting] });
    const stopped = await play(agent, "Find it", { session, maxSteps: 2 });
    expect(stopped.outcome.reason).toBe("step-limit");
    const result = await agent.resume(stopped.runId, { store, maxSteps: 40 });
    expect(result).toMatchObject({ runId: stopped.runId, text: "Found.", outcome: { status: "completed" } });
    expect([runs, result.steps.length, result.usage.inputTokens]).toEqual([3, 4, 3_000_010]);
    expect(glance(model.requests[2]?.messages ?? [])).toEqual([
      "user: Find it",
      "assistant: [echo] Looking for a.",
      "tool: echo a",
      "assistant: [echo] Looking for b.",
      "tool: echo b",
    ]);
    expect(glance(await session.getItems())).toEqual([
      "user: Find it",
      "assistant: Looking for b.",
      "assistant: Found.",
    ]);
    expect((await store.runs.get(stopped.runId))?.status).toBe("completed");
    await expect(agent.resume(stopped.runId, { store })).rejects.toMatchObject({ code: "run-not-resumable" });
  });

  onStores("still knows which run of a subagent answered", async ({ play, session, store }) => {
    const child = new Agent({ name: "child", model: scriptedModel(["It is a."]) });
    const asking = { text: "", toolCalls: [{ name: "child", input: { prompt: "Go" } }] };
    const { agent } = agentOf([asking, "Found."], { tools: [child.asTool()] });
    const stopped = await play(agent, "Find it", { session, maxSteps: 1 });
    const childRunId = stopped.children[0]?.runId;
    const { steps } = await agent.resume(stopped.runId, { store });
    expect(steps[0]?.toolResults).toMatchObject([{ childRunId }]);
  });

  onStores("is stopped again by the same limit, and says nothing twice", async ({ play, session, store }) => {
    const { agent, model } = agentOf([looking("a"), looking("b"), "Found."]);
    const stopped = await play(agent, "Find it", { session, maxSteps: 1 });
    const again = await agent.resume(stopped.runId, { store, maxSteps: 1 });
    expect(again.outcome).toMatchObject({ status: "stopped", reason: "step-limit" });
    expect(model.requests).toHaveLength(1);
    expect(glance(await session.getItems())).toEqual(["user: Find it", "assistant: Looking for a."]);
    await agent.resume(stopped.runId, { store, maxSteps: 2 });
    const items = await session.getItems();
    expect(glance(items)).toEqual(["user: Find it", "assistant: Looking for a.", "assistant: Looking for b."]);
    expect((await agent.resume(stopped.runId, { store, maxSteps: 3 })).text).toBe("Found.");
  });

  onStores("goes on after other turns, and later turns see its tools", async ({ play, session, store }) => {
    const { agent, model } = agentOf([looking("a"), "Hello.", "Found.", "Yes."]);
    const stopped = await play(agent, "Find it", { session, maxSteps: 1 });
    await play(agent, "Hi", { session });
    await agent.resume(stopped.runId, { store, maxSteps: 5 });
    expect(glance(model.requests[2]?.messages ?? [])).toEqual([
      "user: Find it",
      "assistant: [echo] Looking for a.",
      "tool: echo a",
    ]);
    await play(agent, "Sure?", { session });
    expect(glance(model.requests[3]?.messages ?? [])).toEqual([
      "user: Find it",
      "assistant: [echo]",
      "tool: echo a",
      "assistant: Looking for a.",
      "user: Hi",
      "assistant: Hello.",
      "assistant: Found.",
      "user: Sure?",
    ]);
  });

  const limits: readonly (readonly [string, (store: Parameters<typeof budget>[0]) => Criterion])[] = [
    ["token-limit", () => tokenLimit(1)],
    ["cost-limit", () => costLimit(0.5)],
    ["budget", (store) => budget(store, { perDay: 1 })],
    ["deadline", () => deadline(Date.now() + 50)],
    ["time-limit", () => timeLimit(40)],
  ];
  for (const [reason, limit] of limits) {
    onStores(`by ${reason} goes on with an agent that has another`, async ({ play, session, store }) => {
      const slow = { ...echo, execute: () => new Promise((resolve) => setTimeout(resolve, 60, "echo a")) };
      const stopWhen = limit(store);
      const { agent } = agentOf([looking("a")], { stopWhen, tools: [slow as typeof echo] });
      const stopped = await play(agent, "Find it", { session });
      expect(stopped.outcome.reason).toBe(reason);
      const { agent: freer, model } = agentOf(["Found."]);
      expect((await freer.resume(stopped.runId, { store })).text).toBe("Found.");
      expect(model.requests[0]?.messages).toHaveLength(3);
    });
  }

  onStores("before its first step begins with it", async ({ play, session, store }) => {
    const stopped = await play(agentOf([], { stopWhen: deadline(1) }).agent, "Find it", { session });
    expect(stopped.steps).toHaveLength(0);
    expect((await agentOf(["Found."]).agent.resume(stopped.runId, { store })).text).toBe("Found.");
  });

  for (const separateToolTrace of [true, false])
    bothWays(`goes on by its state alone, separateToolTrace ${separateToolTrace}`, async ({ play }) => {
      const { agent, model } = agentOf([looking("a"), "Found."], { separateToolTrace });
      const { state } = await play(agent, "Find it", { maxSteps: 1 });
      const result = await agent.resume(AgentState.fromJSON(JSON.parse(JSON.stringify(state))), { maxSteps: 40 });
      expect(result.text).toBe("Found.");
      expect(glance(model.requests[1]?.messages ?? [])).toEqual([
        "user: Find it",
        "assistant: [echo] Looking for a.",
        "tool: echo a",
      ]);
    });

  onStores("and persisted everything adds only what is new", async ({ play, session, store }) => {
    const { agent } = agentOf([looking("a"), looking("b"), "Found."]);
    const options = { session, persist: "everything" } as const;
    const stopped = await play(agent, "Find it", { ...options, maxSteps: 1 });
    await agent.resume(stopped.runId, { store, persist: "everything", maxSteps: 40 });
    expect(glance(await session.getItems())).toEqual([
      "user: Find it",
      "assistant: [echo] Looking for a.",
      "tool: echo a",
      "assistant: Looking for a.",
      "assistant: [echo] Looking for b.",
      "tool: echo b",
      "assistant: Found.",
    ]);
  });

  onStores("with an answer cannot be resumed", async ({ play, session, store }) => {
    const { agent } = agentOf(["Found."], { stopWhen: ({ stepCount }) => stepCount > 0 });
    const stopped = await play(agent, "Find it", { session });
    expect(stopped.outcome.status).toBe("stopped");
    const sentence = "was stopped with an answer";
    await expect(agent.resume(stopped.runId, { store })).rejects.toThrow(sentence);
    await expect(agent.resume(stopped.state)).rejects.toThrow(sentence);
  });

  onStores("by a guardrail cannot be resumed", async ({ play, session, store }) => {
    const inputGuardrails = [{ name: "polite", check: () => false }];
    const { agent } = agentOf(["Found."], { inputGuardrails });
    const stopped = await play(agent, "Damn", { session });
    await expect(agent.resume(stopped.runId, { store })).rejects.toThrow("it was stopped (guardrail)");
  });
});
