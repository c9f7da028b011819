// Lesson 33: prompt caches and a fallback. `cache: "auto"` marks what a provider should cache; `fallbackModel` calls the next model
// when one fails. The record and the costs name the model that answered.
import { Agent, fallbackModel, memoryStore, tool } from "offstage";
import { scriptedModel } from "offstage/testing";

// A model whose provider wants cache marks, and that fails in the second turn.
const claude = scriptedModel(
  [
    {
      toolCalls: [{ name: "stock", input: {} }],
      usage: { inputTokens: 2_000, outputTokens: 20, cacheWriteTokens: 1_800 },
    },
    { text: "We have 7 left.", usage: { inputTokens: 2_100, outputTokens: 20, cachedInputTokens: 1_800 } },
    Object.assign(new Error("Overloaded"), { statusCode: 529 }),
  ],
  { provider: "anthropic.messages", modelId: "claude-sonnet-4-5" },
);
const gpt = scriptedModel([{ text: "Yes, two are reserved.", usage: { inputTokens: 2_200, outputTokens: 20 } }], {
  provider: "openai",
  modelId: "gpt-5-mini",
});

const stock = tool({ name: "stock", description: "What is in stock.", execute: () => "7 lamps, 2 reserved" });
const agent = new Agent({
  model: fallbackModel([claude, gpt]),
  instructions: "You sell lamps. (Imagine two pages of rules here.)",
  tools: [stock],
  cache: "auto",
  retry: { maxRetries: 0 },
  hooks: { onModelFallback: ({ modelId, nextModelId }) => console.log(`  ${modelId} failed; ${nextModelId} is next`) },
});

const session = memoryStore().session("anna");
for (const question of ["How many lamps are left?", "Are some reserved?"]) {
  console.log(`\n> ${question}`);
  const { text, steps, usage, cost = 0 } = await agent.run(question, { session });
  console.log(`  ${text}`);
  console.log(
    `  answered by ${steps.at(-1)?.modelId}; ${usage.cachedInputTokens ?? 0} tokens from the cache; $${cost.toFixed(4)}`,
  );
}

// Prints which messages carry a cache mark: the instructions, and the end of the last finished turn.
for (const [index, { options }] of claude.requests.entries()) {
  const marked = options.prompt.flatMap(({ role, providerOptions }) => (providerOptions ? [role] : []));
  console.log(
    `call ${index + 1} of ${claude.modelId}: ${options.prompt.length} messages, marks on ${marked.join(" and ")}`,
  );
}
