import { describe, expect, test } from "vitest";
import { assistant, system, toolCall, toolResult, user } from "../../messages/makers.ts";
import type { Message } from "../../messages/message.ts";
import { MessageQuery } from "../message-query.ts";

const pageOf = (list: Message[], options = {}): string => new MessageQuery(list).export("html", options);

describe("the html export", () => {
  test("is one page with a card for each message and nothing to load", () => {
    const page = pageOf([
      system("s"),
      user("u"),
      assistant("a", { toolCalls: [toolCall("c", "f", { a: 1 }), toolCall("d", "g", "{cut")] }),
      toolResult("c", "r", { isError: true, metadata: { createdAt: "2026-01-01" } }),
    ]);
    expect(page).toMatch(/^<!doctype html>/);
    expect(page.match(/<article /g)).toHaveLength(4);
    expect(page).toContain('class="tool error"');
    expect(page).toContain("4 messages");
    expect(page).toContain("calls <code>f</code> <code>c</code>");
    expect(page).toContain("2026-01-01");
    expect(page).not.toMatch(/<script|<link|<img|https?:\/\/|@import|url\(/);
    expect(page).toContain("default-src 'none'");
  });

  test("has styles for light, dark and paper", () => {
    const page = pageOf([]);
    expect(page).toContain("prefers-color-scheme: dark");
    expect(page).toContain("@media print");
    expect(page).toContain("0 messages");
    expect(pageOf([user("x")])).toContain("1 message<");
  });

  test("escapes all content, wherever it is", () => {
    const evil = `"><script>alert('x')</script>&lt;`;
    const page = pageOf([
      user(evil, { metadata: { createdAt: evil } }),
      assistant(null, { toolCalls: [toolCall(evil, evil, evil)] }),
      toolResult(evil, evil, { name: evil }),
      { role: evil, content: evil } as unknown as Message,
    ]);
    expect(page).not.toContain("<script");
    expect(page.match(/&lt;script&gt;/g)?.length).toBeGreaterThanOrEqual(8);
    expect(page).toContain("&amp;lt;");
    expect(page.match(/class="[^"]*"/g)).toEqual(expect.arrayContaining(['class="other"']));
  });

  test("makes control characters visible", () => {
    expect(pageOf([user("a\0b\u202ec")])).toContain("a␀b&lt;U+202E&gt;c");
  });

  test("keeps a leading newline, and cuts at maxContentLength", () => {
    expect(pageOf([user("\nx")])).toContain('<pre dir="auto">\n\nx</pre>');
    expect(pageOf([user("abcdef")], { maxContentLength: 3 })).toContain("abc...</pre>");
  });
});
