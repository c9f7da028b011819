// A subagent may have an input of its own, and its structured output reaches the parent as it is.
import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { Agent, memoryStore, tool, user } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";

const question = z.object({ topic: z.string(), depth: z.number().default(1) });
const facts = z.object({ facts: z.array(z.string()) });

function asked(child: Agent<unknown>, options: object, input: object, script: ScriptEntry[] = ["Done."]) {
  const model = scriptedModel([{ toolCalls: [{ name: "child", input }] }, ...script]);
  return { model, agent: new Agent({ model, tools: [child.asTool(options)] }) };
}

const childOf = (script: ScriptEntry[], options: object = {}) => {
  const model = scriptedModel(script);
  return { model, child: new Agent<unknown>({ name: "child", model, ...options }) };
};

test("the parent's model sees the schema, and the subagent the message that `prompt` makes of the input", async () => {
  const { model: childModel, child } = childOf(["Since 1611."]);
  const prompt = ({ topic, depth }: z.infer<typeof question>) => `About ${topic}, ${depth} deep.`;
  const { agent, model } = asked(child, { input: question, prompt }, { topic: "trapdoors" });
  const { steps } = await agent.run("Write.");
  expect(childModel.requests[0]?.messages.at(-1)?.content).toBe("About trapdoors, 1 deep.");
  expect(model.requests[0]?.options.tools?.[0]).toMatchObject({ inputSchema: { required: ["topic"] } });
  expect(steps[0]?.toolResults[0]?.output).toBe("[Subagent: child] Since 1611.");
});

test("without `prompt` the input is the message, as JSON", async () => {
  const { model, child } = childOf(["Ok."]);
  await asked(child, { input: question }, { topic: "a", depth: 2 }).agent.run("Write.");
  expect(model.requests[0]?.messages.at(-1)?.content).toBe('{"topic":"a","depth":2}');
});

test("`prompt` may return a message with files, or a promise", async () => {
  const { model, child } = childOf(["Ok."]);
  const prompt = async () => user([{ type: "text", text: "Look." }]);
  await asked(child, { input: question, prompt }, { topic: "a" }).agent.run("Write.");
  expect(model.requests[0]?.messages.at(-1)?.content).toBe("Look.");
});

test("an input that does not fit and a `prompt` that throws are results, not failures of the run", async () => {
  const { child } = childOf([]);
  const unfit = await asked(child, { input: question }, { topic: 5 }).agent.run("Write.");
  expect(unfit.steps[0]?.toolResults[0]).toMatchObject({ isError: true, output: expect.stringContaining("topic") });
  const prompt = () => {
    throw new Error("no topic");
  };
  const failed = await asked(child, { input: question, prompt }, { topic: "a" }).agent.run("Write.");
  expect(failed.steps[0]?.toolResults[0]).toMatchObject({
    isError: true,
    output: 'The tool "child" failed: no topic',
  });
});

test("structured output is the value of the result, and JSON for the parent's model", async () => {
  const store = memoryStore();
  const { child } = childOf(['{ "facts": ["1611"] }'], { output: facts });
  const { agent, model } = asked(child, {}, { prompt: "Facts?" });
  const { steps, children } = await agent.run("Write.", { session: store.session("s") });
  const [result] = steps[0]?.toolResults ?? [];
  expect(result?.output).toEqual({ facts: ["1611"] });
  expect(result?.childRunId).toBe(children[0]?.runId);
  expect(model.requests[1]?.messages.at(-1)?.content).toBe('{"facts":["1611"]}');
  expect((await store.query({ session: "s" })).toolSummary()[0]?.results).toEqual([{ facts: ["1611"] }]);
});

test("a subagent with an output schema that is stopped is an error that says why", async () => {
  const look = tool({ name: "look", execute: () => "seen" });
  const { child } = childOf([{ toolCalls: [{ name: "look" }] }], { output: facts, tools: [look], maxSteps: 1 });
  const { steps } = await asked(child, {}, { prompt: "Facts?" }).agent.run("Write.");
  expect(steps[0]?.toolResults[0]).toMatchObject({
    isError: true,
    output: expect.stringContaining("[Subagent: child] Failed"),
  });
});

test("structured output of a subagent that waited for approval arrives as it is, too", async () => {
  const store = memoryStore();
  const pay = tool({ name: "pay", needsApproval: true, execute: () => "paid" });
  const { child } = childOf([{ toolCalls: [{ name: "pay" }] }, '{ "facts": ["paid"] }'], {
    output: facts,
    tools: [pay],
  });
  const { agent } = asked(child, { input: question }, { topic: "a" });
  const { runId, approvals } = await agent.run("Pay.", { session: store.session("s") });
  const { steps } = await agent.resume(runId, { store, approve: approvals });
  expect(steps[0]?.toolResults[0]?.output).toEqual({ facts: ["paid"] });
});

test("the input is typed by its schema", () => {
  const { child } = childOf([]);
  child.asTool({
    input: question,
    prompt: (input) => {
      expectTypeOf(input).toEqualTypeOf<{ topic: string; depth: number }>();
      return input.topic;
    },
    needsApproval: ({ depth }) => depth > 3,
  });
  child.asTool({ prompt: ({ prompt }) => `Please: ${prompt}`, needsApproval: ({ prompt }) => prompt === "" });
  expect(() => child.asTool({ prompt: "x" as never })).toThrow('"prompt" must be a function of the input');
});
