import fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { assistant, system, toolCall, toolResult, user } from "../../messages/makers.ts";
import type { Message } from "../../messages/message.ts";
import { type TextFormat, textFormats } from "../formats/index.ts";
import { MessageQuery } from "../message-query.ts";
import type { ExportOptions } from "./export-view.ts";
import { fromExport } from "./from-export.ts";

const messages: Message[] = [
  system("be brief"),
  user("hello 😀 \ud800", { metadata: { createdAt: "2026-01-01T00:00:00.000Z", runId: "r" } }),
  assistant(null, { toolCalls: [toolCall("c", "f", { a: 1 })] }),
  toolResult("c", "result", { name: "f" }),
];
const tokenCounter = { count: (text: string) => text.length, countMessage: () => 7, countMessages: () => 28 };
const query = new MessageQuery(messages, { tokenCounter });
const formats = Object.keys(textFormats) as TextFormat[];

describe("the json export", () => {
  test("holds all messages with their full structure", () => {
    expect(JSON.parse(query.export("json"))).toEqual(messages);
    expect(query.export()).toBe(query.export("json"));
  });

  test.for([0, 1, 2, 4, 12, "\t", ""] as const)("is what JSON.stringify writes with indent %j", (indent) => {
    expect(query.export("json", { indent })).toBe(JSON.stringify(messages, null, indent));
    expect(new MessageQuery([]).export("json", { indent })).toBe("[]");
  });

  test("is indented by two by default", () => {
    expect(query.export("json")).toBe(JSON.stringify(messages, null, 2));
  });

  test("adds index, token count, role and time if includeMetadata is true", () => {
    const [first, second] = JSON.parse(query.export("json", { includeMetadata: true }));
    expect(first).toEqual({ ...messages[0], _metadata: { index: 0, token_count: 7, role: "system", timestamp: null } });
    expect(second._metadata.timestamp).toBe("2026-01-01T00:00:00.000Z");
  });

  test("writes values that JSON cannot hold as text or null", () => {
    const circular: Record<string, unknown> = { role: "user", content: "x", big: 5n };
    circular.self = circular;
    const odd = [circular, undefined, () => 1, 5n] as unknown as Message[];
    const written = [{ role: "user", content: "x", big: "5", self: "[circular]" }, null, null, "5"];
    expect(JSON.parse(new MessageQuery(odd).export("json"))).toEqual(written);
    expect(fromExport(new MessageQuery(odd).export("jsonl"))).toEqual(written);
  });
});

describe("json and jsonl", () => {
  const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));
  const message = fc.oneof(
    fc
      .record({ role: fc.constantFrom("user", "odd"), content: fc.string({ unit: "binary" }), metadata: json, x: json })
      .map((value) => ({ ...value })),
    json,
  );

  test("come back without loss", () => {
    fc.assert(
      fc.property(fc.array(message), fc.constantFrom(0, 2), fc.boolean(), (list, indent, includeMetadata) => {
        const generated = new MessageQuery(list as Message[]);
        const objects = includeMetadata ? list.map(asObject) : list;
        expect(fromExport(generated.export("json", { indent, includeMetadata }))).toStrictEqual(objects);
        if (list.length !== 1)
          expect(fromExport(generated.export("jsonl", { includeMetadata }))).toStrictEqual(objects);
      }),
      { numRuns: 1000, interruptAfterTimeLimit: 10_000 },
    );
  });

  test("come back with a byte order mark, blank lines and CRLF", () => {
    expect(fromExport(`\ufeff${query.export("json")}`)).toEqual(messages);
    expect(fromExport(query.export("jsonl").replaceAll("\n", "\r\n\r\n"))).toEqual(messages);
    expect(fromExport("")).toEqual([]);
  });

  test("are refused if they are neither, naming the line", () => {
    expect(() => fromExport("[1, 2")).toThrow(expect.objectContaining({ code: "invalid-format" }));
    expect(() => fromExport('{"role":"user"}\nnope')).toThrow(/Line 2 is not JSON/);
  });

  test("keep a _metadata that the message had before", () => {
    const own = [
      { role: "user", content: "x", _metadata: { mine: 1 } },
      { role: "user", content: "y", _metadata: "text" },
    ] as unknown as Message[];
    expect(fromExport(new MessageQuery(own).export("json"))).toEqual(own);
    expect(fromExport(new MessageQuery(own).export("json", { includeMetadata: true }))[0]).toMatchObject({
      _metadata: { mine: 1, index: 0 },
    });
  });

  function asObject(item: unknown): unknown {
    const isObject = typeof item === "object" && item !== null && !Array.isArray(item);
    return isObject ? item : { content: item };
  }
});

