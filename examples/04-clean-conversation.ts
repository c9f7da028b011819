// Lesson 4: a conversation holds what was said; the tool trace that led to it is kept apart, and is not lost.
// `execute` takes a state and gives the next one, so you can hold the conversation wherever you like.
import { AgentBuilder, AgentState, tool } from "offstage";
import { scriptedModel } from "offstage/testing";
import * as z from "zod";

const ledger = tool({
  name: "ledger",
  description: "The bookings of one month, as a long table.",
  input: z.object({ month: z.string() }),
  execute: ({ month }) => Array.from({ length: 200 }, (_, i) => `${month}-${i}: ${i * 10} EUR`).join("\n"),
});

const model = scriptedModel([
  { text: "I will look at the books.", toolCalls: [{ name: "ledger", input: { month: "May" } }] },
  "May brought in 199,000 EUR.",
  "The best booking was 1,990 EUR.",
]);

const agent = AgentBuilder.base().withModel(model).withTools(ledger).withSeparatedToolTrace().build();

const first = await agent.execute(AgentState.empty().withUserMessage("How was May?"));
const second = await agent.execute(first.withUserMessage("And the best booking?"));

console.log("The conversation:");
for (const message of second.messages) console.log(`  ${message.role}: ${message.content}`);

console.log("\nWhat each model call was sent:");
model.requests.forEach(({ messages }, index) => {
  console.log(`  call ${index + 1}: ${messages.map(({ role }) => role).join(", ")}`);
});

// The model saw the table while it worked; the next turn does not carry it along. It is still there to be asked:
console.log("\nOffstage:");
for (const step of first.steps) {
  for (const { toolName, output } of step.toolResults) {
    console.log(`  ${toolName} gave ${String(output).length} characters in step ${step.index}`);
  }
}
const [call] = agent.messages.toolSummary();
console.log(`  agent.messages knows of ${call?.callCount} call of "${call?.toolName}"`);
