// Structured output can be read while it is written, as partial values that grow to the whole.
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent, type AgentOptions, reactDriver } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { calls, echo, echoing, patient } from "../support/cast.ts";

const ticket = z.object({ title: z.string(), minutes: z.number(), tags: z.array(z.string()) });
type Ticket = z.infer<typeof ticket>;
const text = '{ "title": "Curtain is stuck", "minutes": 15, "tags": ["stage", "urgent"] }';
const whole = { title: "Curtain is stuck", minutes: 15, tags: ["stage", "urgent"] };

const agentOf = (script: readonly ScriptEntry[], options: Partial<AgentOptions<Ticket>> = {}) =>
  new Agent({ model: scriptedModel(script), output: ticket, tools: [echo, patient], ...options });

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

describe("stream.partial", () => {
  test("yields a value whenever it has grown; the last one is complete", async () => {
    const stream = agentOf([text]).stream("Go");
    expect(await collect(stream.partial)).toEqual([
      {},
      { title: "Curtain " },
      { title: "Curtain is " },
      { title: "Curtain is stuck" },
      { title: "Curtain is stuck", minutes: 15 },
      { title: "Curtain is stuck", minutes: 15, tags: ["stage"] },
      whole,
    ]);
    expect((await stream.result).output).toEqual(whole);
  });

  test("skips text beside tool calls, and begins again after an answer that did not fit", async () => {
    const script = [{ text: "I look.", toolCalls: [echoing("a")] }, '{ "title": 7 }', text];
    const values = await collect(agentOf(script).stream("Go").partial);
    expect(values.slice(0, 3)).toEqual([{}, { title: 7 }, {}]);
    expect(values.at(-1)).toEqual(whole);
  });

  test("reads the answer of a ReAct agent, and one in a code fence", async () => {
    const react = agentOf([`Thought: I know.\nFinal Answer: ${text}`], { driver: reactDriver() });
    expect((await collect(react.stream("Go").partial)).at(-1)).toEqual(whole);
    const fenced = agentOf([`\`\`\`json\n${text}\n\`\`\``]);
    expect((await collect(fenced.stream("Go").partial)).at(-1)).toEqual(whole);
  });

  test("yields nothing that output guardrails have not passed", async () => {
    const passing = { name: "pass", check: () => true };
    const blocking = { name: "block", check: () => false };
    expect(await collect(agentOf([text], { outputGuardrails: [passing] }).stream("Go").partial)).toEqual([whole]);
    expect(await collect(agentOf([text], { outputGuardrails: [blocking] }).stream("Go").partial)).toEqual([]);
  });

  test("works beside another reader, and with a resumed run", async () => {
    const [first, second] = agentOf([text]).stream("Go").tee();
    const [values, pieces] = await Promise.all([collect(first.partial), collect(second.text)]);
    expect([values.at(-1), pieces.join("")]).toEqual([whole, text]);
    const gate = { ...echo, name: "gate", needsApproval: true };
    const agent = agentOf([calls({ name: "gate", input: { text: "a" } }), text], { tools: [gate] });
    const { state, approvals } = await agent.run("Go");
    const resumed = agent.resumeStream(state, { approve: approvals.map(({ toolCallId }) => toolCallId) });
    expect((await collect(resumed.partial)).at(-1)).toEqual(whole);
  });

  test("yields a plain number when it is complete", async () => {
    const agent = new Agent({ model: scriptedModel(["42"]), output: z.number() });
    expect(await collect(agent.stream("Go").partial)).toEqual([42]);
  });

  test("aborts the run if it is left early", async () => {
    const stream = agentOf([text]).stream("Go");
    for await (const value of stream.partial) if (value.title !== undefined) break;
    await expect(stream.result).rejects.toMatchObject({ name: "AbortError" });
  });

  test("of an agent without an output schema says what to do, and leaves the stream readable", async () => {
    const stream = new Agent({ name: "guide", model: scriptedModel(["Hi."]) }).stream("Go");
    await expect(collect(stream.partial)).rejects.toMatchObject({
      code: "invalid-argument",
      message: expect.stringMatching(/"guide" has no output schema.*stream\.text/),
    });
    expect((await collect(stream.text)).join("")).toBe("Hi.");
  });
});
