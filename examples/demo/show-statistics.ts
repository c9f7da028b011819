// Prints statistics: messages and tokens that are remembered, all that were exchanged, and the tools.
import { MessageQuery, type PersistentSession, type Store } from "offstage";
import { heading, paint } from "./terminal.ts";

export async function showStatistics(store: Store, session: PersistentSession): Promise<void> {
  const said = new MessageQuery(await session.getItems()).stats();
  const everything = new MessageQuery(await session.transcript());
  const all = everything.stats();
  heading("Statistics");
  console.log(
    `${paint("dim", "remembered   ")}${said.totalMessages} messages, about ${said.totalTokens} tokens: what the next turn is sent`,
  );
  console.log(
    `${paint("dim", "exchanged    ")}${all.totalMessages} messages, about ${all.totalTokens} tokens: all of it in the journal`,
  );
  for (const run of (await session.runs()).reverse()) {
    const { steps = [] } = (await store.runs.get(run.runId)) ?? {};
    const tokens = `${run.usage?.inputTokens ?? 0} tokens in, ${run.usage?.outputTokens ?? 0} out`;
    console.log(
      `${paint("dim", "run          ")}${run.runId.slice(0, 8)}… ${run.status}, ${steps.length} steps, ${tokens}`,
    );
  }
  console.log();
  everything.print("stats");
  console.log();
  everything.print("tools", { preset: "compact" });
}
