// The feed: each message once, however often it is loaded.
import { expect, test } from "vitest";
import { buildTurns } from "../../test/support/long-conversation.ts";
import { user } from "../messages/makers.ts";
import { ConversationMemory } from "./kinds/index.ts";
import { MemoryFeed } from "./memory-feed.ts";

test("a history that is loaded again adds only what is new", async () => {
  const feed = new MemoryFeed(new ConversationMemory());
  await feed.add(buildTurns(5));
  await feed.add(buildTurns(7).slice(8));
  expect(await feed.memory.getAllMessages()).toEqual(buildTurns(7));
});

test("messages without an id are known by their words, as often as they are said", async () => {
  const feed = new MemoryFeed(new ConversationMemory());
  await feed.add([user("yes"), user("no"), user("yes")]);
  await feed.add([user("yes"), user("no"), user("yes"), user("yes")]);
  expect(await feed.memory.getAllMessages()).toHaveLength(4);
});

test("what the memory held before is known", async () => {
  const memory = new ConversationMemory();
  await memory.add(buildTurns(3));
  await new MemoryFeed(memory).add(buildTurns(4));
  expect(await memory.getAllMessages()).toEqual(buildTurns(4));
});

test("feeding without waiting adds nothing twice", async () => {
  const feed = new MemoryFeed(new ConversationMemory());
  await Promise.all([feed.add(buildTurns(3)), feed.add(buildTurns(3))]);
  expect(await feed.memory.getAllMessages()).toEqual(buildTurns(3));
});
