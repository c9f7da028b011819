import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { splitTools, type ToolOptions, tool } from "./tool.ts";

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

  test("it is frozen", () => {
    expect(Object.isFrozen(tool(options()))).toBe(true);
  });

  test("its function may use `this`", () => {
    class Counter {
      readonly name = "count";
      #count = 0;

      execute() {
        return ++this.#count;
      }
    }
    expect(tool(new Counter()).execute({}, {} as never)).toBe(1);
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
    expect(() => tool(options({ [field]: value }))).toThrow(`"${field}" must be a positive number; found ${value}.`);
  });

  test("an input that is no object is refused: arguments are always one", () => {
    expect(() => tool({ ...options(), input: z.string() })).toThrow(
      'The input of the tool "weather" must be an object; its schema says string.',
    );
  });

  test("a wrong name, function or schema has the code invalid-tool", () => {
    for (const wrong of [{ name: "" }, { execute: undefined as never }, { input: { type: "strin" } }])
      expect(() => tool(options(wrong))).toThrow(expect.objectContaining({ code: "invalid-tool" }));
  });
});

describe("a wrong option is refused, with the code invalid-argument", () => {
  test.for([
    [{ timeoutMs: "5" }, '"timeoutMs" must be a positive number; found "5".'],
    [{ idempotent: "yes" }, '"idempotent" must be true or false; found "yes".'],
    [{ description: 5 }, '"description" must be text; found 5.'],
    [{ remember: "all" }, '"remember" must be "none", "digest" or "full"; found "all".'],
    [{ needsApproval: "yes" }, '"needsApproval" must be true, false or a function; found "yes".'],
    [{ needsApproval: null }, '"needsApproval" must be true, false or a function; found null.'],
    [{ needApproval: true }, 'Unknown tool option "needApproval". Use "needsApproval" instead. Valid options: name, '],
    [{ timeout: 5 }, 'Unknown tool option "timeout". Use "timeoutMs" instead.'],
    [{ inputSchema: {} }, 'Unknown tool option "inputSchema". Use "input" instead.'],
    [{ parameters: {} }, 'Unknown tool option "parameters". Use "input" instead.'],
    [{ strict: true }, 'Unknown tool option "strict". Valid options: name, description, input, execute, timeoutMs,'],
  ] as const)("%j", ([given, sentence]) => {
    const define = () => tool(options(given as object));
    expect(define).toThrow(sentence);
    expect(define).toThrow(expect.objectContaining({ code: "invalid-argument" }));
  });

  test("and so is a value that is no options", () => {
    for (const value of [null, undefined, 5, "weather"])
      expect(() => tool(value as never)).toThrow(`The tool options must be an object; found`);
  });

  test("but one that is undefined counts as left out", () => {
    const left = { description: undefined, timeoutMs: undefined, needsApproval: undefined, remember: undefined };
    expect(tool({ ...options(), ...left }).needsApproval).toBe(false);
  });
});

test("an invalid schema is refused, with its place", () => {
  const input = { type: "object", properties: { city: { type: "strin" } } };
  expect(() => tool(options({ input }))).toThrow(
    'The schema of the tool "weather" is invalid at "properties.city.type": unknown type "strin".',
  );
});

test("a property may be called type", () => {
  const input = { type: "object", properties: { type: { type: "string" } } };
  expect(tool(options({ input })).name).toBe("weather");
});

describe("tools by name", () => {
  test("each is found under its name, in order", () => {
    const [a, b] = [tool(options({ name: "a" })), tool(options({ name: "b" }))];
    expect([...splitTools([a, b]).tools]).toEqual([
      ["a", a],
      ["b", b],
    ]);
  });

  test("two tools with one name are refused", () => {
    expect(() => splitTools([tool(options()), tool(options())])).toThrow('Two tools have the name "weather"');
  });

  test("a copy with a name that no tool may have is refused", () => {
    const renamed = { ...tool(options()), name: "the weather" };
    expect(() => splitTools([renamed])).toThrow("A tool's name must be 1 to 64 letters");
  });

  test.for([undefined, {}, options(), () => 1])("a value that is no tool is refused: %s", (value) => {
    expect(() => splitTools([value as never])).toThrow("must be made with tool({ … }) or agent.asTool()");
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
