// Lesson 24: a user says something while the agent works. The run takes it in between two steps, so the answer has seen it.
// A run that is about to answer takes one more step instead. What nobody has taken in yet waits for the next run.
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, memoryStore, tool } from "offstage";
import { scriptedModel } from "offstage/testing";

const store = memoryStore(); // or sqliteStore({ path }): any process can speak
const session = store.session("anna");

const look = tool({
  name: "look",
  description: "Looks up the weather.",
  execute: async () => {
    await sleep(100);
    return "18 degrees in Paris, France";
  },
});
const model = scriptedModel([
  { toolCalls: [{ name: "look" }] },
  ({ messages }) => `You meant Texas? 35 degrees. (I saw: ${messages.at(-1)?.content})`,
  "Bring a hat.",
]);
const guide = new Agent({ model, tools: [look] });

const running = guide.run("The weather in Paris?", { session });
await sleep(50);
const sent = await session.say("I meant Paris, Texas."); // durable now
console.log("joined:", await sent.joined);
console.log("answer:", (await running).output);

// Said while no run works: it waits, and comes before the input of the next run.
const later = await session.say("I leave tomorrow.");
console.log("joined:", await later.joined, "- items:", await session.getItemCount());
await guide.run("What should I pack?", { session });

console.log("\nThe conversation:");
for (const { role, content } of await session.getItems()) console.log(`  ${role}: ${content}`);
await store.close();
