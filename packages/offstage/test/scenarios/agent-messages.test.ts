// An agent lists every message it exchanged, and remembers nothing between runs without a session or a state.
import { describe, expect, test } from "vitest";
import { Agent, AgentState, assistant, type OffstageError, user } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echo, echoing, glance } from "../support/cast.ts";
import { onSessions } from "../support/session-kinds.ts";

function agentOf(script: readonly ScriptEntry[], options: { keepMessages?: number; separateToolTrace?: boolean } = {}) {
  const model = scriptedModel(script);
  return { agent: new Agent({ name: "clerk", model, tools: [echo], ...options }), model };
}

describe("agent.messages", () => {
  bothWays("holds everything exchanged: conversation and tool trace", async ({ play }) => {
    const { agent } = agentOf([calls(echoing("a")), "One.", "Two."], { separateToolTrace: true });
    await play(agent, "First");
    await play(agent, "Second");
    expect(glance(agent.getMessages())).toEqual([
      "user: First",
      "assistant: [echo]",
      "tool: echo a",
      "assistant: One.",
      "user: Second",
      "assistant: Two.",
    ]);
    expect(agent.messages.all()).toEqual(agent.getMessages());
  });

  bothWays("labels each message with its run, step and agent", async ({ play }) => {
    const { agent } = agentOf([calls(echoing("a")), "One."]);
    const { runId } = await play(agent, "First");
    expect(agent.getMessages().map(({ metadata }) => [metadata?.runId, metadata?.step, metadata?.agent])).toEqual([
      [runId, undefined, "clerk"],
      [runId, 1, "clerk"],
      [runId, 1, "clerk"],
      [runId, 2, "clerk"],
    ]);
    for (const { metadata } of agent.getMessages()) {
      expect(metadata?.id).toMatch(new RegExp(`^${runId}\\.\\d+$`));
      expect(new Date(String(metadata?.createdAt)).toISOString()).toBe(metadata?.createdAt);
    }
  });

  bothWays("holds new input and output only, never replayed history", async ({ play }) => {
    const { agent } = agentOf(["One.", "Two."]);
    const first = await agent.execute(AgentState.empty().withUserMessage("First"));
    await agent.execute(first.withUserMessage("Second"));
    expect(glance(agent.getMessages())).toEqual(["user: First", "assistant: One.", "user: Second", "assistant: Two."]);
    const { agent: other } = agentOf(["Three."]);
    await play(other, "Third");
    expect(agent.getMessages()).toHaveLength(4);
  });

  bothWays("keeps the messages of a failed run", async ({ fail }) => {
    const { agent } = agentOf([calls(echoing("a")), new Error("down")]);
    await fail(agent, "Go");
    expect(glance(agent.getMessages())).toEqual(["user: Go", "assistant: [echo]", "tool: echo a"]);
  });

  bothWays("keeps only the latest keepMessages messages", async ({ play }) => {
    const { agent } = agentOf(["1.", "2.", "3.", "4."], { keepMessages: 3 });
    for (const question of ["a", "b", "c", "d"]) await play(agent, question);
    expect(glance(agent.getMessages())).toEqual(["assistant: 3.", "user: d", "assistant: 4."]);
    expect(agent.getContextState().messageCount).toBe(3);
  });

  bothWays("keeps the latest 1,000 messages by default", async ({ play }) => {
    const agent = new Agent({ model: scriptedModel(() => "Ok.", { record: false }) });
    for (let turn = 0; turn < 520; turn++) await play(agent, `q${turn}`, { tracing: false });
    expect(agent.getMessages()).toHaveLength(1000);
    expect(glance(agent.getMessages())[0]).toBe("user: q20");
  });

  bothWays("keeps nothing if keepMessages is 0", async ({ play }) => {
    const { agent } = agentOf(["1."], { keepMessages: 0 });
    const { messages } = await play(agent, "a");
    expect(agent.getMessages()).toEqual([]);
    expect(messages.all()).toHaveLength(2);
  });

  bothWays("is measured by getContextState() and emptied by clearContext()", async ({ play }) => {
    const { agent } = agentOf(["An answer of some words."]);
    const result = await play(agent, "A question");
    const { messageCount, tokenCount, estimated } = agent.getContextState();
    expect({ messageCount, estimated }).toEqual({ messageCount: 2, estimated: true });
    expect(tokenCount).toBe(agent.messages.stats().totalTokens);
    agent.clearContext();
    expect(agent.getMessages()).toEqual([]);
    expect(agent.getContextState()).toEqual({ messageCount: 0, tokenCount: 0, estimated: true });
    expect(result.state.messages.length).toBe(2);
  });

  test("is a live query: it sees later messages too", async () => {
    const { agent } = agentOf(["1.", "2."]);
    const { messages } = agent;
    await agent.run("a");
    await agent.run("b");
    expect(messages.all()).toHaveLength(4);
    expect(messages.filter({ role: "user" })).toHaveLength(2);
  });

  test("is not affected by changes to the list from getMessages()", async () => {
    const { agent } = agentOf(["1."]);
    await agent.run("a");
    agent.getMessages().length = 0;
    expect(agent.getMessages()).toHaveLength(2);
  });
});

