// Agents with sessions: what is remembered between runs, and what is not.
import { describe, expect, test } from "vitest";
import {
  Agent,
  AgentState,
  assistant,
  InMemorySession,
  PersistentSession,
  type Session,
  type SessionPort,
  user,
} from "../../src/index.ts";
import type { ListRunsOptions } from "../../src/sessions/records/run-list.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echo, echoing, glance } from "../support/cast.ts";
import { onSessions } from "../support/session-kinds.ts";

function speaking(script: readonly ScriptEntry[], options: Partial<ConstructorParameters<typeof Agent>[0]> = {}) {
  const model = scriptedModel(script);
  return { model, agent: new Agent<unknown>({ model, tools: [echo], ...options }) };
}

async function said(session: SessionPort): Promise<string[]> {
  return glance(await session.getItems());
}

describe("agent integration: tests of the design document", () => {
  bothWays("testAgentWithInMemorySession: a run stores its question and its answer", async ({ play }) => {
    const session = new InMemorySession("test_session");
    await play(speaking(["Hello Alice."]).agent, "My name is Alice", { session });
    expect(await said(session)).toEqual(["user: My name is Alice", "assistant: Hello Alice."]);
  });

  bothWays("testAgentWithPersistentSession: a run stores its question and its answer", async ({ play }) => {
    await using session = await PersistentSession.inMemory("test_session");
    await play(speaking(["Hello Alice."]).agent, "My name is Alice", { session });
    expect(await said(session)).toEqual(["user: My name is Alice", "assistant: Hello Alice."]);
  });

  onSessions("testSessionPreservesHistory: the second run is sent the first", async ({ play, session }) => {
    const { agent, model } = speaking(["Hello Alice.", "You are Alice."]);
    await play(agent, "My name is Alice", { session });
    await play(agent, "What's my name?", { session });
    expect(glance(model.requests[1]?.messages ?? [])).toEqual([
      "user: My name is Alice",
      "assistant: Hello Alice.",
      "user: What's my name?",
    ]);
  });

  bothWays("testAgentWithoutSession: nothing is remembered between runs", async ({ play }) => {
    const { agent, model } = speaking(["Hello.", "Who?"]);
    await play(agent, "My name is Alice");
    await play(agent, "What's my name?");
    expect(glance(model.requests[1]?.messages ?? [])).toEqual(["user: What's my name?"]);
  });

  onSessions(
    "testMultiTurnConversationWithSession: three turns with two agents are all in the session",
    async ({ play, session }) => {
      const first = speaking(["Hello Alice.", "Alice."]);
      await play(first.agent, "My name is Alice", { session });
      expect((await play(first.agent, "What's my name?", { session })).output).toBe("Alice.");
      const second = speaking(["Still Alice."], { instructions: "Be brief." });
      await play(second.agent, "And now?", { session });
      expect(second.model.requests[0]?.messages).toHaveLength(6);
      expect(await session.getItemCount()).toBe(6);
    },
  );
});

