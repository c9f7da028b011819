// Lesson 7: with `output: schema` the answer is a checked value, typed by the schema.
// An answer that does not fit goes back to the model with the reason. After two more attempts the run fails.
import { Agent, isOffstageError } from "offstage";
import { scriptedModel } from "offstage/testing";
import * as z from "zod";

const Ticket = z.object({
  title: z.string(),
  priority: z.enum(["low", "high"]),
  minutes: z.number().int().positive(),
});

const model = scriptedModel([
  '{ "title": "Curtain stuck", "priority": "urgent", "minutes": 15 }',
  '{ "title": "Curtain stuck", "priority": "high", "minutes": 15 }',
]);
const agent = new Agent({ model, output: Ticket });
const result = await agent.run("The curtain is stuck and we open in a quarter of an hour!");
const { steps } = result;
// `result.output` may be undefined: a run stopped by a limit has none. This throws then.
const output = result.requireOutput();

console.log(`${output.title}: priority ${output.priority}, ${output.minutes} minutes`);
console.log(`\nIt took ${steps.length} steps. After the first, the model was told:`);
console.log(steps[0]?.correction?.message.replace(/^/gm, "  "));

// A model that never gets it right is a failure, with everything it did still at hand.
const stubborn = new Agent({ name: "stubborn", model: scriptedModel(() => "As soon as possible!"), output: Ticket });
try {
  await stubborn.run("The curtain is stuck.");
} catch (error) {
  if (!isOffstageError(error, "output-mismatch")) throw error;
  console.log(`\n${error.code}: ${error.message}`);
}