onSessions("a step that failed and was finished by resume() is in agent.messages once", async ({ play, session }) => {
  let checks = 0;
  const shaky = {
    name: "shaky",
    check: () => {
      if (++checks === 1) throw new Error("no connection");
      return true;
    },
  };
  const model = scriptedModel([calls(echoing("a")), "Done."]);
  const agent = new Agent({ model, tools: [echo], toolOutputGuardrails: [shaky] });
  const error = await play(agent, "Go", { session }).catch((failure: OffstageError) => failure);
  expect(error).toMatchObject({ code: "guardrail-failed" });
  expect(glance(agent.messages.all())).toEqual(["user: Go", "assistant: [echo]"]);
  const [{ runId = "" } = {}] = await session.runs();
  expect((await agent.resume(runId, { session })).output).toBe("Done.");
  const ids = agent.messages.all().map(({ metadata }) => metadata?.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(glance(agent.messages.all()).filter((each) => each.startsWith("assistant"))).toEqual([
    "assistant: [echo]",
    "assistant: Done.",
  ]);
});

describe("between runs", () => {
  bothWays("run() remembers nothing without a session or a state", async ({ play }) => {
    const { agent, model } = agentOf(["One.", "Two."]);
    await play(agent, "My name is Ada.");
    await play(agent, "What is my name?");
    expect(glance(model.requests[1]?.messages ?? [])).toEqual(["user: What is my name?"]);
  });

  bothWays("run() accepts a list of messages: a conversation that ends with the question", async ({ play }) => {
    const { agent, model } = agentOf(["Ada."]);
    const history = [user("I am Ada."), assistant("Hello, Ada."), user("Who am I?")];
    await play(agent, history);
    expect(glance(model.requests[0]?.messages ?? [])).toEqual(glance(history));
  });

  for (const separateToolTrace of [true, false]) {
    test(`execute() carries a state through several turns, tool trace ${separateToolTrace ? "separated" : "in the messages"}`, async () => {
      const { agent, model } = agentOf([calls(echoing("a")), "One.", "Two.", calls(echoing("b")), "Three."], {
        separateToolTrace,
      });
      let state = AgentState.empty().withMetadata("tenant", "t1");
      const { agentId } = state;
      const runs = new Set<string | undefined>();
      for (const question of ["1?", "2?", "3?"]) {
        state = await agent.execute(state.withUserMessage(question));
        runs.add(state.runId);
        expect(state.status).toBe("completed");
      }
      expect(runs.size).toBe(3);
      expect({ agentId: state.agentId, tenant: state.metadata.tenant }).toEqual({ agentId, tenant: "t1" });
      const trace = (text: string) => (separateToolTrace ? [] : ["assistant: [echo]", `tool: echo ${text}`]);
      const said = [
        "user: 1?",
        ...trace("a"),
        "assistant: One.",
        "user: 2?",
        "assistant: Two.",
        "user: 3?",
        ...trace("b"),
        "assistant: Three.",
      ];
      expect(glance(state.messages)).toEqual(said);
      expect(state.steps).toHaveLength(2);
      expect(state.usage.totalTokens).toBe(30);
      expect(model.callCount).toBe(5);
    });
  }

  test("a state continues its conversation after a round trip through JSON", async () => {
    const { agent, model } = agentOf(["One.", "Two."]);
    const first = await agent.execute(AgentState.empty().withUserMessage("1?"));
    const revived = AgentState.fromJSON(JSON.parse(JSON.stringify(first)));
    await agent.execute(revived.withUserMessage("2?"));
    expect(glance(model.requests[1]?.messages ?? [])).toEqual(["user: 1?", "assistant: One.", "user: 2?"]);
  });

  test("execute() does not change the state it is given", async () => {
    const { agent } = agentOf([calls(echoing("a")), "One."]);
    const state = AgentState.empty().withUserMessage("1?");
    const before = JSON.stringify(state);
    await agent.execute(state);
    expect(JSON.stringify(state)).toBe(before);
  });
});