describe("the conversation of a session", () => {
  for (const separateToolTrace of [true, false]) {
    const mode = separateToolTrace ? "tool trace separated" : "tool trace in the messages";
    onSessions(`is exactly the user message and the final answer, ${mode}`, async ({ play, session }) => {
      const script = [{ text: "Let me look.", toolCalls: [echoing("a")] }, calls(echoing("b")), "It said a and b."];
      const { agent, model } = speaking([...script, "Yes."], { separateToolTrace });
      const { runId } = await play(agent, "What does it say?", { session });
      expect(await said(session)).toEqual(["user: What does it say?", "assistant: It said a and b."]);
      const metadata = (await session.getItems()).map((item) => item.metadata);
      expect(metadata).toMatchObject([{ runId }, { runId, step: 3 }]);
      await play(agent, "Sure?", { session });
      expect(glance(model.requests[3]?.messages ?? [])).toEqual([
        "user: What does it say?",
        "assistant: [echo] Let me look.",
        "tool: echo a",
        "assistant: [echo]",
        "tool: echo b",
        "assistant: It said a and b.",
        "user: Sure?",
      ]);
    });
  }

  onSessions('includes tool messages with persist: "everything", once and in order', async ({ play, session }) => {
    const { agent, model } = speaking([calls(echoing("a")), "It said a.", "Yes."]);
    await play(agent, "Go", { session, persist: "everything" });
    const whole = ["user: Go", "assistant: [echo]", "tool: echo a", "assistant: It said a."];
    expect(await said(session)).toEqual(whole);
    expect(glance((await session.query()).all())).toEqual(whole);
    await play(agent, "Sure?", { session });
    expect(glance(model.requests[2]?.messages ?? [])).toEqual([...whole, "user: Sure?"]);
  });

  onSessions("does not include blocked input", async ({ play, session }) => {
    const inputGuardrails = [{ name: "polite", check: ({ text }: { text: string }) => text !== "Damn" }];
    const { agent, model } = speaking(["Hello."], { inputGuardrails });
    const { outcome } = await play(agent, "Damn", { session });
    expect(outcome).toMatchObject({ status: "stopped", reason: "guardrail" });
    expect(await said(session)).toEqual([]);
    await play(agent, "Hi", { session });
    expect(glance(model.requests[0]?.messages ?? [])).toEqual(["user: Hi"]);
    expect((await session.runs()).map(({ status, reason }) => [status, reason])).toEqual([
      ["completed", "answered"],
      ["stopped", "guardrail"],
    ]);
  });

  onSessions(
    "includes the partial text of a run stopped by a limit, marked as interrupted",
    async ({ play, session }) => {
      const { agent, model } = speaking([{ text: "Let me look.", toolCalls: [echoing("a")] }, "Yes."]);
      const { outcome, text } = await play(agent, "Go", { session, maxSteps: 1 });
      expect({ reason: outcome.reason, text }).toEqual({ reason: "step-limit", text: "Let me look." });
      const items = await session.getItems();
      expect(glance(items)).toEqual(["user: Go", "assistant: Let me look."]);
      expect(items[1]?.metadata?.interrupted).toBe(true);
      await play(agent, "Go on", { session });
      expect(glance(model.requests[1]?.messages ?? [])).toEqual([
        "user: Go",
        "assistant: [echo]",
        "tool: echo a",
        "assistant: Let me look.",
        "user: Go on",
      ]);
    },
  );

  onSessions("does not include provider parts", async ({ play, session }) => {
    const { agent } = speaking([{ reasoning: "Hm.", text: "Hello." }]);
    const result = await play(agent, "Hi", { session });
    expect(result.messages.last()[0]?.metadata?.providerParts).toBeDefined();
    expect((await session.getItems()).map((item) => item.metadata?.providerParts)).toEqual([undefined, undefined]);
    expect(await said(session)).toEqual(["user: Hi", "assistant: Hello."]);
  });
});

describe("choosing a session", () => {
  bothWays("the agent's session is the default, and a run may use another", async ({ play }) => {
    const [own, other] = [new InMemorySession("own"), new InMemorySession("other")];
    const { agent } = speaking(["One.", "Two."], { session: own });
    await play(agent, "1");
    await play(agent, "2", { session: other });
    expect(await said(own)).toEqual(["user: 1", "assistant: One."]);
    expect(await said(other)).toEqual(["user: 2", "assistant: Two."]);
  });

  test("an id or a promise instead of a session is refused with advice", async () => {
    const { agent } = speaking([]);
    const promised = PersistentSession.inMemory("s");
    const run = (session: unknown) => agent.run("Hi", { session: session as SessionPort });
    await expect(run("s")).rejects.toThrow('Pass store.session("s")');
    await expect(run(promised)).rejects.toThrow("Await it first");
    await (await promised).close();
  });

  test("execute() stores the new messages of a state, and does not load history from the session", async () => {
    const session = new InMemorySession("s");
    await session.addItems([user("Earlier"), assistant("Indeed.")]);
    const { agent, model } = speaking(["Hello."]);
    await agent.execute(AgentState.empty().withUserMessage("Hi"), { session });
    expect(glance(model.requests[0]?.messages ?? [])).toEqual(["user: Hi"]);
    expect(await said(session)).toEqual(["user: Earlier", "assistant: Indeed.", "user: Hi", "assistant: Hello."]);
  });
});

