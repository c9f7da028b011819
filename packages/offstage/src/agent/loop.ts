// The one loop. `run`, `stream` and `execute` are faces of it; all persist the same things and fail the same way.
import { isOffstageError, messageOf, OffstageError } from "../errors.ts";
import { textOf } from "../messages/message.ts";
import type { AgentState } from "../state/agent-state.ts";
import type { Outcome } from "../state/outcome.ts";
import { chain, type Next } from "../state/processor.ts";
import { runInSpan } from "../tracing/with-span.ts";
import { tripped } from "./call-tools.ts";
import { conclude, type Ending, endOf } from "./conclude.ts";
import { checkGuardrails } from "./guardrails.ts";
import { openRun } from "./open-run.ts";
import { recordStep } from "./record.ts";
import type { Run } from "./run.ts";
import type { RunResult } from "./run-result.ts";
import { ruling, takeStep } from "./take-step.ts";

/** Runs to the end. Resolves when the agent answered or was stopped; rejects on failure and on abort. */
export async function loop(run: Run): Promise<RunResult<unknown>> {
  try {
    return await runInSpan(run.span, () => perform(run));
  } finally {
    run.cancellation[Symbol.dispose]();
  }
}

async function perform(run: Run): Promise<RunResult<unknown>> {
  let ending: Ending;
  try {
    run.cancellation.throwIfAborted();
    const blocked = await blockedInput(run);
    run.state = await openRun(run, blocked);
    ending = endOf(blocked === undefined ? await takeSteps(run) : run.state.withOutcome(blocked));
  } catch (error) {
    ending = brokenOff(run, error);
  }
  return conclude(run, ending);
}

async function takeSteps(run: Run): Promise<AgentState> {
  const next = chain(run.config.processors, (state) => takeStep(run, state));
  const before = await ruling(run, run.state);
  if (before.outcome !== undefined) run.state = run.state.withOutcome(before.outcome);
  while (run.state.outcome === undefined) {
    run.state = await processed(run, next);
    const recording = recordStep(run);
    if (recording !== undefined) await recording;
  }
  return run.state;
}

// An error of a processor is the processor's; one from inside the step already says what it is.
async function processed(run: Run, next: Next): Promise<AgentState> {
  const count = run.state.stepCount;
  try {
    const state = await next(run.state);
    if (state?.stepCount === count + 1) return state;
  } catch (cause) {
    run.cancellation.throwIfAborted();
    if (isOffstageError(cause)) throw cause;
    const sentence = `A processor of agent "${run.config.name}" threw: ${messageOf(cause)}`;
    throw new OffstageError("processor-failed", sentence, { cause });
  }
  const sentence = `A processor of agent "${run.config.name}" did not give the state it got from next(state). Call next once and return its result, or a state made from it.`;
  throw new OffstageError("processor-failed", sentence);
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

function brokenOff(run: Run, error: unknown): Ending {
  const { cancellation, ledger } = run;
  const state = run.state.withUsage(ledger.usageByModel);
  if (cancellation.isAborted) {
    const message = `The run was aborted: ${messageOf(cancellation.reason)}`;
    return {
      state: state.withOutcome({ status: "stopped", reason: "aborted", message }),
      abortedWith: { reason: cancellation.reason },
    };
  }
  const reason = isOffstageError(error) ? error.code : "error";
  return { state: state.withOutcome({ status: "failed", reason, message: messageOf(error) }), failedWith: error };
}
