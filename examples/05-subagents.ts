// Lesson 5: an agent can be a tool of another agent. The parent sees one result: the answer of the subagent.
// A subagent has its own run id. Its steps, tools and tokens are in the parent's result.
import { Agent, tool } from "offstage";
import { scriptedModel } from "offstage/testing";
import * as z from "zod";

const search = tool({
  name: "search",
  description: "Searches the archive.",
  input: z.object({ query: z.string() }),
  execute: ({ query }) => `Three articles about ${query}, the oldest from 1611.`,
});

const researcher = new Agent({
  name: "researcher",
  description: "Finds out facts and gives them in one sentence.",
  model: scriptedModel([
    { toolCalls: [{ name: "search", input: { query: "trapdoors" } }] },
    { toolCalls: [{ name: "search", input: { query: "trapdoors in The Tempest" } }] },
    "The oldest source for a stage trapdoor in The Tempest is from 1611.",
  ]),
  tools: [search],
});

const writerModel = scriptedModel([
  { toolCalls: [{ name: "researcher", input: { prompt: "When were trapdoors first used in The Tempest?" } }] },
  "Trapdoors have been part of The Tempest since 1611.",
]);
const writer = new Agent({ name: "writer", model: writerModel, tools: [researcher.asTool()] });

const result = await writer.run("Write one sentence about trapdoors.");
console.log(result.output);

console.log("\nThe writer's model saw of it:");
for (const message of writerModel.requests[1]?.messages ?? []) {
  if (message.role === "tool") console.log(`  ${message.content}`);
}

console.log("\nWhat the researcher did for it:");
for (const child of result.children) {
  for (const { toolName, calls } of child.messages.toolSummary()) {
    for (const call of calls) console.log(`  ${child.agent}: ${toolName} ${call.inputText} -> ${call.result}`);
  }
  console.log(
    `  ${child.steps.length} steps, ${child.usage.totalTokens} of the ${result.usage.totalTokens} tokens in all`,
  );
}