onSessions("runs can be listed by status and agent, and an invalid filter is refused", async ({ play, session }) => {
  const agent = (name: string, ...script: ScriptEntry[]) => new Agent({ name, model: scriptedModel(script) });
  await play(agent("ann", "Hello."), "Hi", { session });
  await play(agent("bob", "Hello."), "Hi", { session });
  await expect(play(agent("ann", new Error("broken")), "Hi", { session })).rejects.toThrow("broken");
  const listed = async (filter: ListRunsOptions) =>
    (await session.runs(filter)).map((run) => `${run.agent} ${run.status}`);
  expect(await listed({})).toEqual(["ann failed", "bob completed", "ann completed"]);
  expect(await listed({ agent: "ann" })).toEqual(["ann failed", "ann completed"]);
  expect(await listed({ status: "completed", limit: 1 })).toEqual(["bob completed"]);
  await expect(session.runs({ status: "crashed" as never })).rejects.toThrow('"status" must be');
  await expect(session.runs({ state: "failed" } as never)).rejects.toThrow(
    'option "state". Valid options: limit, since, until, agent, model, status',
  );
});

describe("a turn that was removed", () => {
  for (const [how, remove] of [
    ["popTurn", (session: Session & { popTurn(): Promise<unknown> }) => session.popTurn()],
    ["clearSession", (session: Session) => session.clearSession()],
  ] as const)
    onSessions(`by ${how}() is in no query, and neither are its tool messages`, async ({ play, session }) => {
      const agent = new Agent({ model: scriptedModel([calls(echoing("a")), "A."]), tools: [echo] });
      await play(agent, "Go", { session });
      expect((await session.query()).length).toBe(4);
      await remove(session);
      expect((await session.query()).all()).toEqual([]);
    });
});

onSessions("a conversation replaced by itself keeps its tool messages in queries", async ({ play, session }) => {
  const agent = new Agent({
    model: scriptedModel([calls(echoing("a")), "A.", calls(echoing("b")), "B."]),
    tools: [echo],
  });
  await play(agent, "1", { session });
  await play(agent, "2", { session });
  const before = glance((await session.query()).all());
  await session.replaceItems(await session.getItems());
  expect(glance((await session.query()).all())).toEqual(before);
});

onSessions(
  "tool messages of a run with several questions stay in queries as long as one question does",
  async ({ play, session }) => {
    const agent = new Agent({ model: scriptedModel([calls(echoing("a")), "A."]), tools: [echo] });
    await play(agent, [user("1"), user("2")], { session });
    await session.popTurn();
    expect(glance((await session.query()).all())).toEqual(["user: 1", "assistant: [echo]", "tool: echo a"]);
    await session.popItem();
    expect((await session.query()).all()).toEqual([]);
  },
);

onSessions(
  'with persist: "everything", a popped tool result stays in queries after its call',
  async ({ play, session }) => {
    const agent = new Agent({ model: scriptedModel([calls(echoing("a")), "A."]), tools: [echo] });
    await play(agent, "1", { session, persist: "everything" });
    await session.popItem();
    await session.popItem();
    expect(glance(await session.getItems())).toEqual(["user: 1", "assistant: [echo]"]);
    expect(glance((await session.query()).all())).toEqual(["user: 1", "assistant: [echo]", "tool: echo a"]);
  },
);

onSessions("tool messages of a run without input come before its answer in queries", async ({ play, session }) => {
  await session.addItem(user("Go"));
  const agent = new Agent({ model: scriptedModel([calls(echoing("a")), "A."]), tools: [echo] });
  await play(agent, [], { session });
  const expected = ["user: Go", "assistant: [echo]", "tool: echo a", "assistant: A."];
  expect(glance((await session.query()).all())).toEqual(expected);
  await session.clearSession();
  expect((await session.query()).all()).toEqual([]);
});
