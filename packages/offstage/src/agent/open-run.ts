// Opening a run: instructions, history and input become the first state, durable before the first model call.
import { OffstageError } from "../errors.ts";
import { system } from "../messages/makers.ts";
import { textOf } from "../messages/message.ts";
import { Messages } from "../messages/messages.ts";
import { AgentState } from "../state/agent-state.ts";
import type { Outcome } from "../state/outcome.ts";
import { tripped } from "./call-tools.ts";
import { checkGuardrails } from "./guardrails.ts";
import { withinTokens } from "./history-tokens.ts";
import { openLog } from "./record.ts";
import type { Run } from "./run.ts";
import { openShown } from "./shown-input.ts";
import { stampInput } from "./step-messages.ts";
import { outputPreamble } from "./structured-output.ts";
import { withToolHistory } from "./tool-history.ts";

/** The state the first step sees. Blocked input is journaled with its run and does not join the conversation. */
export async function openRun(run: Run): Promise<AgentState> {
  const { runId, config } = run;
  run.input = stampInput(run, run.input);
  run.emit?.({ type: "run-start", runId, agent: config.name, ...parentOf(run), input: run.input });
  run.cancellation.throwIfAborted();
  const blocked = await blockedInput(run);
  run.instructions = await instructionsOf(run);
  run.track(run.input);
  await openLog(run, blocked === undefined ? run.input : []);
  for (const message of run.input) run.emit?.({ type: "message-added", runId, agent: config.name, message });
  const history = await historyOf(run);
  if (blocked !== undefined) return run.state.withMessages(history).withOutcome(blocked);
  const state = run.state.withMessages(history.append(run.input));
  if (AgentState.INFERENCE_SECTIONS.every((name) => state.section(name).isEmpty)) throw nothingToAnswer(config.name);
  await openShown(run, state);
  return state;
}

function nothingToAnswer(agent: string): OffstageError {
  return new OffstageError(
    "invalid-argument",
    `Agent "${agent}" was given nothing to answer: no message, and no conversation. Pass at least one user message.`,
  );
}

async function historyOf(run: Run): Promise<Messages> {
  if (run.log === undefined || run.hasOwnState) return run.state.messages;
  const history = await withToolHistory(run.log, run.config);
  return Messages.from(withinTokens(history, run.options.historyTokens, run.config.tokenCounter));
}

async function blockedInput(run: Run): Promise<Outcome | undefined> {
  const { config, context, cancellation, runId, input } = run;
  if (config.guardrails.input.length === 0) return undefined;
  const subject = { text: input.map(textOf).join("\n"), messages: input };
  const about = { stage: "input" as const, context, signal: cancellation.signal, runId, agent: config.name };
  const trips = await checkGuardrails(config.guardrails.input, subject, about);
  for (const trip of trips) tripped(run, trip);
  return trips[0] === undefined ? undefined : { status: "stopped", reason: "guardrail", message: trips[0].message };
}

function parentOf(run: Run): { parentRunId?: string } | undefined {
  return run.parent === undefined ? undefined : { parentRunId: run.parent.runId };
}

/** The system text of a run, as messages. */
export async function instructionsOf(run: Run): Promise<Messages> {
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
