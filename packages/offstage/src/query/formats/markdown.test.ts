import { Parser } from "commonmark";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assistant, system, toolCall, toolResult, user } from "../../messages/makers.ts";
import type { Message } from "../../messages/message.ts";
import { MessageQuery } from "../message-query.ts";

interface Parsed {
  readonly headings: string[];
  readonly blocks: string[];
  readonly kinds: Set<string>;
  readonly codes: string[];
}

function parsed(list: Message[], options = {}): Parsed {
  const found = { headings: [] as string[], blocks: [] as string[], kinds: new Set<string>(), codes: [] as string[] };
  const walker = new Parser().parse(new MessageQuery(list).export("markdown", options)).walker();
  for (let event = walker.next(); event !== null; event = walker.next()) {
    if (!event.entering) continue;
    const { node } = event;
    found.kinds.add(node.type);
    if (node.type === "heading") found.headings.push(`${node.level} ${node.firstChild?.literal}`);
    if (node.type === "code_block") found.blocks.push(node.literal ?? "");
    if (node.type === "code") found.codes.push(node.literal ?? "");
  }
  return found;
}

describe("the markdown export", () => {
  test("has a heading for each speaker, and content in code blocks", () => {
    const { headings, blocks } = parsed([system("s"), user("u"), assistant("a")]);
    expect(headings).toEqual(["1 Conversation", "3 System", "3 User", "3 Assistant"]);
    expect(blocks).toEqual(["s\n", "u\n", "a\n"]);
  });

  test("is a title alone for an empty list", () => {
    expect(new MessageQuery([]).export("markdown")).toBe("# Conversation\n");
  });

  test("shows calls with name, formatted arguments and result", () => {
    const list = [
      assistant("let me see", {
        toolCalls: [toolCall("c1", "read", { path: "a" }), toolCall("c2", "read", "{cut"), toolCall("c3", "x")],
      }),
      toolResult("c2", "second", { isError: true }),
      toolResult("c1", "first"),
    ];
    const { headings, blocks, codes } = parsed(list);
    expect(headings).toEqual(["1 Conversation", "3 Assistant"]);
    expect(blocks).toEqual(["let me see\n", '{\n  "path": "a"\n}\n', "first\n", "{cut\n", "second\n", "{}\n"]);
    expect(codes).toEqual(["read", "c1", "read", "c2", "x", "c3"]);
    const text = new MessageQuery(list).export("markdown");
    expect(text).toContain("```json\n{\n");
    expect(text).toContain("**Error**");
    expect(text).toContain("**No result**");
  });

  test("tells results of rejected and interrupted calls from failures", () => {
    const marked = (status: string) =>
      toolResult(status, "r", { isError: true, metadata: { status: status as "rejected" | "interrupted" } });
    const ids = ["rejected", "interrupted"];
    const calls = assistant(null, { toolCalls: ids.map((id) => toolCall(id, "f")) });
    const query = new MessageQuery([calls, ...ids.map(marked)]);
    const text = query.export("markdown");
    expect([text.includes("**Rejected**"), text.includes("**Interrupted**"), text.includes("**Error**")]).toEqual([
      true,
      true,
      false,
    ]);
    expect(query.export("html")).toContain("<span>interrupted</span>");
    expect(query.export("html")).not.toContain("tool error");
  });

  test("shows every result once: orphans and late ones under a heading of their own", () => {
    const list = [
      toolResult("0", "early", { name: "ghost" }),
      assistant(null, { toolCalls: [toolCall("c", "f")] }),
      toolResult("c", "one"),
      toolResult("c", "again"),
      user("x"),
      toolResult("c", "late"),
    ];
    const { headings, blocks } = parsed(list);
    expect(headings).toEqual(["1 Conversation", "3 Tool", "3 Assistant", "3 Tool", "3 User", "3 Tool"]);
    expect(blocks).toEqual(["early\n", "{}\n", "one\n", "again\n", "x\n", "late\n"]);
  });

  test("adds a line on each message if includeMetadata is true", () => {
    const text = new MessageQuery([user("x", { metadata: { createdAt: "2026-01-01" } })]).export("markdown", {
      includeMetadata: true,
    });
    expect(text).toMatch(/Message 0, \d+ tokens, `2026-01-01`/);
  });

  test("cuts content only at maxContentLength", () => {
    expect(parsed([user("x".repeat(2000))]).blocks[0]).toHaveLength(2001);
    expect(parsed([user("abcdef")], { maxContentLength: 3 }).blocks).toEqual(["abc...\n"]);
  });

  const hostile = [
    ...[
      "### User\n\nforged",
      "```\n### User\n```",
      "~~~~\n# x",
      "`````````",
      "</code></pre><script>",
      "[a]: http://x",
      "- a\n- b",
    ],
    ...[
      "Setext\n===",
      "    code",
      "<!-- c",
      "> quote",
      "\t# tab",
      "a\r# cr\r\n## crlf",
      "![x](y)",
      "\0",
      "`",
      "``",
      " ` ",
      "&#35; x",
    ],
  ];
  test.for(hostile)("cannot be forged by %j, wherever it is", (text) => {
    const list = [
      user(text),
      assistant(text, { toolCalls: [toolCall(text, text, text)] }),
      toolResult(text, text, { name: text }),
      toolResult("orphan", text, { name: text }),
      { role: text, content: text, metadata: { createdAt: text } } as unknown as Message,
    ];
    const { headings, kinds } = parsed(list, { includeMetadata: true });
    expect(headings).toEqual(["1 Conversation", "3 User", "3 Assistant", "3 Tool", "3 Other"]);
    expect([...kinds].sort()).toEqual(["code", "code_block", "document", "heading", "paragraph", "strong", "text"]);
  });

  test("keeps any text exactly, and has exactly the expected headings", () => {
    const piece = fc.constantFrom(
      "`",
      "```",
      "~~~",
      "#",
      "# ",
      "\n",
      "a",
      "<b>",
      "---",
      "===",
      "    ",
      "\t",
      "[",
      "]",
      "*",
      "\\",
      "&amp;",
      ">",
    );
    const text = fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join(""));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), text, (said, name) => {
        const list = [
          ...said.map((one) => user(one)),
          assistant(null, { toolCalls: [toolCall(name, name, { a: name })] }),
        ];
        const { headings, blocks } = parsed(list);
        expect(headings).toEqual(["1 Conversation", ...said.map(() => "3 User"), "3 Assistant"]);
        expect(blocks.slice(0, -1)).toEqual(said.map((one) => `${one}\n`));
      }),
      { numRuns: 1000 },
    );
  });
});
