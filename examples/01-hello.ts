// Lesson 1: an agent is a model with a name and instructions. `run` returns its answer, and how the run ended.
// A scripted model plays fixed replies, so that this runs without a key. Lesson 8 uses real models.
import { Agent } from "offstage";
import { scriptedModel } from "offstage/testing";

const model = scriptedModel(["Hello! The house lights are down and everything is ready."]);
const agent = new Agent({ name: "greeter", model, instructions: "You greet people in one sentence." });

const result = await agent.run("Good evening.");

console.log(result.output);
console.log(`\nIt ended as "${result.outcome.status}": ${result.outcome.message}`);
console.log(`It took ${result.steps.length} step and ${result.usage.totalTokens} tokens.`);

// The scripted model keeps its requests, so that tests can check them.
console.log("\nThe model was sent:");
for (const message of model.requests[0]?.messages ?? []) console.log(`  ${message.role}: ${message.content}`);
