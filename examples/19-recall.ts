// Lesson 19: tool results are not remembered, but the model can look up its own earlier work with a tool.
// `recallTool` searches everything that was exchanged, by text, tool name or run. Its answers are limited in size.
import { Agent, InMemorySession, tool } from "offstage";
import { recallTool } from "offstage/memory";
import { scriptedModel } from "offstage/testing";

const price = tool({ name: "price", description: "The price of a plant.", execute: () => "A rose costs 12.50." });
const session = new InMemorySession();
const recall = recallTool(session);

const model = scriptedModel([
  { toolCalls: [{ name: "price" }] },
  "Roses are affordable.",
  { toolCalls: [{ name: "recall", input: { tool: "price" } }] },
  ({ messages }) => `I looked it up before: ${/12\.50/.exec(String(messages.at(-1)?.content))?.[0]}.`,
]);
const agent = new Agent({ model, tools: [price, recall], separateToolTrace: true });

console.log((await agent.run("Are roses expensive?", { session })).output);
const second = await agent.run("What exactly did one cost?", { session });
console.log(second.output);
console.log(second.messages.filter({ role: "tool" }).map(({ content }) => content));
