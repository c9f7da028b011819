// Lesson 29: choose tools, model and instructions for each step. A function gets the context of the run and the number of the step.
// It is called once a step, and again when a run is resumed. The record shows what it returned.
import { Agent, memoryStore, type Tool, tool } from "offstage";
import { scriptedModel } from "offstage/testing";

const search = tool({ name: "search", description: "Searches the orders.", execute: () => "order 7, 12 euros" });
const refund = tool({ name: "refund", description: "Pays an order back.", execute: () => "refunded" });
const plans: Record<string, Tool[]> = { free: [search], gold: [search, refund] };

const small = scriptedModel(
  [
    { toolCalls: [{ name: "search" }] }, // for acme
    { toolCalls: [{ name: "search" }] }, // for beta
  ],
  { modelId: "small" },
);
const large = scriptedModel(
  [
    { toolCalls: [{ name: "refund" }] },
    "Your order was refunded.",
    { toolCalls: [{ name: "refund" }] },
    "I cannot refund orders on your plan.",
  ],
  { modelId: "large" },
);

const agent = new Agent({
  name: "desk",
  model: (_, { step }) => (step === 1 ? small : large), // the first step is easy
  tools: (context) => plans[String(context.get("plan"))] ?? [],
  instructions: (context) => `You help the customers of ${context.get("tenant")}.`,
});

const store = memoryStore();
for (const context of [
  { tenant: "acme", plan: "gold" },
  { tenant: "beta", plan: "free" },
]) {
  const result = await agent.run("Refund my last order.", { context, session: store.session(context.tenant) });
  console.log(`\n${context.tenant}: ${result.text}`);
  for (const { index } of result.steps) {
    const input = await store.runs.input(result.runId, index);
    const names = (input?.tools ?? []).map((each) => (each as { name: string }).name).join(", ");
    console.log(`  step ${index} on ${input?.modelId}, with ${names}`);
  }
}
await store.close();
