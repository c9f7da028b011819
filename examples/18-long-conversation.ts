// Lesson 18: in a conversation longer than the model's context window, older turns are summarised for the model.
// Compaction changes what the model sees, never what is stored. It reports what it left out each time.
import { Agent, InMemorySession } from "offstage";
import { compactor, summarizeOlder } from "offstage/memory";
import { scriptedModel } from "offstage/testing";

const sent: number[] = [];
const model = scriptedModel(({ messages }) => {
  sent.push(messages.length);
  return `Noted. ${"That is a good point, and worth keeping in mind. ".repeat(6)}`;
});

const agent = new Agent({
  model,
  compaction: compactor({
    threshold: 1500, // in tokens; or a share of the context window: { threshold: 0.8, contextWindow: 128_000 }
    strategy: summarizeOlder({ summarize: ({ messages }) => `${messages.length} earlier messages about a garden.` }),
  }),
  hooks: {
    onCompactionEnd: ({ report }) =>
      console.log(`compacted: ${report.coveredCount} messages, ${report.tokensBefore} -> ${report.tokensAfter} tokens`),
  },
});

const session = new InMemorySession();
for (let turn = 1; turn <= 40; turn++) await agent.run(`Thought ${turn} about the garden.`, { session });

console.log("kept in the session:", await session.getItemCount(), "messages");
console.log("most messages the model was sent:", Math.max(...sent));
