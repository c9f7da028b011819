// The behaviour of each memory beyond the contract.
import { expect, test, vi } from "vitest";
import { buildTurn, buildTurns, idsOf } from "../../../test/support/long-conversation.ts";
import { assistant, system, user } from "../../messages/makers.ts";
import { textOf } from "../../messages/message.ts";
import { memoryDriver } from "../../sessions/drivers/memory/memory.ts";
import { createStore } from "../../sessions/store.ts";
import { scriptedModel } from "../../testing/scripted-model.ts";
import { tokenCounter } from "../../tokens/token-counter.ts";
import type { SummaryRequest } from "../compaction/summarize.ts";
import {
  ConversationMemory,
  HybridMemory,
  PersistentMemory,
  SlidingWindowMemory,
  SummaryMemory,
  VectorMemory,
} from "./index.ts";

const counter = tokenCounter();

test("a conversation memory never shows more than maxTokens", async () => {
  const memory = new ConversationMemory({ maxTokens: 200 });
  await memory.add(buildTurns(20));
  expect(counter.countMessages(await memory.getMessages(""))).toBeLessThanOrEqual(200);
  expect(await memory.count).toBe(80);
});

test("a sliding window keeps its latest turns, and the system messages at the front", async () => {
  const memory = new SlidingWindowMemory({ turns: 3 });
  await memory.add(system("be brief"));
  for (let n = 0; n < 500; n++) await memory.add(buildTurn(n));
  expect(await memory.getAllMessages()).toEqual([system("be brief"), ...[497, 498, 499].flatMap((n) => buildTurn(n))]);
  expect(() => new SlidingWindowMemory({ turns: 0 })).toThrow(expect.objectContaining({ code: "invalid-argument" }));
});

test("a summary covers exactly the messages that are not shown, by id", async () => {
  const memory = new SummaryMemory({ summarize: () => "They talked." });
  await memory.add(buildTurns(30));
  const shown = await memory.getMessages("", 600);
  expect(textOf(shown[0]!)).toContain("They talked.");
  expect([...memory.summary!.covers, ...idsOf(shown)]).toEqual(idsOf(buildTurns(30)));
  expect(memory.summary?.coveredCount).toBe(memory.summary?.covers.length);
});

test("a summary is made from the new messages and the previous summary, and rarely", async () => {
  const summarize = vi.fn(({ previous, messages }: SummaryRequest) => `${previous ?? ""}${messages.length};`);
  const memory = new SummaryMemory({ summarize });
  for (let n = 0; n < 100; n++) {
    await memory.add(buildTurn(n));
    await memory.getMessages("", 1_000);
  }
  const told = summarize.mock.calls.reduce((sum, [{ messages }]) => sum + messages.length, 0);
  expect(told).toBe(memory.summary?.coveredCount);
  expect(summarize.mock.calls.length).toBeLessThan(20);
});

test("a limit too small for a summary drops nothing for the next call", async () => {
  const memory = new SummaryMemory({ summarize: () => "They talked." });
  await memory.add(buildTurns(30));
  await memory.getMessages("", 40);
  expect(memory.summary).toBeUndefined();
  expect(textOf((await memory.getMessages("", 600))[0]!)).toContain("They talked.");
});

test("a summariser that fails is asked again, and meanwhile the newest messages are shown", async () => {
  const onError = vi.fn();
  let isBroken = true;
  const memory = new SummaryMemory({
    summarize: () => (isBroken ? Promise.reject(new Error("no")) : "They talked."),
    onError,
  });
  await memory.add(buildTurns(30));
  expect((await memory.getMessages("", 600)).slice(-4)).toEqual(buildTurn(29));
  expect(onError).toHaveBeenCalledOnce();
  isBroken = false;
  expect(textOf((await memory.getMessages("", 600))[0]!)).toContain("They talked.");
  expect(memory.summary?.covers[0]).toBe("0.question");
});

test("a model that summarises gets the conversation as text, and the previous summary", async () => {
  const model = scriptedModel(() => "They like tea.");
  const memory = new SummaryMemory({ summarize: model });
  await memory.add(buildTurns(30));
  await memory.getMessages("", 600);
  await memory.add(buildTurns(60).slice(120));
  await memory.getMessages("", 600);
  expect(model.callCount).toBe(2);
  expect(textOf(model.requests[0]!.messages[1]!)).toContain('Assistant calls search {"id":"0"}');
  expect(textOf(model.requests[1]!.messages[1]!)).toContain("Summary so far:\nThey like tea.");
});

