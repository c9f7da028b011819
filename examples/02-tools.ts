// Lesson 2: a tool is a name, a schema and a function. The agent calls it until it can answer.
// A failed call never ends a run: the model reads the error and can try again.
import { Agent, tool } from "offstage";
import { scriptedModel } from "offstage/testing";
import * as z from "zod";

const degrees: Record<string, number> = { Oslo: 4, Lisbon: 19 };

const weather = tool({
  name: "weather",
  description: "The temperature of a city in degrees Celsius.",
  input: z.object({ city: z.string() }),
  execute({ city }) {
    if (!(city in degrees)) throw new Error(`there is no station in "${city}"; try ${Object.keys(degrees).join(", ")}`);
    return { city, celsius: degrees[city] };
  },
});

const model = scriptedModel([
  {
    toolCalls: [
      { name: "weather", input: { city: "Oslo" } },
      { name: "weather", input: { city: "Lissabon" } },
    ],
  },
  { toolCalls: [{ name: "weather", input: { city: "Lisbon" } }] },
  "Lisbon is 15 degrees warmer than Oslo.",
]);

const agent = new Agent({ model, tools: [weather] });
const result = await agent.run("How much warmer is Lisbon than Oslo?");

for (const step of result.steps) {
  console.log(`Step ${step.index}`);
  for (const { toolName, input, content, isError } of step.toolResults) {
    console.log(`  ${isError ? "failed" : "ran   "} ${toolName} ${JSON.stringify(input)} -> ${content}`);
  }
  if (step.text !== "") console.log(`  said   ${step.text}`);
}
