// Lesson 31: tools of the AI SDK, as they are. `fromAiSdkTools` needs nothing of the package `ai`: a tool is an object with a schema
// and a function. What it yields on the way is progress, and `toModelOutput` says what the model sees.
import { Agent } from "offstage";
import { scriptedModel } from "offstage/testing";
import { fromAiSdkTools } from "offstage/tools";
import * as z from "zod";

// In your program: import { tool } from "ai", and tool({ … }) around each of these objects.
const forecast = {
  description: "The forecast for a city.",
  inputSchema: z.object({ city: z.string() }),
  async *execute({ city }: { city: string }) {
    yield { city, status: "asking the station" };
    yield { city, degrees: [19, 21, 24] };
  },
  toModelOutput: ({ output }: { output: { city: string; degrees?: number[] } }) => ({
    type: "text",
    value: `${output.city}: ${output.degrees?.join(", ")} degrees`,
  }),
};
const warn = {
  description: "Warns all users.",
  inputSchema: z.object({ text: z.string() }),
  needsApproval: true,
  execute: ({ text }: { text: string }) => `warned: ${text}`,
};

const model = scriptedModel([
  { toolCalls: [{ name: "forecast", input: { city: "Rome" } }] },
  { toolCalls: [{ name: "warn", input: { text: "It gets hot." } }] },
  "Everybody was warned.",
]);
const agent = new Agent({ model, tools: fromAiSdkTools({ forecast, warn }) });

const stream = agent.stream("Warn people if it gets hot in Rome.");
for await (const event of stream) {
  if (event.type === "tool-progress") console.log("progress:", event.value);
  if (event.type === "tool-end") console.log("result:", event.result.output);
}
const { state, approvals } = await stream.result;
console.log("waits:", approvals.map(({ toolName }) => toolName).join(", "));
console.log((await agent.resume(state, { approve: approvals })).text);
