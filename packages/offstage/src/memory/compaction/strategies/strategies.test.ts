// The behaviour of each strategy beyond fitting its budget.
import { expect, test, vi } from "vitest";
import { buildLoopStep, buildTurns, idsOf } from "../../../../test/support/long-conversation.ts";
import { assistant, user } from "../../../messages/makers.ts";
import { textOf } from "../../../messages/message.ts";
import { tokenCounter } from "../../../tokens/token-counter.ts";
import type { CompactionInput } from "../compaction-strategy.ts";
import { hybrid, importance, pruneToolResults, slidingWindow, summarizeOlder } from "./index.ts";

const counter = tokenCounter({ count: (text) => Math.ceil(text.length / 4) });
const input = (changes: Partial<CompactionInput>): CompactionInput => {
  return { summary: [], messages: buildTurns(10), budget: 300, counter, ...changes };
};

test("a sliding window counts all messages that it has left out", async () => {
  const first = await slidingWindow().compact(input({}));
  const second = await slidingWindow().compact(input({ ...first, budget: 150 }));
  expect(second.summary.map(textOf)).toEqual([
    `[${40 - second.messages.length} earlier messages are kept offstage and not shown]`,
  ]);
});

test("pruning clips old results, only as many as necessary, and not the newest", async () => {
  const messages = buildTurns(10, 60);
  const budget = counter.countMessages(messages) - 120;
  const { summary, messages: pruned } = await pruneToolResults().compact(input({ messages, budget }));
  const isClipped = pruned.map(({ metadata }) => metadata?.isClipped === true);
  expect(summary).toEqual([]);
  expect(idsOf(pruned)).toEqual(idsOf(messages));
  expect(isClipped.lastIndexOf(true)).toBeLessThan(20);
  expect(pruned.filter((message, i) => message !== messages[i]).every(({ role }) => role === "tool")).toBe(true);
  expect(counter.countMessages(pruned)).toBeLessThanOrEqual(budget);
});

test("importance prefers a lasting wish to newer chat", async () => {
  const wish = [user("Always answer in French, my name is Ada."), assistant("D'accord.")];
  const { messages } = await importance().compact(input({ messages: [...wish, ...buildTurns(10)] }));
  expect(messages.slice(0, 2)).toEqual(wish);
  expect(idsOf(messages).at(-1)).toBe("9.answer");
});

test("importance takes a custom score", async () => {
  const score = (turn: readonly { metadata?: { id?: string } }[]) => (turn[0]?.metadata?.id === "4.question" ? 9 : 0);
  const { messages } = await importance({ score }).compact(input({ budget: 200 }));
  expect(idsOf(messages)).toContain("4.question");
});

test("importance within one long turn keeps the question in its place", async () => {
  const steps = Array.from({ length: 20 }, (_, n) => buildLoopStep(`s${n}`)).flat();
  const messages = [user("the task", { metadata: { id: "task" } }), ...steps];
  const shown = await importance().compact(input({ messages }));
  expect(idsOf(shown.messages)[0]).toBe("task");
  expect(idsOf(shown.messages).at(-1)).toBe("s19.result");
});

test("hybrid asks for a summary only if clipping is not enough", async () => {
  const summarize = vi.fn(() => "They talked.");
  const messages = buildTurns(10, 60);
  await hybrid({ summarize }).compact(input({ messages, budget: counter.countMessages(messages) - 200 }));
  expect(summarize).not.toHaveBeenCalled();
  await hybrid({ summarize }).compact(input({ messages, budget: 400 }));
  expect(summarize).toHaveBeenCalledOnce();
});

test("a summary that is too long is clipped and marked", async () => {
  const { summary } = await summarizeOlder({ summarize: () => "words ".repeat(500) }).compact(input({}));
  expect(counter.countMessages(summary)).toBeLessThanOrEqual(90);
  expect(textOf(summary[0]!)).toMatch(/\[clipped, \d+ characters\]$/);
});
