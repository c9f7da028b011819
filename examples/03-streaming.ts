// Lesson 3: `stream` is the same run as events: text as it is written, tools as they start and end.
// Leaving the loop early aborts the run. The text so far is kept.
import { Agent, tool } from "offstage";
import { scriptedModel } from "offstage/testing";

const dice = tool({ name: "roll_dice", description: "Rolls two dice.", execute: () => [3, 5] });
const agent = new Agent({
  model: scriptedModel([
    { text: "Let me roll. ", toolCalls: [{ name: "roll_dice" }] },
    "You rolled a three and a five: eight in all.",
    "One, two, three, four, five, six, seven, eight.",
  ]),
  tools: [dice],
});

const stream = agent.stream("Roll the dice for me.");
for await (const event of stream) {
  if (event.type === "step-start") console.log(`\n[step ${event.step}]`);
  if (event.type === "text-delta") process.stdout.write(event.delta);
  if (event.type === "tool-start") console.log(`\n[${event.toolName} starts]`);
  if (event.type === "tool-end") console.log(`[${event.toolName} gave ${event.result.content}]`);
}
const result = await stream.result;
console.log(`\n[${result.outcome.status} after ${result.steps.length} steps]\n`);

// Reads only the text, and leaves after the third word.
const counting = agent.stream("Count to eight.");
let words = 0;
for await (const text of counting.text) {
  process.stdout.write(text);
  if (++words === 3) break;
}
const reason = await counting.result.catch((error: Error) => `${error.name}: ${error.message}`);
console.log(`\n[${reason}]`);
console.log(`[kept: ${JSON.stringify(agent.messages.last()[0]?.content)}]`);
