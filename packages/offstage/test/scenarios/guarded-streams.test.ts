// Streams with guardrails: what a reader sees, and what an invalid verdict does.
import { expect, test } from "vitest";
import { Agent, type OutputGuardrail, tool } from "../../src/index.ts";
import type { CriterionFunction } from "../../src/state/criterion.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const noPasswords: OutputGuardrail = { name: "no-passwords", check: ({ text }) => !/hunter2/.test(text) };

async function textOf(agent: Agent): Promise<string> {
  let text = "";
  for await (const delta of agent.stream("Tell me.").text) text += delta;
  return text;
}

test("a stream shows nothing of an answer that a guardrail blocks", async () => {
  const agent = new Agent({ model: scriptedModel(["The password is hunter2."]), outputGuardrails: [noPasswords] });
  expect(await textOf(agent)).toBe("");
});

test("a stream shows an answer once it has passed the guardrail", async () => {
  const look = tool({ name: "look", execute: () => "seen" });
  const script = [{ text: "Let me see. ", toolCalls: [{ name: "look" }] }, "It is sunny."];
  const agent = new Agent({ model: scriptedModel(script), tools: [look], outputGuardrails: [noPasswords] });
  expect(await textOf(agent)).toBe("Let me see. It is sunny.");
});

test.for([[], [noPasswords]])(
  "a stream shows a draft that is sent back once, guarded or not",
  async (outputGuardrails) => {
    const stopWhen: CriterionFunction = ({ stepCount }) =>
      stepCount === 1
        ? { decision: "continue", reason: "more", message: "More.", feedback: "Tell me more." }
        : undefined;
    const agent = new Agent({ model: scriptedModel(["It is sunny. ", "And warm."]), stopWhen, outputGuardrails });
    expect(await textOf(agent)).toBe("It is sunny. And warm.");
  },
);

const invalid = [null, 0, [], { tripwireTriggered: true }].map((verdict) => ({
  shown: JSON.stringify(verdict),
  verdict,
}));
test.for(invalid)("a guardrail that returns $shown fails the run", async ({ verdict }) => {
  const guardrail = { name: "odd", check: () => verdict as unknown as boolean };
  const agent = new Agent({ model: scriptedModel(["Hello."]), inputGuardrails: [guardrail] });
  const run = agent.run("Hi.");
  await expect(run).rejects.toMatchObject({ code: "guardrail-failed", message: expect.stringContaining('"odd"') });
});

test("a call that waits for approval emits no tool-start and has no result", async () => {
  const pay = tool({ name: "pay", needsApproval: true, execute: () => "paid" });
  const agent = new Agent({ model: scriptedModel([{ toolCalls: [{ name: "pay" }] }, "Paid."]), tools: [pay] });
  const stream = agent.stream("Pay.");
  const types: string[] = [];
  for await (const event of stream) types.push(event.type);
  expect(types).not.toContain("tool-start");
  const result = await stream.result;
  expect(result.messages.all().map(({ role }) => role)).toEqual(["user", "assistant"]);
  const resumed = await agent.resume(result.state, { approve: result.approvals });
  expect(resumed.messages.all().map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
});
