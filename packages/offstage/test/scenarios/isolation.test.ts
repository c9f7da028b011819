// Isolation: changes that a model, a guardrail, a hook or a caller makes to its own data affect no other run and no session.
import { describe, expect, test } from "vitest";
import {
  Agent,
  AgentState,
  InMemorySession,
  type Message,
  memoryStore,
  type Processor,
  type Step,
  user,
} from "../../src/index.ts";
import { withMetadata } from "../../src/messages/message.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";

bothWays("a model that edits its prompt edits it for that call only", async ({ play }) => {
  const seen: string[] = [];
  const model = scriptedModel(() => "Hello.");
  const edit = (prompt: readonly { content: unknown }[]) => {
    const [first] = prompt as [{ content: unknown }];
    seen.push(String(first.content));
    first.content = "edited";
  };
  const editing: typeof model = {
    ...model,
    doGenerate: (options) => {
      edit(options.prompt);
      return model.doGenerate(options);
    },
    doStream: (options) => {
      edit(options.prompt);
      return model.doStream(options);
    },
  };
  const agent = new Agent({ model: editing, instructions: "Be kind." });
  const session = new InMemorySession("s");
  await play(agent, "One", { session });
  await play(agent, "Two", { session });
  expect(seen).toEqual(["Be kind.", "Be kind."]);
});

test("new states share no mutable data", () => {
  const [one, other] = [AgentState.empty(), AgentState.empty()];
  (one.metadata as Record<string, unknown>).tenant = "one";
  (one.usageByModel as Record<string, unknown>).model = {};
  expect([other.metadata, other.usageByModel, AgentState.empty().metadata]).toEqual([{}, {}, {}]);
});

bothWays("a run whose input cannot be stored does not block its session", async ({ play }) => {
  const session = new InMemorySession("s");
  const agent = new Agent({ model: scriptedModel(() => "Hello.") });
  const input = [user("hi", { metadata: { id: "1", big: 1n } })];
  await expect(play(agent, input, { session })).rejects.toThrow();
  expect((await play(agent, "again", { session })).output).toBe("Hello.");
});

bothWays("the messages of a result and of a run record cannot be used to change the session", async ({ play }) => {
  const session = new InMemorySession("s");
  const agent = new Agent({ model: scriptedModel(["One.", "Two."]) });
  await play(agent, "First", { session });
  const { state, runId } = await play(agent, "Second", { session });
  expect(() => Object.assign(state.messages.at(0) ?? {}, { content: "changed" })).toThrow(TypeError);
  const record = await session.run(runId);
  Object.assign(record?.steps[0]?.messages[0] ?? {}, { content: "changed" });
  expect((await session.getItems()).map(({ content }) => content)).toEqual(["First", "One.", "Second", "Two."]);
  expect((await session.run(runId))?.steps[0]?.messages[0]?.content).toBe("Two.");
});

test("a run whose answer cannot be stored is not listed as completed", async () => {
  const session = new InMemorySession("s");
  const spoil: Processor = async (state, next) => {
    const after = await next(state);
    const step = after.currentStep as Step;
    return after.withCurrentStep({ ...step, messages: step.messages.map((each) => withMetadata(each, { big: 1n })) });
  };
  const agent = new Agent({ model: scriptedModel(["One."]), processors: [spoil] });
  await expect(agent.run("Go", { session })).rejects.toMatchObject({ code: "store-failed" });
  expect((await session.runs()).map(({ status }) => status)).toEqual(["interrupted"]);
});

describe.each([
  ["in memory", () => new InMemorySession("s")],
  ["on a store", () => memoryStore().session("s")],
] as const)("a session %s", (_, make) => {
  bothWays("stores a copy of the message with which a guardrail replaced the input", async ({ play }) => {
    const session = make();
    let mine: { content: string } | undefined;
    const check = ({ messages }: { messages?: readonly Message[] }) => {
      mine = { ...(messages?.[0] as Message & { content: string }), content: "[hidden]" };
      (messages as unknown[])[0] = mine;
      return undefined;
    };
    const agent = new Agent({ model: scriptedModel(() => "Hi."), inputGuardrails: [{ name: "hide", check }] });
    await play(agent, "My secret", { session });
    (mine as { content: string }).content = "changed";
    expect((await session.getItems()).map(({ content }) => content)).toEqual(["[hidden]", "Hi."]);
  });

  bothWays("is not changed by a hook that empties the input list", async ({ play }) => {
    const session = make();
    let given: unknown[] = [];
    const onRunStart = ({ input }: { input: readonly Message[] }) => {
      given = input as unknown[];
    };
    const agent = new Agent({ model: scriptedModel(() => "Hi."), hooks: { onRunStart } });
    await play(agent, "One", { session });
    given.length = 0;
    expect((await session.transcript()).map(({ role }) => role)).toEqual(["user", "assistant"]);
  });
});

bothWays("a custom session may modify the messages it is given without changing the result", async ({ play }) => {
  const items: Message[] = [];
  const session = {
    sessionId: "s",
    getItems: async () => items,
    addItems: async (added: readonly Message[]) => {
      for (const each of added) if (each.role === "assistant") Object.assign(each.metadata ?? {}, { seen: true });
      items.push(...added);
    },
    popItem: async () => items.pop(),
    clearSession: async () => void items.splice(0),
    getItemCount: async () => items.length,
  };
  const agent = new Agent({ model: scriptedModel(() => "Hi.") });
  const result = await play(agent, "One", { session });
  expect(items.at(-1)?.metadata?.seen).toBe(true);
  expect(result.messages.all().at(-1)?.metadata?.seen).toBeUndefined();
});
