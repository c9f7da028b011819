// Lesson 27: a person approves a call with changes. The tool runs with the changed input, and the model reads it as its own call,
// so it does not repeat the original one. The record keeps both.
import { Agent, memoryStore, tool } from "offstage";
import { scriptedModel } from "offstage/testing";
import * as z from "zod";

const refund = tool({
  name: "refund",
  description: "Pays money back.",
  input: z.object({ order: z.string(), euros: z.number().max(100) }),
  needsApproval: true,
  execute: ({ order, euros }) => `${euros} EUR paid back for order ${order}`,
});
const model = scriptedModel([
  { toolCalls: [{ name: "refund", id: "r1", input: { order: "17", euros: 80 } }] },
  "Order 17: 8 EUR are on their way.",
]);
const store = memoryStore();
const agent = new Agent({ model, tools: [refund] });
const { runId, approvals } = await agent.run("Refund order 17.", { session: store.session("desk") });
console.log("asked:", JSON.stringify(approvals[0]?.input));

// The new input is checked by the schema of the tool before anything is written.
try {
  await agent.resume(runId, { store, approve: [{ toolCallId: "r1", input: { order: "17", euros: 800 } }] });
} catch (error) {
  console.log("refused:", (error as Error).message.split("\n")[0]);
}

const done = await agent.resume(runId, { store, approve: [{ toolCallId: "r1", input: { order: "17", euros: 8 } }] });
console.log("result:", done.messages.filter({ role: "tool" })[0]?.content);
console.log("answer:", done.output);

const seen = await store.runs.input(runId, 2);
const call = seen?.messages.flatMap((message) => (message.role === "assistant" ? (message.tool_calls ?? []) : []))[0];
console.log("the model saw its call as:", call?.function.arguments);
await store.close();
