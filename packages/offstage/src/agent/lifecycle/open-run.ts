// Opening a run: instructions, history and input become the first state, durable before the first model call.
import { isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import { type Message, textOf } from "../../messages/message.ts";
import { Messages } from "../../messages/messages.ts";
import type { RunLog } from "../../sessions/journal.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import { composeInstructions } from "../config/instructions.ts";
import { withinTokens } from "../input/history-tokens.ts";
import { openShown } from "../input/shown-input.ts";
import { withToolHistory } from "../input/tool-history.ts";
import type { Instructions } from "../ports/agent-options.ts";
import { checkGuardrails } from "../ports/guardrails.ts";
import { isLogged, openLog } from "../run/recorder.ts";
import { type Run, takeLog } from "../run/run.ts";
import { stampInput } from "../run/step-messages.ts";
import { tripped } from "../step/call-tools.ts";

/**
 * The state the first step sees, at once where nothing has to be waited for. Blocked input is journaled with its run and
 * does not join the conversation.
 */
export function openRun(run: Run): AgentState | Promise<AgentState> {
  const { runId, config } = run;
  run.input = stampInput(run, run.input);
  if (run.isTextInput) run.frozenInput = run.input[0];
  run.emit?.({ type: "run-start", runId, agent: config.name, ...parentOf(run), input: run.input });
  run.cancellation.throwIfAborted();
  if (config.guardrails.input.length > 0 || config.instructions === undefined) return openLater(run);
  run.instructions = config.instructions;
  return begin(run);
}

// Guardrails, and instructions that a function writes, are waited for.
async function openLater(run: Run): Promise<AgentState> {
  const blocked = run.config.guardrails.input.length === 0 ? undefined : await blockedInput(run);
  run.instructions = await instructionsOf(run);
  return begin(run, blocked);
}

function begin(run: Run, blocked?: Outcome): AgentState | Promise<AgentState> {
  run.tracked.add(run.input);
  const opening = isLogged(run) ? openLog(run, blocked === undefined ? run.input : []) : undefined;
  return opening !== undefined && "then" in opening
    ? opening.then((log) => withLog(run, log, blocked))
    : withLog(run, opening, blocked);
}

function withLog(run: Run, log: RunLog | undefined, blocked?: Outcome): AgentState | Promise<AgentState> {
  const { runId, config } = run;
  takeLog(run, log);
  if (run.emit !== undefined)
    for (const message of run.input) run.emit({ type: "message-added", runId, agent: config.name, message });
  const loading = log === undefined || run.hasOwnState ? run.state.messages : historyOf(run, log);
  return "then" in loading
    ? loading.then((history) => firstState(run, history, blocked))
    : firstState(run, loading, blocked);
}

function firstState(run: Run, history: Messages, blocked?: Outcome): AgentState | Promise<AgentState> {
  if (blocked !== undefined) return run.state.withMessages(history).withOutcome(blocked);
  const state = run.state.withMessages(history.append(run.input));
  if (run.input.length === 0 && hasNothing(state)) throw nothingToAnswer(run.config.name);
  return run.config.isShortened ? openShown(run, state).then(() => state) : state;
}

function hasNothing(state: AgentState): boolean {
  return AgentState.INFERENCE_SECTIONS.every((name) => state.section(name).isEmpty);
}

function nothingToAnswer(agent: string): OffstageError {
  return new OffstageError(
    "invalid-argument",
    `Agent "${agent}" was given nothing to answer: no message, and no conversation. Pass at least one user message.`,
  );
}

function historyOf({ config, options }: Run, log: RunLog): Messages | Promise<Messages> {
  // The usual case, without a closure.
  if (!config.remembersTools && options.historyTokens === undefined) return Messages.from(log.history);
  const within = (history: readonly Message[]) =>
    Messages.from(withinTokens(history, options.historyTokens, config.tokenCounter));
  return config.remembersTools ? withToolHistory(log, config).then(within) : within(log.history);
}

async function blockedInput(run: Run): Promise<Outcome | undefined> {
  const { config, context, cancellation, runId, input } = run;
  const subject = { text: input.map(textOf).join("\n"), messages: input };
  const about = { stage: "input" as const, context, signal: cancellation.signal, runId, agent: config.name };
  const trips = await checkGuardrails(config.guardrails.input, subject, about);
  for (const trip of trips) tripped(run, trip);
  return trips[0] === undefined ? undefined : { status: "stopped", reason: "guardrail", message: trips[0].message };
}

function parentOf(run: Run): { parentRunId?: string } | undefined {
  return run.parent === undefined ? undefined : { parentRunId: run.parent.runId };
}

/** The system text of a run: at once, unless a function writes it. */
export function instructionsOf(run: Run): Messages | Promise<Messages> {
  return run.config.instructions ?? writtenInstructions(run);
}

async function writtenInstructions({ config, context, cancellation }: Run): Promise<Messages> {
  const write = config.options.instructions as Extract<Instructions, (...given: never[]) => unknown>;
  try {
    const writing = Promise.resolve(write(context));
    return composeInstructions(config, await cancellation.race(writing));
  } catch (cause) {
    if (cancellation.isAborted || isOffstageError(cause)) throw cause;
    const sentence = `The instructions of agent "${config.name}" could not be written: ${messageOf(cause)}`;
    throw new OffstageError("run-failed", sentence, { cause });
  }
}
