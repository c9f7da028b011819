// The only loop. `run`, `stream`, `execute` and `resume` all use it, so they persist the same things and fail the same way.
import { enterReentrancyScope } from "../../sessions/lease/lease.ts";
import type { Journal, RunLog } from "../../sessions/ports/journal.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { PendingStep } from "../../state/pending-step.ts";
import type { Step } from "../../state/step.ts";
import { runInScope } from "../../tracing/trace-span.ts";
import { promptSections, setUpStep, shortenedSections } from "../input/prompt.ts";
import { waitingOutcome } from "../ports/approvals.ts";
import type { RunResult } from "../ports/run-result.ts";
import type { Run } from "../run/run.ts";
import type { StepPlace } from "../run/run-parts.ts";
import { callModel } from "../step/call-model.ts";
import { callTools } from "../step/call-tools.ts";
import { callsToApprove, checkAnswer, readReply, stepOf, withResults } from "../step/make-step.ts";
import { rule, ruleBefore, withoutUnchecked } from "../step/rule.ts";
import { conclude, type Ending, endingOf } from "./conclude.ts";
import { joinMessages } from "./inbox.ts";
import { openRun } from "./open-run.ts";
import { throughProcessors } from "./through-processors.ts";

/** Makes the first state of a run. If it has an outcome already, no step is taken. */
export type Open = (run: Run) => Promise<AgentState>;

/** Runs to the end. Resolves when the agent has answered, waits for approval or was stopped; rejects on failure and abort. */
export function loop(run: Run, open: Open = openRun): Promise<RunResult<unknown>> {
  const { span, reentrancy, cancellation } = run.scope;
  const work = async () => {
    try {
      for (let begin = open; ; ) {
        const ended = await conclude(run, await reachEnd(run, begin));
        if (!(ended instanceof AgentState)) return ended;
        // The answer became a draft, because something was said meanwhile.
        begin = async () => {
          await run.record.reopenStep(ended.currentStep as Step);
          return ended;
        };
      }
    } finally {
      cancellation[Symbol.dispose]();
    }
  };
  const running = enterReentrancyScope(reentrancy, () => runInScope(span, work));
  remember(run, running);
  return running;
}

async function reachEnd(run: Run, begin: Open): Promise<Ending> {
  const { record, agent } = run;
  try {
    run.state = await begin(run);
    run.state = await ruleBefore(run, run.state);
    if (record.log !== undefined) run.state = await joinInbox(run, record.log);
    while (run.state.outcome === undefined) {
      const stepping = agent.processors.length === 0 ? takeStep(run, run.state) : throughProcessors(run, takeStep);
      run.state = await stepping;
      // A pending step is recorded once it is finished.
      if (run.state.pendingStep === undefined) record.finish(run.state);
      if (record.log === undefined) continue;
      await record.step(run.state);
      run.state = await joinInbox(run, record.log);
    }
    return { state: run.state };
  } catch (error) {
    const ending = endingOf(run, error);
    const isStepFinished = ending.state.stepCount > run.state.stepCount;
    run.state = ending.state;
    if (isStepFinished) record.finish(run.state);
    return ending;
  }
}

// Lets in what was said meanwhile, but never between a call and its result.
async function joinInbox(run: Run, log: RunLog): Promise<AgentState> {
  const { state } = run;
  if (state.outcome !== undefined || state.pendingStep !== undefined) return state;
  const pending = await log.inbox();
  return pending.length === 0 ? state : joinMessages(run, state, pending);
}

async function takeStep(run: Run, state: AgentState): Promise<AgentState> {
  const { record, scope, limits } = run;
  scope.cancellation.signal.throwIfAborted();
  const { pendingStep } = state;
  const step = state.stepCount + 1;
  const made = await record.inStep(step, (span) =>
    pendingStep === undefined ? newStep(run, state, { step, span }) : finishStep(run, pendingStep, { step, span }),
  );
  const usage = limits.ledger.usageByModel;
  if ("waiting" in made) {
    const paused = state.withPendingStep(made).withUsage(usage);
    return paused.withOutcome(waitingOutcome(paused, run.agent.name));
  }
  const finished = state.withStep(made, usage);
  try {
    return keepFinished(run, await rule(run, finished));
  } catch (error) {
    keepFinished(run, withoutUnchecked(run, finished));
    throw error;
  }
}

function keepFinished({ agent, draft }: Run, state: AgentState): AgentState {
  draft.finished = agent.keepMessages(state, state.currentStep as Step);
  return draft.finished;
}

async function newStep(run: Run, state: AgentState, at: StepPlace): Promise<Step | PendingStep> {
  const { agent, record, input } = run;
  if (agent.changesBySteps) await setUpStep(run, at.step);
  const { compaction } = input;
  const sections = compaction ? await shortenedSections(run, state, { compaction, at }) : promptSections(run, state);
  const read = readReply(run, await callModel(run, sections, at), at);
  const { message, calls } = read;
  if (calls.length === 0) return stepOf(run, await checkAnswer(run, read), at, []);
  if (record.log !== undefined) await record.intend(at, message, callsToApprove(run, calls));
  return stepOf(run, read, at, await callTools(run, calls, at));
}

// Runs the waiting calls of a pending step. Finished calls do not run again.
async function finishStep(run: Run, pending: PendingStep, at: StepPlace): Promise<Step | PendingStep> {
  await setUpStep(run, at.step);
  const { step, waiting } = pending;
  const open = new Set(waiting.map(({ toolCallId }) => toolCallId));
  const calls = step.toolCalls.filter(({ toolCallId }) => open.has(toolCallId));
  run.draft.messages = [...step.messages];
  return withResults(pending, await callTools(run, calls, { ...at, before: waiting }));
}

type Running = Promise<RunResult<unknown>>;

// The runs of this process that work, by the store and namespace of their session.
const working = new WeakMap<object, Map<string, Running>>();

/** The run of this id, if it works on a session of this process. */
export function workingRun({ scope }: Journal, runId: string): Running | undefined {
  return working.get(scope)?.get(runId);
}

function remember({ request, identity }: Run, running: Running): void {
  if (request.journal === undefined) return;
  const { scope } = request.journal;
  const runs = working.get(scope) ?? new Map<string, Running>();
  working.set(scope, runs.set(identity.runId, running));
  const forget = (): void => void runs.delete(identity.runId);
  running.then(forget, forget);
}
