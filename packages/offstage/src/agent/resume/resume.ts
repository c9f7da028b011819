// Resumes a run that waits for approval, was interrupted, failed or was stopped by a limit, by its id or by its last state. Finished calls do not run again.
import { isObject } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { isThenable } from "../../base/thenable.ts";
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import type { Journal, RunLog } from "../../sessions/ports/journal.ts";
import { isStoppedByLimit, type RunRecord } from "../../sessions/ports/run-record.ts";
import { compactionNote } from "../../sessions/records/run-notes.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { Step } from "../../state/step.ts";
import { subtractUsage, totalUsage, type UsageByModel } from "../../tokens/usage.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { checkResumeOptions } from "../config/option-rules.ts";
import { announceCut, historyToLoad, loadHistory } from "../input/history.ts";
import { openPrompt, setUpStep } from "../input/prompt.ts";
import type { Open } from "../lifecycle/loop.ts";
import { type CreateRunOptions, createRun } from "../lifecycle/open-run.ts";
import type { ResumeOptions } from "../ports/agent-options.ts";
import { DecisionBook } from "../ports/decision-book.ts";
import { stepRecord } from "../run/recorder.ts";
import { RefusedResume } from "../run/refused-resume.ts";
import type { Run } from "../run/run.ts";
import { admitDecisions, checkDecisions, endedOutcome, knownState } from "./known-state.ts";

export interface CreateResumedRunOptions extends Pick<CreateRunOptions, "listener" | "tracked"> {
  readonly options: ResumeOptions;
}

export interface ResumedRun {
  readonly run: Run;
  readonly open: Open;
}

/** Creates a run that resumes an earlier one. The loop opens its journal. */
export function createResumedRun(
  agent: AgentConfig,
  source: string | AgentState,
  resuming: CreateResumedRunOptions,
): ResumedRun {
  const { options, ...rest } = resuming;
  if (typeof source !== "string" && !(source instanceof AgentState)) throw invalidSource(source);
  checkResumeOptions(options);
  const state = typeof source === "string" ? undefined : source;
  const runId = typeof source === "string" ? source : source.runId;
  if (runId === undefined) throw notResumable("The state has not been run yet. Use agent.execute(state).");
  checkStatus(state, runId);
  const { store, approve, reject, answers } = options;
  const decisions = new DecisionBook({ approve, reject, answers });
  const keepsSpans = store !== undefined;
  const run = createRun(agent, { ...rest, input: [], options, state, runId, decisions, keepsSpans });
  const open = async (): Promise<AgentState> => {
    try {
      const journal = await run.scope.cancellation.race(journalOf(run, options));
      // A store that does not have the run cannot prevent a call from running twice.
      if (journal === undefined && store !== undefined) throw notFound(runId);
      if (journal === undefined && state === undefined) throw noStore(runId);
      await reopen(run, journal);
    } catch (error) {
      throw run.record.log === undefined ? new RefusedResume(error) : error;
    }
    return continueRun(run);
  };
  return { run, open };
}

function checkStatus(state: AgentState | undefined, runId: string): void {
  const { outcome } = state ?? {};
  if (outcome?.status === "completed" || (outcome?.status === "stopped" && !isStoppedByLimit(outcome)))
    throw notResumable(`Run "${runId}" has ended (${outcome.status}). Start a new one.`);
  if (outcome?.status === "stopped" && state?.currentStep?.isAnswer) throw answered(runId);
}

// A model has nothing to add to its own last word.
function checkUnanswered({ runId, status, steps }: RunRecord): void {
  const last = steps.at(-1)?.messages.at(-1);
  if (status === "stopped" && last?.role === "assistant") throw answered(runId);
}

function answered(runId: string): OffstageError {
  return notResumable(`Run "${runId}" was stopped with an answer. Start a new run to go on.`);
}

async function journalOf({ request, identity }: Run, { store }: ResumeOptions): Promise<Journal | undefined> {
  return store === undefined ? request.journal : store.runs.journal(identity.runId);
}

async function reopen(run: Run, journal: Journal | undefined): Promise<void> {
  const { record } = run;
  if (journal !== undefined) await record.open(() => reopenJournal(run, journal));
  await setUpStep(run, nextStep(run, record.log?.recorded));
  if (record.log?.recorded === undefined) await checkDecisions(run, run.state);
  const recordedSteps = record.log?.recorded?.steps.length ?? run.state.stepCount;
  // Steps that the state has and the journal lacks.
  for (const step of run.state.steps.slice(recordedSteps)) await record.log?.step(stepRecord(step));
}

