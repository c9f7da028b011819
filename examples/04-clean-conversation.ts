// Lesson 4: the conversation holds what was said. The tool trace behind it is kept separately, and is not lost.
// `execute` takes a state and returns the next one, so you can store the conversation anywhere.
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

// The model saw the table while it worked. The next turn does not see it, but it can still be queried:
console.log("\nOffstage:");
for (const step of first.steps) {
  for (const { toolName, output } of step.toolResults) {
    console.log(`  ${toolName} gave ${String(output).length} characters in step ${step.index}`);
  }
}
const [call] = agent.messages.toolSummary();
console.log(`  agent.messages knows of ${call?.callCount} call of "${call?.toolName}"`);
