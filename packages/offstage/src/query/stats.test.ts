import { deepStrictEqual } from "node:assert";
import { describe, expect, test } from "vitest";
import { assistant, system, toolCall, toolResult, user } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import { tokenCounter } from "../tokens/token-counter.ts";
import { MessageQuery } from "./message-query.ts";

const messages: Message[] = [
  system("be brief"),
  user("hello there"),
  assistant(null, { toolCalls: [toolCall("c", "f", { a: 1 })] }),
  toolResult("c", "result"),
  assistant("answer"),
];
const byLength = {
  count: (text: string) => text.length,
  countMessages: (list: Iterable<Message>) => [...list].length * 10,
};

describe("stats", () => {
  test("count messages and tokens, in all and by role", () => {
    const stats = new MessageQuery(messages, { tokenCounter: byLength }).stats();
    expect(stats.totalMessages).toBe(5);
    expect(stats.messagesByRole).toEqual({ system: 1, user: 1, assistant: 2, tool: 1 });
    expect(stats.totalTokens).toBe(50);
    expect(stats.tokensByRole).toEqual({ system: 10, user: 10, assistant: 20, tool: 10 });
    expect(stats.avgTokensPerMessage).toBe(10);
  });

  test("use the given counter, and no other", () => {
    const counter = tokenCounter({ count: (text) => text.length });
    const query = new MessageQuery(messages, { tokenCounter: counter });
    expect(query.stats().totalTokens).toBe(counter.countMessages(messages));
    expect(query.stats().estimated).toBe(false);
    expect(query.where({ role: "user" }).stats().totalTokens).toBe(counter.countMessage(messages[1] as Message));
  });

  test("are marked if they are estimates", () => {
    expect(new MessageQuery(messages).stats().estimated).toBe(true);
    expect(String(new MessageQuery(messages).stats())).toContain("(estimated)");
  });

  test("of roles add up to the total", () => {
    const { tokensByRole, totalTokens } = new MessageQuery(messages).stats();
    expect(Object.values(tokensByRole).reduce((sum, count) => sum + count, 0)).toBe(totalTokens);
  });

  test("sum the reported usage, apart from the counts", () => {
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 4 };
    const reported = [assistant("a", { metadata: { usage } }), assistant("b", { metadata: { usage } })];
    const stats = new MessageQuery(reported).stats();
    expect(stats.usage).toEqual({ inputTokens: 20, outputTokens: 10, totalTokens: 30, cachedInputTokens: 8 });
    expect(String(stats)).toContain("Reported by providers: 20 in, 10 out, 30 tokens");
    expect("usage" in new MessageQuery(messages).stats()).toBe(false);
  });

  test("leave out an invalid usage, and complete one without a total", () => {
    const odd = [{ x: 1 }, null, "many", { inputTokens: 1, outputTokens: 2 }].map((usage) =>
      assistant("a", { metadata: { usage: usage as never } }),
    );
    expect(new MessageQuery(odd).stats().usage).toEqual({ inputTokens: 1, outputTokens: 2, totalTokens: 3 });
  });

  test("print a readable summary", () => {
    const text = String(new MessageQuery(messages, { tokenCounter: byLength }).stats());
    expect(text).toContain("Total messages: 5");
    expect(text).toContain("Total tokens: 50");
    expect(text).toContain("Average tokens per message: 10.0");
    expect(text).toContain("assistant: 2 messages, 20 tokens");
    expect(text).toContain("user: 1 message, 10 tokens");
  });

  test("compare as plain data", () => {
    const stats = new MessageQuery([user("x")], { tokenCounter: byLength }).stats();
    deepStrictEqual(stats, {
      totalMessages: 1,
      messagesByRole: { user: 1 },
      totalTokens: 10,
      tokensByRole: { user: 10 },
      avgTokensPerMessage: 10,
      estimated: false,
    });
    expect(JSON.parse(JSON.stringify(stats))).toEqual(stats);
  });

  test("count roles with strange names, and messages with none", () => {
    const odd = [
      { role: "__proto__", content: "a" },
      { role: "constructor", content: "b" },
      {},
      null,
    ] as unknown as Message[];
    const { messagesByRole } = new MessageQuery(odd).stats();
    expect(Object.entries(messagesByRole)).toEqual([
      ["__proto__", 1],
      ["constructor", 1],
      ["unknown", 2],
    ]);
  });
});
