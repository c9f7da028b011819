// Lesson 12: a session is a conversation with an id. It is kept in a store, here a SQLite file that survives the process.
// The session remembers what was said. The journal in the same store has what was done, by run id.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, MessageQuery, sqliteStore, tool } from "offstage";
import { scriptedModel } from "offstage/testing";

const folder = await mkdtemp(join(tmpdir(), "offstage-"));
const path = join(folder, "box-office.db");

const seats = tool({ name: "free_seats", description: "Free seats tonight.", execute: () => ["A4", "C7", "C8"] });
const model = scriptedModel([
  { toolCalls: [{ name: "free_seats" }] },
  "Three seats are free tonight: A4, C7 and C8.",
  "C7 and C8 are next to each other.",
]);
const agent = new Agent({ model, tools: [seats] });

// The first visit: open, ask, close.
let store = sqliteStore({ path });
await agent.run("Which seats are free?", { session: store.session("anna") });
await store.close();

// The second visit, perhaps days later and in another process.
store = sqliteStore({ path });
const session = store.session("anna");
const { runId } = await agent.run("Two next to each other?", { session });

console.log("What is remembered:");
for (const { role, content } of await session.getItems()) console.log(`  ${role}: ${content}`);
console.log(
  `\nThe second turn's model was sent ${model.requests[2]?.messages.length} messages, none of them of a tool.`,
);

console.log("\nWhat was done, run by run:");
for (const run of await session.runs()) {
  const { steps = [] } = (await store.runs.get(run.runId)) ?? {};
  const mark = run.runId === runId ? "the latest" : "an earlier one";
  console.log(`  ${run.status}, steps: ${steps.length}, ${run.usage?.totalTokens} tokens (${mark})`);
}
new MessageQuery(await session.transcript()).print("tools");

// A branch is a separate conversation. Removing a turn from it does not change the original.
const branch = await session.branch();
await branch.popTurn();
console.log(`\n${await session.getItemCount()} messages in the session, ${await branch.getItemCount()} in its branch.`);

await store.close();
await rm(folder, { recursive: true });