const facts = [
  ["I live in Lisbon near the river", "Noted."],
  ["My cat is called Miu", "Lovely."],
  ["The invoice number is 4471", "Noted."],
].flatMap(([question, answer]) => [user(question!), assistant(answer!)]);

test("a vector memory finds an old turn by its words", async () => {
  const memory = new VectorMemory();
  await memory.add([...facts, ...buildTurns(40), user("what was the number of that invoice?")]);
  const shown = (await memory.getMessages("what was the number of that invoice?", 300)).map(textOf);
  expect(shown).toContain("The invoice number is 4471");
  expect(shown.at(-1)).toBe("what was the number of that invoice?");
});

test("a vector memory embeds every turn once", async () => {
  const embed = vi.fn((texts: readonly string[]) => texts.map((text) => [text.length, 1, 2]));
  const memory = new VectorMemory({ embedder: { embed } });
  await memory.add(buildTurns(40));
  await memory.getMessages("a", 300);
  await memory.getMessages("b", 300);
  expect(embed.mock.calls.map(([texts]) => texts.length)).toEqual([40, 1]);
});

test("an embedder that breaks its contract is reported, and the newest messages are shown", async () => {
  for (const embed of [
    () => [],
    () => "no" as never,
    (texts: readonly string[]) => texts.map((_, n) => [1, 2].slice(n)),
  ]) {
    const onError = vi.fn();
    const memory = new VectorMemory({ embedder: { embed }, onError });
    await memory.add(buildTurns(40));
    expect((await memory.getMessages("a", 300)).slice(-4)).toEqual(buildTurn(39));
    expect(onError).toHaveBeenCalledOnce();
  }
});

test("a hybrid memory shows a summary, relevant old turns and the newest turns, in this order", async () => {
  const memory = new HybridMemory({ summarize: () => "They talked." });
  await memory.add([...facts, ...buildTurns(40)]);
  const shown = (await memory.getMessages("the invoice number", 600)).map(textOf);
  expect(shown[0]).toContain("They talked.");
  expect(shown[1]).toBe("The invoice number is 4471");
  expect(shown.at(-1)).toBe("answer 39");
});

test("a persistent memory survives a restart, apart from the conversation with the same id", async () => {
  const driver = memoryDriver();
  const before = createStore(driver);
  await before.session("user-1").addItem(user("in the conversation"));
  const memory = await PersistentMemory.on(before, "user-1", new VectorMemory());
  await memory.add(buildTurns(3));
  const after = await PersistentMemory.on(createStore(driver), "user-1", new ConversationMemory());
  expect(await after.getAllMessages()).toEqual(buildTurns(3));
  await after.clear();
  expect(await (await PersistentMemory.on(createStore(driver), "user-1", new ConversationMemory())).count).toBe(0);
});

test("a message that the store refuses is not in the memory either", async () => {
  const session = createStore(memoryDriver()).session("s");
  const memory = await PersistentMemory.over(
    {
      ...session,
      sessionId: "s",
      getItems: async () => [],
      addItems: () => Promise.reject(new Error("full")),
    } as never,
    new ConversationMemory(),
  );
  await expect(memory.add(user("x"))).rejects.toThrow("full");
  expect(await memory.count).toBe(0);
});

test("a persistent memory without an inner memory is refused", async () => {
  const open = () => PersistentMemory.on(createStore(memoryDriver()), "user-1", undefined as never);
  await expect(open()).rejects.toThrow(
    '"memory" must be a memory such as new ConversationMemory(), passed as the last argument; found undefined.',
  );
});

test.for([
  ["without a store", () => PersistentMemory.on(undefined as never, "m", new ConversationMemory()), '"store" must be'],
  [
    "without an id",
    () => PersistentMemory.on(createStore(memoryDriver()), "", new ConversationMemory()),
    '"id" must be',
  ],
  [
    "over no session",
    () => PersistentMemory.over({} as never, new ConversationMemory()),
    '"session" must be a session',
  ],
] as const)("a persistent memory %s is refused", async ([, open, says]) => {
  await expect(open()).rejects.toThrow(says);
});
