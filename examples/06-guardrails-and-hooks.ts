// Lesson 6: hooks observe a run and cannot change it. Guardrails can block input, tool calls and answers.
// A blocked run is a result, not an error: the outcome says so, and the blocked text is not returned.
import {
  Agent,
  type AgentHooks,
  type InputGuardrail,
  type OutputGuardrail,
  type ToolInputGuardrail,
  tool,
} from "offstage";
import { scriptedModel } from "offstage/testing";
import * as z from "zod";

const noCardNumbers: InputGuardrail = {
  name: "no-card-numbers",
  check: ({ text }) => (/\b\d{16}\b/.test(text) ? "Please do not send card numbers." : true),
};
const smallRefunds: ToolInputGuardrail = {
  name: "small-refunds",
  check: ({ input }) => (input as { euros: number }).euros <= 50 || "Refunds above 50 EUR need a colleague.",
};
const noPromises: OutputGuardrail = {
  name: "no-promises",
  check: ({ text }) => !text.includes("guarantee"),
};
const hooks: AgentHooks = {
  onToolStart: ({ toolName, call }) => console.log(`  hook: ${toolName} is asked for ${call.inputText}`),
  onGuardrailTrip: ({ trip }) => console.log(`  hook: "${trip.guardrail}" blocked (${trip.stage})`),
};

const refund = tool({
  name: "refund",
  description: "Pays money back.",
  input: z.object({ euros: z.number() }),
  execute: ({ euros }) => `${euros} EUR paid back`,
});

const agent = new Agent({
  model: scriptedModel([
    { toolCalls: [{ name: "refund", input: { euros: 900 } }] },
    "I cannot refund 900 EUR myself; a colleague will write to you.",
    "I guarantee that it will never happen again.",
  ]),
  tools: [refund],
  hooks,
  inputGuardrails: [noCardNumbers],
  toolInputGuardrails: [smallRefunds],
  outputGuardrails: [noPromises],
});

for (const question of ["Refund 900 EUR, please.", "My card is 4111111111111111.", "Will it happen again?"]) {
  console.log(`> ${question}`);
  const { output, outcome } = await agent.run(question);
  console.log(`  ${outcome.status} (${outcome.reason}): ${output || outcome.message}\n`);
}
