// Lesson 23: find a conversation again. Sessions have titles and metadata, and runs have feedback.
// `store.search` finds messages of all sessions, newest first, with the session and the run they belong to.
import { Agent, memoryStore } from "offstage";
import { scriptedModel } from "offstage/testing";

const store = memoryStore();
const agent = new Agent({
  name: "desk",
  model: scriptedModel([
    "Your refund is on its way.",
    "The play begins at eight.",
    "A refund takes five days.",
    "I do not know.",
  ]),
});

const ask = (id: string, question: string) => agent.run(question, { session: store.session(id) });
await ask("anna", "Where is the refund for order 17?");
await ask("bert", "When does the play begin?");
await ask("anna", "How long does it take?");
const { runId } = await ask("cleo", "Is there an interval?");

// The first title is the first words of a conversation. Describe a session to find it by your own data.
await store.session("anna").describe({ title: "Order 17: refund", metadata: { customer: "A-1", isOpen: true } });
// Feedback on a run: a label, and a value or a note if you like.
await store.annotate({ runId, label: "bad", note: "It should have asked a colleague.", by: "reviewer" });

console.log("Sessions, most recent first:");
for (const { sessionId, title, messageCount } of await store.sessions.list())
  console.log(`  ${sessionId}: ${title} (${messageCount} messages)`);

console.log("\nOpen ones of customer A-1:");
for (const { title } of await store.sessions.list({ metadata: { customer: "A-1", isOpen: true } }))
  console.log(`  ${title}`);

console.log('\n"refund", anywhere:');
for await (const { session, message, run } of store.search({ text: "refund" }))
  console.log(`  ${session.title} | ${message.role}: ${message.content} (run of ${run?.agent})`);

console.log("\nOne page of a search, and the next:");
let cursor: string | undefined;
for (let page = 1; page <= 2; page++)
  for await (const found of store.search({ role: "assistant", limit: 2, before: cursor })) {
    console.log(`  page ${page}: ${found.message.content}`);
    cursor = found.cursor;
  }

console.log("\nFeedback:");
for (const { runId: id } of await store.runs.list({ agent: "desk" }))
  for (const { label, note, by } of await store.runs.annotations(id)) console.log(`  ${label}, by ${by}: ${note}`);

await store.close();
