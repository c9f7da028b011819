// Structured output: the answer fits the schema, or the run says that it does not.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent, AgentBuilder } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echo, echoing, glance } from "../support/cast.ts";

const Person = z.object({ name: z.string(), age: z.number().int() });

function agentOf(script: readonly ScriptEntry[], outputRetries?: number) {
  const model = scriptedModel(script);
  const agent = new Agent({
    model,
    tools: [echo],
    output: Person,
    separateToolTrace: true,
    ...(outputRetries === undefined ? undefined : { outputRetries }),
  });
  return { agent, model };
}

const ada = '{"name": "Ada", "age": 36}';

describe("an answer that fits", () => {
  for (const [kind, text] of [
    ["as it is", ada],
    ["in a fence", `\`\`\`json\n${ada}\n\`\`\``],
    ["in a fence without a language", `\`\`\`\n${ada}\n\`\`\`\n`],
    ["with blanks around it", `\n  ${ada}  \n`],
  ] as const) {
    bothWays(`${kind} is the output, checked and typed`, async ({ play }) => {
      const { output, text: said, outcome } = await play(agentOf([text]).agent, "Who?");
      const typed: { name: string; age: number } = output;
      expect(typed).toEqual({ name: "Ada", age: 36 });
      expect(said).toBe(text);
      expect(outcome.status).toBe("completed");
    });
  }

  bothWays("after tools is the output", async ({ play }) => {
    const { output } = await play(agentOf([calls(echoing("a")), ada]).agent, "Who?");
    expect(output).toEqual({ name: "Ada", age: 36 });
  });

  bothWays("is what the schema makes of it", async ({ play }) => {
    const agent = AgentBuilder.base()
      .withModel(scriptedModel(['{"at": "7"}']))
      .withOutput(z.object({ at: z.coerce.number(), by: z.string().default("me") }))
      .build();
    expect((await play(agent, "When?")).output).toEqual({ at: 7, by: "me" });
  });

  bothWays("with the last step that is allowed is the output", async ({ play }) => {
    expect((await play(agentOf([ada]).agent, "Who?", { maxSteps: 1 })).output).toEqual({ name: "Ada", age: 36 });
  });
});

bothWays("the model is told the schema, by the port and in words", async ({ play }) => {
  const { agent, model } = agentOf([ada]);
  await play(agent, "Who?");
  const [request] = model.requests;
  expect(request?.options.responseFormat).toMatchObject({
    type: "json",
    schema: { properties: { age: { type: "integer" } } },
  });
  expect(glance(request?.messages ?? [])[0]).toMatch(/^system: .*JSON Schema/);
});

describe("an answer that does not fit", () => {
  bothWays("is sent back with the reason, and the next one counts", async ({ play }) => {
    const { agent, model } = agentOf(["Ada is 36.", '{"name": "Ada", "age": "36"}', ada]);
    const { output, state, steps } = await play(agent, "Who?");
    expect(output).toEqual({ name: "Ada", age: 36 });
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toMatch(/^user: Your answer is not valid JSON/);
    expect(glance(model.requests[2]?.messages ?? []).at(-1)).toMatch(
      /^user: Your answer does not match the schema:\n- age: /,
    );
    expect(steps.map(({ correction }) => correction?.reason)).toEqual([
      "output-mismatch",
      "output-mismatch",
      undefined,
    ]);
    expect(glance(state.messages)).toEqual(["user: Who?", `assistant: ${ada}`]);
  });

  for (const [retries, tries] of [
    [undefined, 3],
    [0, 1],
    [1, 2],
  ] as const) {
    bothWays(`fails the run after ${tries} tries with ${retries ?? "the default"} retries`, async ({ fail }) => {
      const { agent, model } = agentOf(Array(5).fill("Nope."), retries);
      const error = await fail(agent, "Who?");
      expect(error.code).toBe("output-mismatch");
      expect(model.callCount).toBe(tries);
      expect(error.result).toMatchObject({
        output: undefined,
        outcome: { status: "failed", reason: "retry-limit" },
        usage: { totalTokens: 15 * tries },
      });
      expect(error.result.steps).toHaveLength(tries);
      expect(glance(error.result.state.messages)).toEqual(["user: Who?"]);
    });
  }

  bothWays("goes back as often as the builder says", async ({ fail }) => {
    const model = scriptedModel(() => "Nope.");
    const builder = AgentBuilder.base().withModel(model).withOutput(Person).withOutputRetries(1);
    expect((await fail(builder.build(), "Who?")).code).toBe("output-mismatch");
    expect(model.callCount).toBe(2);
  });

  bothWays("because the check throws is sent back with what it said", async ({ play }) => {
    let checks = 0;
    const standard = Person["~standard"];
    const validate = (value: unknown) => {
      if (++checks === 1) throw new Error("the register is closed");
      return standard.validate(value);
    };
    const odd = { "~standard": { ...standard, validate } };
    const model = scriptedModel([ada, ada]);
    const { output } = await play(new Agent({ model, output: odd }), "Who?");
    expect(output).toEqual({ name: "Ada", age: 36 });
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toContain("- the register is closed");
  });

  bothWays("because it is nested too deep is sent back", async ({ play }) => {
    const deep = `${'{"a":'.repeat(9_000)}1${"}".repeat(9_000)}`;
    const { agent, model } = agentOf([deep, ada]);
    expect((await play(agent, "Who?")).output).toEqual({ name: "Ada", age: 36 });
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toContain("nested too deep");
  });

  bothWays("a JSON Schema is sent back with its problems", async ({ play }) => {
    const output = { type: "object", properties: { age: { type: "integer", not: { const: 0 } } }, required: ["age"] };
    const model = scriptedModel(['{"age":0}', '{"age":36}']);
    expect((await play(new Agent({ model, output }), "Who?")).output).toEqual({ age: 36 });
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toContain('- age must not match {"const":0}');
  });

  bothWays("counts retries in a row only", async ({ play }) => {
    const { agent } = agentOf(["No.", "No.", calls(echoing("a")), "No.", "No.", ada]);
    expect((await play(agent, "Who?")).output).toEqual({ name: "Ada", age: 36 });
  });

  bothWays("when a limit stops the run leaves no output and its text", async ({ play }) => {
    const { output, text, outcome } = await play(agentOf(["Not JSON."]).agent, "Who?", { maxSteps: 1 });
    expect({ output, text, reason: outcome.reason }).toEqual({
      output: undefined,
      text: "Not JSON.",
      reason: "step-limit",
    });
  });
});

test("an answer of a fence and blank lines without end is read in time that grows with its length", async () => {
  const endless = `\`\`\`${"\n".repeat(100_000)}.`;
  const agent = new Agent({ model: scriptedModel([endless, "{}"]), output: { type: "object" } });
  const startedAt = performance.now();
  expect(await agent.run("Go")).toMatchObject({ output: {} });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test.for([
  ["a value that is no schema", 5, 'The schema of the output of agent "clerk" is neither a Standard Schema'],
  [
    "a reference to nothing",
    { $ref: "#/$defs/a" },
    'The schema of the output of agent "clerk" is invalid: "$ref" leads',
  ],
] as const)("an output that is %s is refused with the code invalid-argument", ([, output, sentence]) => {
  const define = () => new Agent({ name: "clerk", model: scriptedModel(["x"]), output: output as never });
  expect(define).toThrow(sentence);
  expect(define).toThrow(expect.objectContaining({ code: "invalid-argument" }));
});
