// Lesson 26: a tool asks a person a question. The process may end; another one answers, days later, and the run goes on.
// The tool runs again from its start, and `ask` returns the answer that was recorded.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Agent, sqliteStore, tool } from "offstage";
import { scriptedModel } from "offstage/testing";
import * as z from "zod";

const book = tool({
  name: "book",
  description: "Books a seat in a train.",
  input: z.object({ train: z.string() }),
  execute: async ({ train }, { ask }) => {
    console.log(`  (the tool starts for ${train})`);
    const answer = await ask({ message: `Which seat in ${train}?`, schema: z.object({ seat: z.string().max(3) }) });
    return answer.declined ? "No seat was chosen." : `Booked seat ${answer.seat} in ${train}.`;
  },
});
const newClerk = (script: Parameters<typeof scriptedModel>[0]) =>
  new Agent({ name: "clerk", model: scriptedModel(script), tools: [book] });

const folder = mkdtempSync(join(tmpdir(), "offstage-question-"));
const path = join(folder, "offstage.db");

// Monday: the tool asks, the run waits, and the process ends.
const monday = sqliteStore({ path });
const first = newClerk([{ toolCalls: [{ name: "book", input: { train: "IC 5" } }] }]);
const { outcome } = await first.run("A seat in the IC 5, please.", { session: monday.session("anna") });
console.log(`Monday: ${outcome.status} (${outcome.reason})`);
await monday.close();

// Thursday: another process finds the question in the store, without the agent.
const thursday = sqliteStore({ path });
const clerk = newClerk(["You have seat 12A."]);
for (const { runId } of await thursday.runs.list({ status: "waiting" })) {
  const { approvals = [] } = (await thursday.runs.get(runId)) ?? {};
  for (const approval of approvals) {
    if (approval.kind !== "question") continue;
    console.log(`Thursday: ${approval.toolName} asks: ${approval.message}`);
    const answers = [{ toolCallId: approval.toolCallId, value: { seat: "12A" } }];
    const done = await clerk.resume(runId, { store: thursday, answers });
    console.log(`  tool: ${done.messages.filter({ role: "tool" })[0]?.content}`);
    console.log(`Answer: ${done.output}`);
  }
}
await thursday.close();
rmSync(folder, { recursive: true });