describe("the jsonl export", () => {
  test("has one line for each message and none for none", () => {
    expect(query.export("jsonl")).toBe(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
    expect(new MessageQuery([]).export("jsonl")).toBe("");
  });
});

describe("the dict export", () => {
  test("reads back as the original messages", () => {
    const said = [user("Hi"), assistant("Hello")];
    expect(MessageQuery.from(new MessageQuery(said).export("dict")).all()).toEqual(said);
  });

  test("adds _metadata and leaves every field as it was", () => {
    const before = structuredClone(messages);
    expect(query.export("dict")).toEqual(
      messages.map((message, index) => ({ ...message, _metadata: { index, token_count: 7, role: message.role } })),
    );
    expect(messages).toEqual(before);
    expect(new MessageQuery([]).export("dict")).toEqual([]);
  });

  test("keeps keys that a message already has", () => {
    const [exported] = new MessageQuery([{ ...user("x"), _metadata: { index: 99, mine: true } } as Message]).export(
      "dict",
    );
    expect(exported?._metadata).toEqual({ index: 99, mine: true, token_count: expect.any(Number), role: "user" });
  });

  test("normalises the role", () => {
    const odd = [{ role: " User " }, {}, null] as unknown as Message[];
    expect(new MessageQuery(odd).export("dict").map(({ _metadata }) => _metadata.role)).toEqual([
      "user",
      "unknown",
      "unknown",
    ]);
  });
});

describe("every export", () => {
  test("takes a part of the messages and keeps their original index", () => {
    const part = query.filter({ role: "tool" });
    expect(JSON.parse(query.export("json", { messages: part }))).toEqual(part);
    expect(query.export("dict", { messages: part })[0]?._metadata).toEqual({
      index: 0,
      token_count: 7,
      role: "tool",
      original_index: 3,
    });
    expect(query.where({ role: "tool" }).export("dict")[0]?._metadata.original_index).toBe(3);
    expect(query.export("dict", { messages: [user("new")] })[0]?._metadata.original_index).toBeUndefined();
    expect(query.export("csv", { messages: new Set(part) })).toContain("0,tool,result,f,c,7");
    expect(query.export("jsonl", { messages: [] })).toBe("");
  });

  test("knows the tool of a nameless result, even if its call is not exported", () => {
    const nameless = new MessageQuery([messages[2] as Message, toolResult("c", "r")]);
    const part = { messages: nameless.filter({ role: "tool" }) };
    expect(nameless.export("csv", part)).toContain(",f,c,");
    expect(nameless.export("markdown", part)).toContain("Result of `f` (`c`)");
    expect(nameless.export("html", part)).toContain("<code>f</code>");
  });

  test.for(["docx", "JSON", "__proto__", "toString", ""])("refuses the format %j, with the valid ones", (format) => {
    const attempt = () => query.export(format as "json");
    expect(attempt).toThrow(expect.objectContaining({ code: "invalid-argument" }));
    expect(attempt).toThrow(`Valid formats: ${formats.join(", ")}, dict.`);
  });

  test("may be a function, which is given the messages and the view of the formats", () => {
    const names = query.export((list, view) => list.map(({ role }, index) => `${role}:${view.tokens(index)}`));
    expect(names).toEqual(["system:7", "user:7", "assistant:7", "tool:7"]);
    expectTypeOf(names).toEqualTypeOf<string[]>();
    expectTypeOf(query.export("csv")).toEqualTypeOf<string>();
    expect(query.export((list) => list.length, { messages: [] })).toBe(0);
  });

  test("takes secrets out if redact is true, in every format", () => {
    const secret = "sk-abcdefghijklmnopqrstuv";
    const leaky = new MessageQuery([
      user(`my key is ${secret}`, { metadata: { api_key: "hunter2", createdAt: secret } }),
      assistant(null, { toolCalls: [toolCall("c", `tool_${secret}`, { password: "hunter2" })] }),
      toolResult("c", [{ type: "text", text: `Authorization: Bearer ${secret}` }]),
      { role: secret, content: { token: "hunter2" } } as unknown as Message,
    ]);
    for (const format of formats) {
      const text = leaky.export(format, { redact: true, includeMetadata: true });
      expect(text).not.toMatch(/sk-abcdef|hunter2/);
      expect(text).toContain("[redacted]");
    }
    expect(JSON.stringify(leaky.export("dict", { redact: true }))).not.toMatch(/sk-abcdef|hunter2/);
    expect(JSON.stringify(leaky.export((list) => list, { redact: true }))).not.toMatch(/sk-abcdef|hunter2/);
    expect(leaky.export("json")).toContain(secret);
  });

  test("takes a redactor of your own", () => {
    const hide = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll("result", "***"));
    expect(query.export("csv", { redact: hide })).toContain("3,tool,***,f,c,7");
  });
});

test.for([-1, 1.5, Number.NaN, "5", null])("no export accepts the content length %j", (length) => {
  const options = { maxContentLength: length as number };
  for (const format of ["csv", "markdown", "html", "json"] as const)
    expect(() => query.export(format, options)).toThrow(expect.objectContaining({ code: "invalid-argument" }));
});

test.for([
  [{ redact: "yes" }, '"redact" must be true, false or a redactor; found "yes".'],
  [{ messages: 5 }, '"messages" must be a list of messages; found 5.'],
  [{ indent: {} }, '"indent" must be a number of blanks, or text; found object.'],
  [{ include_metadata: true }, 'Unknown export option "include_metadata". Use includeMetadata instead.'],
  [null, "The export options must be an object; found null."],
] as const)("the export options %j are refused with a sentence", ([options, sentence]) => {
  for (const format of ["json", "dict", (list: readonly Message[]) => list] as const)
    expect(() => query.export(format as "json", options as unknown as ExportOptions)).toThrow(sentence);
});

test.for([5, null, undefined, {}])("fromExport refuses %j with a sentence", (value) => {
  expect(() => fromExport(value as never)).toThrow(/^fromExport\(\) needs the text of a json or jsonl export; found /);
});

test("an unknown export option is refused, with the valid names", () => {
  const options = { maxLength: 3 } as ExportOptions;
  expect(() => query.export("csv", options)).toThrow('Unknown export option "maxLength". Valid options: messages, ');
});
