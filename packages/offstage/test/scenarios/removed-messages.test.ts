// The recorded input of a step is what the model was shown, also if messages in it have left the session by then.
import { describe, expect, test } from "vitest";
import { Agent, ConversationMemory, type PersistentSession, type Store, tool } from "../../src/index.ts";
import { memoryDriver } from "../../src/sessions/drivers/memory/memory.ts";
import { createStore } from "../../src/sessions/store.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const removals: Readonly<Record<string, (store: Store, session: PersistentSession) => Promise<unknown>>> = {
  "popTurn()": (_, session) => session.popTurn(),
  "popItem(), twice": async (_, session) => [await session.popItem(), await session.popItem()],
  "clearSession()": (_, session) => session.clearSession(),
  "replaceItems()": (_, session) => session.replaceItems([{ role: "user", content: "Something else." }]),
  "the end of the session": (store, session) => store.sessions.delete(session.sessionId),
};

describe.each(Object.entries(removals))("messages that a memory still shows after %s", (_, remove) => {
  test.each(["this", "another"])("are in the recorded input, if %s process removed them", async (process) => {
    const driver = memoryDriver();
    const store = createStore(driver);
    const remover = process === "this" ? store : createStore(driver);
    const model = scriptedModel(({ index }) => `Answer ${index}.`);
    const agent = new Agent({ model, memory: new ConversationMemory() });
    const ask = (text: string) => agent.run(text, { session: store.session("anna") });
    await ask("One?");
    await ask("Two?");
    await remove(remover, remover.session("anna"));
    const { runId } = await ask("Three?");
    const input = await store.runs.input(runId, 1);
    expect(input?.messages).toEqual(model.requests[2]?.messages);
    expect(input?.messages).toContainEqual({ role: "assistant", content: "Answer 1." });
    expect(input).not.toHaveProperty("isIncomplete");
  });
});

test("a tool trace that was said and is replaced by a part of itself is whole in the recorded input", async () => {
  const store = createStore(memoryDriver());
  const session = store.session("anna");
  const look = tool({ name: "look", execute: () => "seen" });
  const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "It is there.", "I looked."]);
  const agent = new Agent({ model, tools: [look] });
  await agent.run("Look.", { session, persist: "everything" });
  await session.replaceItems((await session.getItems()).slice(2));
  const { runId } = await agent.run("How do you know?", { session });
  const input = await store.runs.input(runId, 1);
  expect(input?.messages).toEqual(model.requests[2]?.messages);
  expect(input?.messages.map(({ role }) => role)).toEqual(["assistant", "tool", "assistant", "user"]);
});

test("a message that joined a run and was removed later is known to be missing in the recorded inputs", async () => {
  const store = createStore(memoryDriver());
  const session = store.session("anna");
  const interrupt = tool({
    name: "interrupt",
    execute: async () => {
      await session.say("In Paris, Texas.");
    },
  });
  const model = scriptedModel([{ toolCalls: [{ name: "interrupt" }] }, "It is sunny."]);
  const { runId } = await new Agent({ model, tools: [interrupt] }).run("What is the weather?", { session });
  expect((await store.runs.input(runId, 2))?.messages).toEqual(model.requests[1]?.messages);
  await session.popTurn();
  expect(await store.runs.input(runId, 2)).toMatchObject({ isIncomplete: true });
});
