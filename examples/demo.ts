// The demonstration behind `npm start`: an agent with tools and a subagent, and a conversation in a SQLite file.
// Stop it during a run and start it again: it resumes the run. With a provider key it uses a real model.
import { isOffstageError, sqliteStore } from "offstage";
import { castAgents } from "./demo/cast.ts";
import { chooseModels } from "./demo/choose-models.ts";
import { continueOrBegin } from "./demo/continue-or-begin.ts";
import { Narrator } from "./demo/narrator.ts";
import { paceOf } from "./demo/pace.ts";
import { showStatistics } from "./demo/show-statistics.ts";
import { showTwoStreams } from "./demo/show-two-streams.ts";
import { heading, paint, showConversation } from "./demo/terminal.ts";

const questions = [
  "Checkout has been slow since noon. What happened?",
  "Who should know about it, and what do I write to them?",
];

const path = process.env.OFFSTAGE_DEMO_DB ?? "offstage-demo.db";
const pace = paceOf(process.env.OFFSTAGE_DEMO_PACE);
const models = chooseModels(process.env, pace);
const agent = castAgents(models, pace);
await using store = sqliteStore({ path });

async function play(): Promise<void> {
  heading("Offstage");
  console.log(`${paint("dim", "model    ")}${models.label}`);
  const { session, interrupted, remaining, note } = await continueOrBegin(store, questions);
  console.log(`${paint("dim", "session  ")}"${session.sessionId}" in ${path}: ${note}`);
  showConversation(await session.getItems());

  if (interrupted !== undefined) {
    heading("Resuming the interrupted run");
    const narrator = new Narrator(pace);
    await narrator.finish(await agent.resume(interrupted, { store, hooks: narrator.hooks }));
  }
  for (const question of remaining) {
    heading(question);
    const narrator = new Narrator(pace);
    const stream = agent.stream(question, { session });
    for await (const event of stream) await narrator.tell(event);
    await narrator.finish(await stream.result);
  }
  await showTwoStreams(store, session);
  await showStatistics(store, session);
}

try {
  await play();
} catch (error) {
  if (!isOffstageError(error)) throw error;
  console.error(`\n${paint("red", error.code)}: ${error.message}`);
  process.exitCode = 1;
}