async function reopenJournal(run: Run, journal: Journal): Promise<RunLog> {
  const { identity, agent, request, scope } = run;
  const { runId, startedAt } = identity;
  const onBusy = request.options.onBusy === "reject" ? ("reject" as const) : ("queue" as const);
  const opening = { ...historyToLoad(run), onBusy, signal: scope.cancellation.signal };
  // A session that keeps no runs has the user message and will get the answer; the state has everything else.
  if (!journal.keepsRuns && request.hasOwnState)
    return journal.open({ ...opening, runId, agent: agent.name, startedAt, input: [] });
  const admit = async (recorded: RunRecord, beneath: ReadonlyMap<string, RunRecord>) => {
    checkAgent(run, recorded);
    checkUnanswered(recorded);
    await setUpStep(run, nextStep(run, recorded));
    return admitDecisions(run, recorded, beneath);
  };
  return journal.reopen(runId, { ...opening, admit });
}

/** The step with which a run goes on: the one that is open, or a new one. */
export function nextStep({ state }: Run, recorded: RunRecord | undefined): number {
  const { pendingStep, stepCount } = state;
  const own = pendingStep?.step.index ?? stepCount + 1;
  return recorded === undefined ? own : Math.max(own, recorded.openStep?.step ?? recorded.steps.length + 1);
}

// Another agent would have other instructions, and might lack the tools that wait for approval.
function checkAgent({ identity, agent }: Run, recorded: RunRecord): void {
  if (recorded.agent !== agent.name)
    throw notResumable(
      `Run "${identity.runId}" belongs to agent "${recorded.agent}", and this is agent "${agent.name}". Resume it with agent "${recorded.agent}".`,
    );
}

/**
 * The state to continue with: the one that was passed in, or the journal's. For a subagent, `counted` is the usage that its parent
 * has counted already.
 */
export async function continueRun(run: Run, counted: UsageByModel = {}): Promise<AgentState> {
  const { record, request, identity } = run;
  const { runId, parent } = identity;
  const recorded = record.log?.recorded;
  if (!request.hasOwnState && recorded === undefined) throw notFound(runId);
  record.input = recorded?.input ?? inputOf(runId, run.state);
  const startedAt = run.state.outcome?.status === "stopped" ? Date.now() : (run.state.startedAt ?? Date.now());
  const history = record.log === undefined ? [] : await loadHistory(run, record.log);
  const state = knownState(run, recorded, history)
    .withRun({ runId, startedAt, parentAgentId: parent?.state.agentId })
    .withOutcome(parent && endedOutcome(recorded));
  restoreUsage(run, state, counted);
  const steps = stepsOf(state);
  run.input.modelInput.reserveCallIds(steps.flatMap((step) => step.toolCalls.map(({ toolCallId }) => toolCallId)));
  record.resume([...record.input, ...steps.flatMap((step) => step.messages)]);
  record.emit?.({ type: "run-start", input: [], isResumed: true });
  announceCut(run);
  if (run.agent.isShortened) await openPrompt(run, state, recorded && compactionNote(recorded));
  return state;
}

// Adds usage to the parent's ledger that it has not counted yet. Compares totals, because a provider may have answered under
// another model id than the one that is restored.
function restoreUsage(run: Run, { usageByModel }: AgentState, counted: UsageByModel): void {
  const { limits, identity } = run;
  limits.ledger.restore(usageByModel);
  const parentLedger = identity.parent?.limits.ledger;
  if (parentLedger === undefined) return;
  if (Object.keys(counted).length === 0) {
    for (const [modelId, usage] of Object.entries(usageByModel)) parentLedger.add(modelId, usage);
    return;
  }
  const uncounted = subtractUsage(totalUsage(usageByModel), totalUsage(counted));
  if (uncounted.totalTokens > 0) parentLedger.add(run.input.setup.model.modelId, uncounted);
}

// The input of a run: the user messages of a state that have its id.
function inputOf(runId: string, { messages }: AgentState): Message[] {
  return messages
    .filter(({ role, metadata }) => role === "user" && metadata?.runId === runId && metadata.isNote !== true)
    .toArray();
}

function stepsOf({ steps, pendingStep }: AgentState): readonly Step[] {
  return pendingStep === undefined ? steps : [...steps, pendingStep.step];
}

// The likeliest mistakes are a result instead of its state, and a state that is still JSON.
function invalidSource(source: unknown): OffstageError {
  const found = (): string => {
    if (isThenable(source)) return "a promise. Await it first";
    if (!isObject(source)) return shownValue(source);
    if (source.state instanceof AgentState) return "a result. Pass its runId, or its state";
    if ("steps" in source) return "plain data. Pass AgentState.fromJSON(data)";
    return typeof source.runId === "string" ? "object. Pass its runId" : "object";
  };
  const sentence = `resume() needs the id of a run or its last state; found ${found()}.`;
  return new OffstageError("invalid-argument", sentence);
}

function notFound(runId: string): OffstageError {
  return new OffstageError(
    "run-not-found",
    `Run "${runId}" was not found in the store or session that was passed. Pass the one that recorded it. If none did, resume the run by its state, without a store or session.`,
  );
}

function noStore(runId: string): OffstageError {
  return new OffstageError(
    "run-not-found",
    `Run "${runId}" cannot be looked up without its store or session. Pass the one that recorded it: resume(runId, { store }).`,
  );
}

function notResumable(message: string): OffstageError {
  return new OffstageError("run-not-resumable", message);
}
