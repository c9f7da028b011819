// Lesson 22: see what the model saw. `store.runs.input` returns the exact input of a step: messages, tools and settings.
// `since` tells what changed from one input to another, in the same run or in two of them.
import { Agent, memoryStore, tool } from "offstage";
import { scriptedModel } from "offstage/testing";

const store = memoryStore();
const session = store.session("anna");
const weather = tool({ name: "weather", description: "The weather outside.", execute: () => "4 degrees, rain" });
const umbrella = tool({ name: "umbrella", description: "Opens an umbrella.", execute: () => "open" });

const model = scriptedModel([{ toolCalls: [{ name: "weather" }] }, "Take an umbrella.", "Yes, still."]);
const first = await new Agent({ model, tools: [weather], instructions: "You are brief." }).run("What do I wear?", {
  session,
});

// The input of the second step: instructions, question, call and result, as they were sent.
const input = await store.runs.input(first.runId, 2);
console.log(`Step 2 of the first run, to ${input?.provider}/${input?.modelId}:`);
for (const { role, content } of input?.messages ?? []) console.log(`  ${role}: ${content ?? "(calls)"}`);
console.log("tools:", input?.tools.length, "settings:", input?.settings);

// The messages that the first step added.
const before = await store.runs.input(first.runId, 1);
if (input && before)
  console.log(
    "\nnew in step 2:",
    input
      .since(before)
      .added.map(({ role }) => role)
      .join(", "),
  );

// The next turn has other instructions and one more tool.
const changed = new Agent({ model, tools: [weather, umbrella], instructions: "You are kind.", toolHistory: "none" });
const second = await changed.run("Still?", { session });
const later = await store.runs.input(second.runId, 1);
if (input && later) {
  const { added, removed, changed: fields } = later.since(input);
  console.log("\nFrom one turn to the next:");
  for (const { role, content } of added) console.log(`  + ${role}: ${content}`);
  for (const { role, content } of removed) console.log(`  - ${role}: ${content ?? "(calls)"}`);
  console.log(`  changed: ${fields.join(", ")}`);
}
await store.close();
