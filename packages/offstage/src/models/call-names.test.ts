import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Agent, tool } from "../index.ts";
import { scriptedModel } from "../testing/index.ts";
import { mintCallId, shortHash, validCallId, validToolName, withToolNames } from "./call-names.ts";

const nine = /^[A-Za-z0-9]{9}$/;
const word = /^[A-Za-z0-9_-]{1,64}$/;

describe("ids of calls", () => {
  test("a new id has nine letters and digits, which every provider accepts", () => {
    const ids = Array.from({ length: 1000 }, mintCallId);
    expect(ids.filter((id) => !nine.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(1000);
  });

  test("an id that the provider accepts stays as it is", () => {
    expect(validCallId("call_1", word)).toBe("call_1");
  });

  test("any other id becomes nine letters and digits, always the same ones", () => {
    fc.assert(
      fc.property(fc.string(), (id) => {
        const valid = validCallId(id, nine);
        expect(valid).toMatch(nine);
        expect(validCallId(id, nine)).toBe(valid);
        expect(validCallId(valid, nine)).toBe(valid);
      }),
    );
  });

  test("different ids become different ones", () => {
    const ids = Array.from({ length: 20_000 }, (_, n) => `functions.weather:${n}`);
    expect(new Set(ids.map(shortHash)).size).toBe(20_000);
  });
});

describe("names of tools", () => {
  const strict = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

  test.for([
    ["weather", "weather"],
    ["weather.get now", "weather_get_now"],
    ["3d", "_3d"],
    ["", "_"],
  ] as const)("%j is sent as %j", ([name, valid]) => {
    expect(validToolName(name, strict)).toBe(valid);
  });

  test("every name becomes valid", () => {
    fc.assert(fc.property(fc.string({ maxLength: 200 }), (name) => strict.test(validToolName(name, strict))));
  });

  test("long names that differ at their end stay different", () => {
    const long = "a".repeat(80);
    expect(validToolName(`${long}b`, strict)).not.toBe(validToolName(`${long}c`, strict));
  });
});

const script = () => scriptedModel([{ toolCalls: [{ name: "_3d", input: {} }] }, "Done."], { provider: "google.test" });

test("a model is used as it is if its provider accepts all names", () => {
  const model = script();
  expect(withToolNames(model, ["weather"])).toBe(model);
});

test.for(["run", "stream"] as const)("a refused name is sent as a valid one and mapped back: %s", async (face) => {
  const model = script();
  const render = tool({ name: "3d", execute: () => "rendered" });
  const agent = new Agent({ model, tools: [render], modelSettings: { toolChoice: { type: "tool", toolName: "3d" } } });
  const result = await (face === "run" ? agent.run("Render.") : agent.stream("Render.").result);
  expect(result.steps[0]?.toolResults).toMatchObject([{ toolName: "3d", content: "rendered" }]);
  const { toolChoice } = model.requests[0]?.options ?? {};
  const { tools, prompt } = model.requests[1]?.options ?? {};
  expect(tools).toMatchObject([{ name: "_3d" }]);
  expect(toolChoice).toEqual({ type: "tool", toolName: "_3d" });
  expect(prompt?.slice(1).map(({ content }) => (content[0] as { toolName: string }).toolName)).toEqual(["_3d", "_3d"]);
});

test("two tools that would get the same name are refused when the agent is made", () => {
  const tools = ["3d", "_3d"].map((name) => tool({ name, execute: () => "" }));
  expect(() => new Agent({ model: script(), tools })).toThrow(expect.objectContaining({ code: "invalid-tool" }));
});
