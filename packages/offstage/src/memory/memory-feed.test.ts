// The feed adds each message once, even if it is loaded again.
import { expect, test } from "vitest";
import { buildTurns } from "../../test/support/long-conversation.ts";
import { user } from "../messages/makers.ts";
import { ConversationMemory } from "./kinds/index.ts";
import { MemoryFeed } from "./memory-feed.ts";

test("a history that is loaded again adds only its new messages", async () => {
  const feed = new MemoryFeed(new ConversationMemory());
  await feed.add(buildTurns(5));
  await feed.add(buildTurns(7).slice(8));
  expect(await feed.memory.getAllMessages()).toEqual(buildTurns(7));
});

test("messages without an id are identified by their content, as often as it occurs", async () => {
  const feed = new MemoryFeed(new ConversationMemory());
  await feed.add([user("yes"), user("no"), user("yes")]);
  await feed.add([user("yes"), user("no"), user("yes"), user("yes")]);
  expect(await feed.memory.getAllMessages()).toHaveLength(4);
});

test("messages that the memory already has are not added again", async () => {
  const memory = new ConversationMemory();
  await memory.add(buildTurns(3));
  await new MemoryFeed(memory).add(buildTurns(4));
  expect(await memory.getAllMessages()).toEqual(buildTurns(4));
});

test("concurrent feeding adds nothing twice", async () => {
  const feed = new MemoryFeed(new ConversationMemory());
  await Promise.all([feed.add(buildTurns(3)), feed.add(buildTurns(3))]);
  expect(await feed.memory.getAllMessages()).toEqual(buildTurns(3));
});
