import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assistant, system, toolCall, toolResult, user } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import type { MessageCriteria } from "./filter.ts";
import { MessageQuery } from "./message-query.ts";

const call = (id: string, name: string, input: unknown = {}): Message =>
  assistant(null, { toolCalls: [toolCall(id, name, input)] });

const messages: Message[] = [
  system("You read files."),
  user("Read a.txt and search for errors"),
  call("c1", "read_file", { path: "a.txt" }),
  toolResult("c1", "Error: 404 not found", { name: "read_file" }),
  call("c2", "search", { query: "x" }),
  toolResult("c2", "nothing", { name: "search" }),
  assistant("There was an ERROR."),
];
const query = new MessageQuery(messages);

describe("filter", () => {
  test("by role returns only messages of that role", () => {
    expect(query.filter({ role: "tool" })).toEqual([messages[3], messages[5]]);
    expect(query.filter({ role: ["user", "system"] })).toEqual([messages[0], messages[1]]);
  });

  test("by tool name returns the calls of the tool and the results that answer them", () => {
    expect(query.filter({ toolName: "read_file" })).toEqual([messages[2], messages[3]]);
  });

  test("by content finds text anywhere, in any case", () => {
    expect(query.filter({ content: "error" })).toEqual([messages[1], messages[3], messages[6]]);
    expect(query.filter({ content: "ERROR" })).toEqual(query.filter({ content: "error" }));
    expect(new MessageQuery([user("Größe ÉTÉ")]).filter({ content: "été" })).toHaveLength(1);
  });

  test("by content takes the text literally, with all its signs", () => {
    const signs = new MessageQuery([user("a.b*c (d) [e] {f} $1 ^x | y? z+ \\ /"), user("aXbbc")]);
    for (const part of ["a.b*c", "(d)", "[e]", "{f}", "$1", "^x", "|", "y?", "z+", "\\", "/"]) {
      expect(signs.filter({ content: part })).toEqual(signs.first());
    }
  });

  test("by a RegExp under regex is by content", () => {
    expect(query.filter({ regex: /Error:\s+\d+/ })).toEqual(query.filter({ content: /Error:\s+\d+/ }));
    expect(query.filter({ regex: /Error/g })).toHaveLength(1);
    expect(query.filter({ regex: /Error/, content: "no such words" })).toEqual([]);
    expect(query.filter({ regex: /Error/, content: "ERROR" })).toEqual([messages[3]]);
  });

  test("refuses a regex that is neither a RegExp nor beside a pattern", () => {
    const wordings: [unknown, string][] = [
      [{ regex: "Err" }, 'found "Err"'],
      [{ regex: "Err", content: "x" }, 'found "Err"'],
      [{ regex: true }, 'found true without "content"'],
      [{ regex: 1, content: "x" }, "found 1"],
    ];
    for (const [criteria, words] of wordings) {
      expect(() => query.filter(criteria as MessageCriteria)).toThrow(words);
      expect(() => query.filter(criteria as MessageCriteria)).toThrow('{ content: "Err.*", regex: true }');
    }
    expect(query.filter({ regex: false })).toEqual(messages);
  });

  test("by content reads a pattern if regex is true", () => {
    expect(query.filter({ content: "Error:\\s+\\d+", regex: true })).toEqual([messages[3]]);
    expect(query.filter({ content: "error:\\s+\\d+", regex: true })).toEqual([]);
  });

  test("by content takes a RegExp, whose g and y have no effect", () => {
    for (const flags of ["", "g", "y", "gy"]) {
      const pattern = new RegExp("\\d+", flags);
      expect(query.filter({ content: pattern })).toEqual([messages[3]]);
      expect(query.filter({ content: pattern })).toEqual([messages[3]]);
      expect(pattern.lastIndex).toBe(0);
    }
  });

  test("combines criteria with AND", () => {
    expect(query.filter({ role: "tool", toolName: "read_file" })).toEqual([messages[3]]);
    expect(query.filter({ role: "tool", toolName: "read_file", content: "nothing" })).toEqual([]);
  });

  test("without criteria returns all messages, in an array of its own", () => {
    expect(query.filter()).toEqual(messages);
    expect(query.filter({})).toEqual(messages);
    expect(query.filter({ role: undefined, content: undefined })).toEqual(messages);
    expect(query.filter()).not.toBe(messages);
  });

  test("returns a plain array of the messages themselves", () => {
    const [found] = query.filter({ role: "user" });
    expect(found).toBe(messages[1]);
  });

  test("on an empty list returns an empty list", () => {
    const empty = new MessageQuery([]);
    expect(empty.filter({ role: "tool", toolName: "x", content: "y" })).toEqual([]);
  });

  test("by an unknown role returns an empty list", () => {
    expect(query.filter({ role: "invalid" })).toEqual([]);
    expect(query.filter({ role: "__proto__" })).toEqual([]);
  });

  test("without a match returns an empty list", () => {
    expect(query.filter({ content: "no such text" })).toEqual([]);
    expect(query.filter({ toolName: "no_such_tool" })).toEqual([]);
  });

  test("by content skips messages without content", () => {
    const bare = [{ role: "assistant" }, assistant(null), user("text")] as Message[];
    expect(new MessageQuery(bare).filter({ content: "" })).toEqual([bare[2]]);
  });

  test("by content searches the text of list content", () => {
    const parts = user([
      { type: "text", text: "look at this " },
      { type: "image_url", image_url: { url: "data:," } },
      { type: "text", text: "Error" },
    ]);
    expect(new MessageQuery([parts]).filter({ content: "error" })).toEqual([parts]);
  });

  test("by tool name matches a result without a name by its call id", () => {
    const nameless = [
      call("c1", "read_file"),
      toolResult("c1", "text"),
      call("c2", "search"),
      toolResult("c2", "none"),
    ];
    expect(new MessageQuery(nameless).filter({ toolName: "search" })).toEqual(nameless.slice(2));
  });

  test("by tool name tells results apart whose calls share an id", () => {
    const list = [call("c", "a"), toolResult("c", "of a"), call("c", "b"), toolResult("c", "of b")];
    expect(new MessageQuery(list).filter({ toolName: "b" })).toEqual(list.slice(2));
  });

  test("by tool name takes tool_calls that are null, missing or broken", () => {
    const list = [
      { role: "assistant", content: "x", tool_calls: null },
      { role: "assistant", content: "x", tool_calls: [null, 5, {}, { function: null }] },
      { role: "tool" },
    ] as unknown as Message[];
    expect(new MessageQuery(list).filter({ toolName: "a" })).toEqual([]);
  });

  test("by run, agent and failure reads metadata", () => {
    const list = [
      user("a", { metadata: { runId: "r1", agent: "one" } }),
      toolResult("c", "b", { isError: true, metadata: { runId: "r2" } }),
      user("c"),
    ];
    const runs = new MessageQuery(list);
    expect(runs.filter({ runId: "r1" })).toEqual([list[0]]);
    expect(runs.filter({ agent: "one" })).toEqual([list[0]]);
    expect(runs.filter({ isError: true })).toEqual([list[1]]);
    expect(runs.filter({ isError: false })).toEqual([list[0], list[2]]);
  });

  test("by time takes dates, texts and numbers, both ends included", () => {
    const at = (createdAt: string) => user("x", { metadata: { createdAt } });
    const list = [
      at("2026-01-01T00:00:00Z"),
      at("2026-01-02T00:00:00Z"),
      at("2026-01-03T00:00:00Z"),
      at("soon"),
      user("x"),
    ];
    const times = new MessageQuery(list);
    expect(times.filter({ since: "2026-01-02T00:00:00Z" })).toEqual([list[1], list[2]]);
    expect(times.filter({ until: new Date("2026-01-02T00:00:00Z") })).toEqual([list[0], list[1]]);
    expect(times.filter({ since: Date.parse("2026-01-02"), until: Date.parse("2026-01-02") })).toEqual([list[1]]);
    expect(() => times.filter({ since: "tomorrow-ish" })).toThrow(/"since" must be a time/);
  });

  test("by a function of your own", () => {
    expect(query.filter((_, index) => index % 2 === 0)).toEqual([messages[0], messages[2], messages[4], messages[6]]);
  });

  test("refuses an unknown criterion, with the valid names", () => {
    const wrong = { tool_name: "read_file" } as object;
    expect(() => query.filter(wrong)).toThrow(
      'Unknown filter option "tool_name". Use toolName instead. Valid options: role, toolName, content, ',
    );
  });

  test.for([
    [null, "The filter options must be an object; found null."],
    ["user", 'The filter options must be an object; found "user".'],
    [{ role: 5 }, '"role" must be a role or a list of roles; found 5.'],
    [{ role: [5] }, '"role" must be a role or a list of roles; found a list.'],
    [{ toolName: /x/ }, '"toolName" must be text; found object.'],
    [{ isError: "yes" }, '"isError" must be true or false; found "yes".'],
    [{ until: {} }, '"until" must be a time (Date, ISO text or epoch milliseconds); found object.'],
  ] as const)("refuses %j with a sentence, as where does", ([criteria, sentence]) => {
    expect(() => query.filter(criteria as unknown as MessageCriteria)).toThrow(sentence);
    expect(() => query.where(criteria as unknown as MessageCriteria).all()).toThrow(sentence);
  });

  test("where returns a query that still knows the whole list", () => {
    const nameless = new MessageQuery([call("c1", "read_file"), toolResult("c1", "text"), user("x")]);
    const results = nameless.where({ role: "tool" });
    expect(results.all()).toEqual(nameless.slice(1, 2));
    expect(results.where({ toolName: "read_file" }).all()).toEqual(nameless.slice(1, 2));
    expect(results.where({ toolName: "read_file" }).filter({ content: "text" })).toHaveLength(1);
    expect(results.stats().totalMessages).toBe(1);
    expect(query.where({ role: "tool" }).where((message) => message.content === "nothing").length).toBe(1);
  });

  test("where and filter agree, in any order", () => {
    fc.assert(
      fc.property(fc.constantFrom("tool", "user", "x"), fc.constantFrom("search", "read_file"), (role, toolName) => {
        const both = query.filter({ role, toolName });
        expect(query.where({ role }).where({ toolName }).all()).toEqual(both);
        expect(query.where({ toolName }).filter({ role })).toEqual(both);
      }),
    );
  });
});
