// Opening a run: instructions, history and input become the first state, durable before the first model call.
import { OffstageError } from "../errors.ts";
import { system } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import { Messages } from "../messages/messages.ts";
import { AgentState } from "../state/agent-state.ts";
import type { Outcome } from "../state/outcome.ts";
import { openLog } from "./record.ts";
import type { Run } from "./run.ts";
import { stampInput } from "./step-messages.ts";

export interface OpenRunOptions {
  readonly input: readonly Message[];
  readonly state: AgentState | undefined;
}

/** The state the first step sees. Blocked input is journaled with its run and does not join the conversation. */
export async function openRun(
  run: Run,
  { input, state: given }: OpenRunOptions,
  blocked: Outcome | undefined,
): Promise<AgentState> {
  run.instructions = await instructionsOf(run);
  run.input = stampInput(run, input);
  run.emit?.({ type: "run-start", runId: run.runId, agent: run.config.name, ...parentOf(run), input: run.input });
  const base = (given ?? AgentState.empty()).withRun({
    runId: run.runId,
    startedAt: Date.now(),
    parentAgentId: run.parent?.state.agentId,
  });
  run.state = base;
  run.track(run.input);
  await openLog(run, blocked === undefined ? run.input : []);
  for (const message of run.input)
    run.emit?.({ type: "message-added", runId: run.runId, agent: run.config.name, message });
  const history = given === undefined && run.log !== undefined ? base.withMessages(run.log.history) : base;
  return blocked === undefined ? history.withMessages(history.messages.append(run.input)) : history;
}

function parentOf(run: Run): { parentRunId?: string } | undefined {
  return run.parent === undefined ? undefined : { parentRunId: run.parent.runId };
}

async function instructionsOf(run: Run): Promise<Messages> {
  const { options, driver, tools, name } = run.config;
  const { instructions } = options;
  const own = typeof instructions === "function" ? await instructions(run.context) : instructions;
  if (own !== undefined && typeof own !== "string") {
    throw new OffstageError(
      "invalid-argument",
      `The instructions of agent "${name}" must be text; found ${typeof own}.`,
    );
  }
  const text = [own, driver.preamble([...tools.values()])]
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n");
  return text === "" ? Messages.empty() : Messages.of(system(text));
}
