// Structured output: the answer fits the schema, is sent back until it does, or the run has no output.
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
    ["as plain JSON", ada],
    ["in a code fence", `\`\`\`json\n${ada}\n\`\`\``],
    ["in a code fence without a language", `\`\`\`\n${ada}\n\`\`\`\n`],
    ["surrounded by whitespace", `\n  ${ada}  \n`],
  ] as const) {
    bothWays(`${kind} is the output, validated and typed`, async ({ play }) => {
      const { output, text: said, outcome } = await play(agentOf([text]).agent, "Who?");
      const typed: { name: string; age: number } | undefined = output;
      expect(typed).toEqual({ name: "Ada", age: 36 });
      expect(said).toBe(text);
      expect(outcome.status).toBe("completed");
    });
  }

  bothWays("after tool calls is the output", async ({ play }) => {
    const { output } = await play(agentOf([calls(echoing("a")), ada]).agent, "Who?");
    expect(output).toEqual({ name: "Ada", age: 36 });
  });

  bothWays("is transformed by the schema", async ({ play }) => {
    const agent = AgentBuilder.base()
      .withModel(scriptedModel(['{"at": "7"}']))
      .withOutput(z.object({ at: z.coerce.number(), by: z.string().default("me") }))
      .build();
    expect((await play(agent, "When?")).output).toEqual({ at: 7, by: "me" });
  });

  bothWays("in the last allowed step is the output", async ({ play }) => {
    expect((await play(agentOf([ada]).agent, "Who?", { maxSteps: 1 })).output).toEqual({ name: "Ada", age: 36 });
  });
});

bothWays("the model gets the schema through the port and in text", async ({ play }) => {
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
    bothWays(`fails the run at try ${tries} with outputRetries ${retries ?? "left out"}`, async ({ fail }) => {
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

  bothWays("is sent back as often as withOutputRetries() allows", async ({ fail }) => {
    const model = scriptedModel(() => "Nope.");
    const builder = AgentBuilder.base().withModel(model).withOutput(Person).withOutputRetries(1);
    expect((await fail(builder.build(), "Who?")).code).toBe("output-mismatch");
    expect(model.callCount).toBe(2);
  });

  bothWays("because the validator threw is sent back with the error message", async ({ play }) => {
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

  bothWays("a JSON Schema is sent back with the list of problems", async ({ play }) => {
    const output = { type: "object", properties: { age: { type: "integer", not: { const: 0 } } }, required: ["age"] };
    const model = scriptedModel(['{"age":0}', '{"age":36}']);
    expect((await play(new Agent({ model, output }), "Who?")).output).toEqual({ age: 36 });
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toContain('- age must not match {"const":0}');
  });

  bothWays("uses up retries only in a row: a tool call in between resets the count", async ({ play }) => {
    const { agent } = agentOf(["No.", "No.", calls(echoing("a")), "No.", "No.", ada]);
    expect((await play(agent, "Who?")).output).toEqual({ name: "Ada", age: 36 });
  });

  bothWays("when a limit stops the run leaves its text but no output", async ({ play }) => {
    const { output, text, outcome } = await play(agentOf(["Not JSON."]).agent, "Who?", { maxSteps: 1 });
    expect({ output, text, reason: outcome.reason }).toEqual({
      output: undefined,
      text: "Not JSON.",
      reason: "step-limit",
    });
  });
});

test("a very long answer in an unclosed code fence is parsed in linear time", async () => {
  const endless = `\`\`\`${"\n".repeat(100_000)}.`;
  const agent = new Agent({ model: scriptedModel([endless, "{}"]), output: { type: "object" } });
  const startedAt = performance.now();
  expect(await agent.run("Go")).toMatchObject({ output: {} });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test.for([
  ["not a schema", 5, 'The schema of the output of agent "clerk" is neither a Standard Schema'],
  [
    "a schema with a dangling reference",
    { $ref: "#/$defs/a" },
    'The schema of the output of agent "clerk" is invalid: "$ref" leads',
  ],
] as const)("an output that is %s is refused with invalid-argument", ([, output, sentence]) => {
  const define = () => new Agent({ name: "clerk", model: scriptedModel(["x"]), output: output as never });
  expect(define).toThrow(sentence);
  expect(define).toThrow(expect.objectContaining({ code: "invalid-argument" }));
});
