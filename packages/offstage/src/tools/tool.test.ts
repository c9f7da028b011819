import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { type ToolOptions, tool, toolsByName } from "./tool.ts";

type AnyOptions = ToolOptions<Record<string, unknown>, Record<string, unknown>>;

const options = (changes: Partial<AnyOptions> = {}): AnyOptions => ({
  name: "weather",
  execute: () => "sun",
  ...changes,
});

describe("a tool has good defaults", () => {
  test("it takes no input, needs no approval, has 64 KiB and no time limit", () => {
    expect(tool({ name: "now", execute: () => 1 })).toMatchObject({
      description: undefined,
      schema: { jsonSchema: { type: "object", properties: {} } },
      timeoutMs: undefined,
      needsApproval: false,
      idempotent: false,
      remember: undefined,
      maxResultBytes: 65_536,
    });
  });

  test("it cannot be changed afterwards", () => {
    expect(Object.isFrozen(tool(options()))).toBe(true);
  });

  test("its function may use `this`", () => {
    const counter = {
      name: "count",
      count: 0,
      execute() {
        return ++this.count;
      },
    };
    expect(tool(counter).execute({}, {} as never)).toBe(1);
  });
});

describe("defining a tool checks it", () => {
  test.for(["", "has space", "umlaut-ä", "x".repeat(65), 5, undefined])("the name %j is refused", (name) => {
    expect(() => tool(options({ name: name as string }))).toThrow("A tool's name must be 1 to 64 letters");
  });

  test("a tool without a function is refused", () => {
    expect(() => tool(options({ execute: undefined as never }))).toThrow(
      'The tool "weather" needs an execute function',
    );
  });

  test.for([
    ["timeoutMs", 0],
    ["timeoutMs", Number.NaN],
    ["maxResultBytes", -1],
  ] as const)("%s %d is refused", ([field, value]) => {
    expect(() => tool(options({ [field]: value }))).toThrow(
      `"${field}" of the tool "weather" must be a positive number`,
    );
  });

  test("an input that is no object is refused: arguments are always one", () => {
    expect(() => tool({ ...options(), input: z.string() })).toThrow(
      'The input of the tool "weather" must be an object; its schema says string.',
    );
  });

  test("every error has the code invalid-tool", () => {
    expect(() => tool(options({ name: "" }))).toThrow(expect.objectContaining({ code: "invalid-tool" }));
  });
});

test.each([
  [{ timeoutMs: "5" }, '"timeoutMs" of the tool "weather" must be a positive number; found "5".'],
  [
    { needApproval: true },
    'The tool "weather" has "needApproval", which means nothing; there are timeoutMs, needsApproval',
  ],
  [{ timeout: 5 }, 'has "timeout", which means nothing'],
  [{ remember: "all" }, '"remember" of the tool "weather" must be "none", "digest" or "full"; found "all".'],
  [{ needsApproval: "yes" }, '"needsApproval" of the tool "weather" must be true, false or a function; found "yes".'],
  [
    { input: { type: "object", properties: { city: { type: "strin" } } } },
    'is invalid at "properties.city.type": unknown type "strin".',
  ],
  [{ input: { properties: { list: { items: { anyOf: [{ type: ["string", "nul"] }] } } } } }, 'unknown type "nul"'],
])("a tool with %j is refused", (given, sentence) => {
  expect(() => tool(options(given as object))).toThrow(sentence);
});

test("a property may be called type", () => {
  const input = { type: "object", properties: { type: { type: "string" } } };
  expect(tool(options({ input })).name).toBe("weather");
});

describe("tools by name", () => {
  test("each is found under its name, in order", () => {
    const [a, b] = [tool(options({ name: "a" })), tool(options({ name: "b" }))];
    expect([...toolsByName([a, b])]).toEqual([
      ["a", a],
      ["b", b],
    ]);
  });

  test("a name that stands twice is refused", () => {
    expect(() => toolsByName([tool(options()), tool(options())])).toThrow('Two tools have the name "weather"');
  });

  test("a copy with a name that no tool may have is refused", () => {
    const renamed = { ...tool(options()), name: "the weather" };
    expect(() => toolsByName([renamed])).toThrow("A tool's name must be 1 to 64 letters");
  });

  test.for([undefined, {}, options(), () => 1])("what is no tool is refused: %s", (value) => {
    expect(() => toolsByName([value as never])).toThrow("must be made with tool({ … }) or agent.asTool()");
  });
});

test("the function's input has the type of the schema", () => {
  tool({
    name: "typed",
    input: z.object({ city: z.string() }),
    execute(input) {
      expectTypeOf(input).toEqualTypeOf<{ city: string }>();
    },
  });
});
