// Lesson 14: a tool that needs approval pauses the run until a person decides, perhaps tomorrow and in another process.
// A call without a decision keeps waiting. The model reads the reason of a rejection.
import { Agent, memoryStore, tool } from "offstage";
import { scriptedModel } from "offstage/testing";
import * as z from "zod";

const refund = tool({
  name: "refund",
  description: "Pays money back.",
  input: z.object({ order: z.string(), euros: z.number() }),
  needsApproval: ({ euros }) => euros > 20,
  execute: ({ order, euros }) => `${euros} EUR paid back for order ${order}`,
});

const model = scriptedModel([
  {
    toolCalls: [
      { name: "refund", input: { order: "17", euros: 8 } },
      { name: "refund", input: { order: "18", euros: 60 } },
      { name: "refund", input: { order: "19", euros: 900 } },
    ],
  },
  "Orders 17 and 18 are refunded. Order 19 was not: it needs a closer look.",
]);

const store = memoryStore(); // or sqliteStore({ path }), so that another process can resume the run
const agent = new Agent({ model, tools: [refund] });

const paused = await agent.run("Refund orders 17, 18 and 19.", { session: store.session("desk") });
console.log(`${paused.outcome.status}: ${paused.outcome.message}`);

// Waiting calls are in `paused.approvals`, and in the record of the run, for code that has only the store.
const { approvals = [] } = (await store.runs.get(paused.runId)) ?? {};
for (const { toolName, input } of approvals) console.log(`  ${toolName} ${JSON.stringify(input)}`);
const [small, large] = approvals;
if (small === undefined || large === undefined) throw new Error("two calls should wait");

// Decide one call. The run still waits for the other.
const waiting = await agent.resume(paused.runId, { store, approve: [small.toolCallId] });
console.log(`\n${waiting.outcome.status}: ${waiting.approvals.length} call is left`);

const reject = [{ toolCallId: large.toolCallId, reason: "Too much for one order." }];
const done = await agent.resume(paused.runId, { store, reject });
console.log(`\n${done.outcome.status}: ${done.output}`);

console.log("\nWhat the model read:");
for (const { content, metadata } of done.messages.filter({ role: "tool" })) {
  console.log(`  ${metadata?.isError ? "no " : "yes"} ${content}`);
}
await store.close();
