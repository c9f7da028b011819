// Our sessions under the Runner of the OpenAI Agents SDK, and its sessions under our agents, with the real package.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fromOpenAiSession, type OpenAiSession, toOpenAiSession } from "../../src/doors/openai-agents.ts";
import { Agent, memoryStore, type SessionPort, sqliteStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { partner } from "../serve/partners.ts";
import { installInterop } from "../support/interop.ts";

type Item = Record<string, unknown>;
interface Sdk {
  Agent: new (options: object) => object;
  Runner: new () => { run(agent: object, input: unknown, options: object): Promise<{ finalOutput: string }> };
  MemorySession: new (options?: object) => OpenAiSession<Item>;
  Usage: new (usage?: object) => object;
  tool(options: object): object;
  setTracingDisabled(isDisabled: boolean): void;
}
let sdk: Sdk;
beforeAll(async () => {
  await installInterop("serve");
  sdk = await partner<Sdk>("@openai/agents");
  sdk.setTracingDisabled(true);
});

const call = (callId: string, name = "look") => ({
  type: "function_call",
  callId,
  name,
  arguments: "{}",
  status: "completed",
});
const say = (text: string) => ({
  type: "message",
  id: "m",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text }],
});
const reason = { type: "reasoning", id: "rs_1", content: [], rawContent: [{ type: "reasoning_text", text: "Hm." }] };

/** An agent of the SDK whose model replies with these outputs, and the inputs that its model got. */
function theirAgent(outputs: object[][]) {
  const inputs: Item[][] = [];
  const model = {
    async getResponse({ input }: { input: Item[] }) {
      inputs.push(structuredClone(input));
      return { usage: new sdk.Usage(), output: outputs[inputs.length - 1], responseId: `r${inputs.length}` };
    },
  };
  const parameters = { type: "object", properties: {}, required: [], additionalProperties: false };
  const look = sdk.tool({
    name: "look",
    description: "Looks.",
    parameters,
    strict: false,
    execute: async () => ({ sky: "blue" }),
  });
  return { agent: new sdk.Agent({ name: "theirs", model, tools: [look] }), inputs };
}

const stores = { memory: () => memoryStore(), SQLite: () => sqliteStore({ path: ":memory:" }) };

describe.for(Object.entries(stores))("our session on %s under their Runner", ([, open]) => {
  const store = open();
  afterAll(() => store.close());

  test("two turns with parallel tools and reasoning give the same input as their own session", async () => {
    const outputs = [
      [reason, say("Let me look."), call("c1"), call("c2")],
      [say("It is blue.")],
      [say("You are welcome.")],
    ];
    const play = async (session: OpenAiSession<Item>) => {
      const { agent, inputs } = theirAgent(outputs);
      const runner = new sdk.Runner();
      expect((await runner.run(agent, "What is the sky like?", { session })).finalOutput).toBe("It is blue.");
      expect((await runner.run(agent, "Thanks.", { session })).finalOutput).toBe("You are welcome.");
      return { inputs, items: await session.getItems(), some: await session.getItems(3) };
    };
    const mine = await play(toOpenAiSession(store.session("turns")));
    const theirs = await play(new sdk.MemorySession());
    expect(mine).toEqual(theirs);
  });

  test("our agent goes on where their Runner ended, and the other way round", async () => {
    const session = store.session("both");
    const theirs = theirAgent([[call("c1"), call("c2")], [say("It is blue.")], [say("As I said: blue.")]]);
    await new sdk.Runner().run(theirs.agent, "What is the sky like?", { session: toOpenAiSession(session) });
    const model = scriptedModel(["It was blue."]);
    expect((await new Agent({ model }).run("And before?", { session })).output).toBe("It was blue.");
    expect(model.requests[0]?.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
      "assistant",
      "user",
    ]);
    await new sdk.Runner().run(theirs.agent, "Sure?", { session: toOpenAiSession(session) });
    const texts = theirs.inputs
      .at(-1)
      ?.slice(-3)
      .map((item) => JSON.stringify(item.content));
    expect(texts).toEqual(['"And before?"', '[{"type":"output_text","text":"It was blue."}]', '"Sure?"']);
  });

  test("items are removed one by one, newest first, and a session is cleared", async () => {
    const session = toOpenAiSession<Item>(store.session("pop"));
    const calls = [{ id: "a", type: "function" as const, function: { name: "x", arguments: "{}" } }];
    await store.session("pop").addItems([
      {
        role: "assistant",
        content: "Both.",
        tool_calls: [...calls, { ...(calls[0] as (typeof calls)[0]), id: "b" }],
      },
    ]);
    expect(await session.getItems()).toHaveLength(3);
    expect(await session.popItem()).toMatchObject({ type: "function_call", callId: "b" });
    expect(await session.popItem()).toMatchObject({ type: "function_call", callId: "a" });
    expect(await session.popItem()).toMatchObject({ role: "assistant" });
    expect(await session.popItem()).toBeUndefined();
    await session.addItems([reason, { role: "user", content: "Hi." }]);
    expect(await session.getItems(1)).toEqual([{ role: "user", content: "Hi." }]);
    await session.clearSession();
    expect(await session.getItems()).toEqual([]);
    expect(await session.getSessionId()).toBe("pop");
  });
});

test("their session under our agent keeps the conversation, and shows earlier tools", async () => {
  const theirs = new sdk.MemorySession({ sessionId: "hall" });
  const { agent } = theirAgent([[say("One moment."), call("c1"), call("c2")], [say("It is blue.")]]);
  await new sdk.Runner().run(agent, "What is the sky like?", { session: theirs });
  const session: SessionPort = await fromOpenAiSession(theirs);
  expect([session.sessionId, await session.getItemCount()]).toEqual(["hall", 5]);
  const look = tool({ name: "look", execute: () => "grey" });
  const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "It is grey now."]);
  await new Agent({ model, tools: [look] }).run("And now?", { session });
  const roles = model.requests[0]?.messages.map(({ role }) => role);
  expect(roles).toEqual(["user", "assistant", "tool", "tool", "assistant", "user"]);
  const items = await theirs.getItems();
  expect(items.slice(-2)).toEqual(
    [
      { type: "message", role: "user", content: "And now?" },
      {
        type: "message",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "It is grey now." }],
      },
    ].map((item) => expect.objectContaining(item)),
  );
  expect((await session.popItem())?.content).toBe("It is grey now.");
  expect(await session.getItems(0)).toEqual([]);
});

test("a value that is not a session is refused", async () => {
  expect(() => toOpenAiSession("hall" as never)).toThrow('toOpenAiSession() needs a session; found "hall".');
  await expect(fromOpenAiSession({} as never)).rejects.toThrow("needs a session of the OpenAI Agents SDK");
});
