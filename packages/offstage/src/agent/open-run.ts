// Opening a run: instructions, history and input become the first state, durable before the first model call.
import { OffstageError } from "../errors.ts";
import { system } from "../messages/makers.ts";
import { Messages } from "../messages/messages.ts";
import type { AgentState } from "../state/agent-state.ts";
import type { Outcome } from "../state/outcome.ts";
import { openLog } from "./record.ts";
import type { Run } from "./run.ts";
import { stampInput } from "./step-messages.ts";
import { outputPreamble } from "./structured-output.ts";

/** The state the first step sees. Blocked input is journaled with its run and does not join the conversation. */
export async function openRun(run: Run, blocked: Outcome | undefined): Promise<AgentState> {
  const { runId, config } = run;
  run.instructions = await instructionsOf(run);
  run.input = stampInput(run, run.input);
  run.emit?.({ type: "run-start", runId, agent: config.name, ...parentOf(run), input: run.input });
  run.track(run.input);
  await openLog(run, blocked === undefined ? run.input : []);
  for (const message of run.input) run.emit?.({ type: "message-added", runId, agent: config.name, message });
  const history = run.log === undefined || run.hasOwnState ? run.state.messages : Messages.from(run.log.history);
  return run.state.withMessages(blocked === undefined ? history.append(run.input) : history);
}

function parentOf(run: Run): { parentRunId?: string } | undefined {
  return run.parent === undefined ? undefined : { parentRunId: run.parent.runId };
}

async function instructionsOf(run: Run): Promise<Messages> {
  const { options, driver, tools, name, output } = run.config;
  const { instructions } = options;
  const own =
    typeof instructions === "function"
      ? await run.cancellation.race(Promise.resolve(instructions(run.context)))
      : instructions;
  if (own !== undefined && typeof own !== "string") {
    throw new OffstageError(
      "invalid-argument",
      `The instructions of agent "${name}" must be text; found ${typeof own}.`,
    );
  }
  const text = [own, driver.preamble([...tools.values()]), output && outputPreamble(output)]
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n");
  return text === "" ? Messages.empty() : Messages.of(system(text));
}
