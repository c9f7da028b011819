// A text memory: the user's own memory that returns text instead of messages.
import { expect, test } from "vitest";
import { Agent } from "../../src/agent/agent.ts";
import type { TextMemory } from "../../src/memory/text-memory.ts";
import { type Message, textOf } from "../../src/messages/message.ts";
import { InMemorySession } from "../../src/sessions/in-memory-session.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";

/** A memory with only the five required members. */
class NoteMemory implements TextMemory {
  readonly kept: Message[] = [];
  add(message: Message): void {
    this.kept.push(message);
  }
  getContext(query: string, tokenLimit?: number): string {
    return this.kept.length < 2
      ? ""
      : `Asked "${query}" within ${tokenLimit}; first was "${textOf(this.kept[0] as Message)}"`;
  }
  getAllMessages(): readonly Message[] {
    return this.kept;
  }
  clear(): void {
    this.kept.length = 0;
  }
  get count(): number {
    return this.kept.length;
  }
}

test("the question is always sent, and after a failed add only the missing messages are added again", async () => {
  const taken: string[] = [];
  let isFailing = false;
  const memory: TextMemory = {
    add(message) {
      if (isFailing && message.role === "assistant") throw new Error("no room");
      taken.push(textOf(message));
    },
    getContext: () => undefined as unknown as string,
    getAllMessages: () => [],
    clear() {},
    count: 0,
  };
  const model = scriptedModel(["A", "B", "C"]);
  const agent = new Agent({ model, memory });
  const session = new InMemorySession();
  await agent.run("one", { session });
  isFailing = true;
  await agent.run("two", { session, hooks: { onError() {} } });
  isFailing = false;
  await agent.run("three", { session });
  expect(model.requests.map(({ messages }) => messages.map(textOf))).toEqual([["one"], ["two"], ["three"]]);
  expect(taken).toEqual(["one", "A", "two", "B", "three", "C"]);
});

test("an agent accepts a memory with the five members, adds each message once, and sends its text", async () => {
  const memory = new NoteMemory();
  const model = scriptedModel(["Noted.", "Blue."]);
  const agent = new Agent({ model, memory, memoryTokens: 100 });
  await agent.run("My colour is blue.");
  await agent.run("What is my colour?");
  expect(memory.kept.map(textOf)).toEqual(["My colour is blue.", "Noted.", "What is my colour?", "Blue."]);
  expect(model.requests[0]?.messages.map(textOf)).toEqual(["My colour is blue."]);
  expect(model.requests[1]?.messages.map(textOf)).toEqual([
    '[What is remembered of this conversation]\n\nAsked "What is my colour?" within 100; first was "My colour is blue."',
    "What is my colour?",
  ]);
});
