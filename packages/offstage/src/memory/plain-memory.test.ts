import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { type Message, textOf } from "../messages/message.ts";
import { scriptedModel } from "../testing/scripted-model.ts";
import type { PlainMemory } from "./plain-memory.ts";

/** No more than the names that every memory has. */
class NoteMemory implements PlainMemory {
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

test("a memory of one's own with the five names serves an agent: it gets each message once, and its text is shown", async () => {
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
