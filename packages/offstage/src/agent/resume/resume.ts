// Resuming: a run that was cut off, or that waits for approval, goes on where it was. Nothing that finished runs again.

import { isObject } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { isThenable } from "../../base/thenable.ts";
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import type { Journal, RunLog, RunRecord } from "../../sessions/journal.ts";
import { journalFor } from "../../sessions/plain-journal.ts";
import { compactionNote } from "../../sessions/run-notes.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { Step } from "../../state/step.ts";
import { subtractUsage, totalUsage, type UsageByModel } from "../../tokens/usage.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { checkResumeOptions } from "../config/option-rules.ts";
import { openShown } from "../input/shown-input.ts";
import { withToolHistory } from "../input/tool-history.ts";
import type { Open } from "../lifecycle/loop.ts";
import { instructionsOf } from "../lifecycle/open-run.ts";
import type { ResumeOptions, RunOptions } from "../ports/agent-options.ts";
import { DecisionBook } from "../ports/approvals.ts";
import { type CreateRunOptions, createRun } from "../run/create-run.ts";
import { defaultHistory, stepRecord, unlessAborted } from "../run/recorder.ts";
import { type Run, takeLog } from "../run/run.ts";
import { admitDecisions, checkDecisions, endedOutcome, knownState } from "./known-state.ts";

export interface Resuming extends Pick<CreateRunOptions, "listener" | "tracked"> {
  readonly options: ResumeOptions;
}

/** A run that is taken up again, and how it is opened. */
export interface ResumedRun {
  readonly run: Run;
  readonly open: Open;
}

/** Takes a run up again, by its id or by the state it left. */
export function resumedRun(config: AgentConfig, source: string | AgentState, resuming: Resuming): ResumedRun {
  const { options, ...rest } = resuming;
  if (typeof source !== "string" && !(source instanceof AgentState))
    throw new OffstageError(
      "invalid-argument",
      `resume() takes the id of a run or the state it left; found ${shownSource(source)}.`,
    );
  checkResumeOptions(options);
  const { store, approve, reject } = options;
  const runOptions = ofRun(options);
  const state = typeof source === "string" ? undefined : source;
  const runId = typeof source === "string" ? source : source.runId;
  if (runId === undefined) {
    throw notResumable("The state has no run: nothing was begun on it. Use agent.execute(state).");
  }
  checkStatus(state, runId);
  const decisions = new DecisionBook({ ...(approve && { approve }), ...(reject && { reject }) });
  const keepsSpans = store !== undefined;
  const run = createRun(config, { ...rest, input: [], options: runOptions, state, runId, decisions, keepsSpans });
  const open = async (): Promise<AgentState> => {
    const journal = await run.cancellation.race(journalOf(config, runId, options));
    // A store that does not hold the run cannot see to it that a call runs once.
    if (journal === undefined && store !== undefined) throw notFound(runId);
    if (journal === undefined && state === undefined) throw noPlace(runId);
    return reopen(run, journal);
  };
  return { run, open };
}

// Also what is inherited, as it is for a run that begins.
function ofRun(options: ResumeOptions): RunOptions {
  const left: Record<string, unknown> = {};
  for (const name in options)
    if (!["approve", "reject", "store"].includes(name)) left[name] = options[name as keyof ResumeOptions];
  return left;
}

// The likeliest slips are a result in place of its state, and a state that is still JSON.
function shownSource(source: unknown): string {
  if (isThenable(source)) return "a promise. Await it first";
  if (!isObject(source)) return shownValue(source);
  if (source.state instanceof AgentState) return "a result. Pass its runId, or its state";
  if ("steps" in source) return "plain data. Pass AgentState.fromJSON(…) of it";
  return typeof source.runId === "string" ? "object. Pass its runId" : "object";
}

function checkStatus(state: AgentState | undefined, runId: string): void {
  const status = state?.outcome?.status;
  if (status === "completed" || status === "stopped")
    throw notResumable(`Run "${runId}" has ended (${status}). Start a new one.`);
}

async function journalOf(
  config: AgentConfig,
  runId: string,
  { store, session }: ResumeOptions,
): Promise<Journal | undefined> {
  const place = session ?? config.options.session;
  return store === undefined ? place && journalFor(place) : store.runs.journal(runId);
}

async function reopen(run: Run, journal: Journal | undefined): Promise<AgentState> {
  const { historyLimit = defaultHistory, onBusy = "queue" } = run.options;
  run.instructions = await instructionsOf(run);
  const admit = (recorded: RunRecord) => {
    checkAgent(run, recorded);
    return admitDecisions(run, recorded);
  };
  const { signal } = run.cancellation;
  const traceId = run.isTraced ? run.span.traceId : undefined;
  const isUnrecorded = journal?.keepsRuns === false && run.hasOwnState;
  const opening = isUnrecorded
    ? join(run, journal)
    : journal?.reopen(run.runId, { historyLimit, onBusy, signal, traceId, admit });
  takeLog(run, opening && (await unlessAborted(run, opening)));
  if (run.log?.recorded === undefined) checkDecisions(run, run.state.pendingStep);
  await catchUp(run);
  return takeUp(run);
}

// A session that keeps no runs has the question, and gets the answer: all else is in the state.
async function join(run: Run, journal: Journal): Promise<RunLog> {
  const { runId, config, startedAt, options, cancellation } = run;
  const { historyLimit = defaultHistory, onBusy = "queue" } = options;
  const { signal } = cancellation;
  run.saidSteps = run.state.stepCount;
  return journal.open({ runId, agent: config.name, startedAt, input: [], historyLimit, onBusy, signal });
}

// Another agent would go on with other instructions, and without the tools that wait for approval.
function checkAgent({ runId, config: { name } }: Run, { agent }: RunRecord): void {
  if (agent !== name)
    throw notResumable(
      `Run "${runId}" belongs to agent "${agent}", and this is agent "${name}". Resume it with agent "${agent}".`,
    );
}

// Steps that the state has, and the journal never got.
async function catchUp({ log, state }: Run): Promise<void> {
  const missing = state.steps.slice(log?.recorded?.steps.length ?? state.stepCount);
  for (const step of missing) await log?.step(stepRecord(step));
}

/** The state to go on with: the one that was handed in, or what the journal holds. `counted` is what the run above knows of its usage. */
export async function takeUp(run: Run, counted: UsageByModel = {}): Promise<AgentState> {
  const { log, config } = run;
  if (!run.hasOwnState && log?.recorded === undefined) throw notFound(run.runId);
  run.input = log?.recorded?.input ?? inputOf(run);
  const { startedAt = Date.now() } = run.state;
  const history = log === undefined ? [] : await withToolHistory(log, config);
  const state = knownState(run, log?.recorded, history)
    .withRun({ runId: run.runId, startedAt, parentAgentId: run.parent?.state.agentId })
    .withOutcome(endedOutcome(log?.recorded));
  restoreUsage(run, state, counted);
  run.modelInput.reserveCallIds(stepsOf(state).flatMap((step) => step.toolCalls.map(({ toolCallId }) => toolCallId)));
  run.lastNumber = highestNumber(run.idPrefix, [...run.input, ...stepsOf(state).flatMap((step) => step.messages)]);
  run.emit?.({ type: "run-start", runId: run.runId, agent: config.name, input: [], isResumed: true });
  await openShown(run, state, log?.recorded && compactionNote(log.recorded));
  return state;
}

// What a run has used since the runs above it last heard of it is news to them. Compared by total: a provider may have
// answered under another model id than the one that is restored.
function restoreUsage({ ledger, parent, config }: Run, { usageByModel }: AgentState, counted: UsageByModel): void {
  ledger.restore(usageByModel);
  if (parent === undefined) return;
  if (Object.keys(counted).length === 0) {
    for (const [modelId, usage] of Object.entries(usageByModel)) parent.ledger.add(modelId, usage);
    return;
  }
  const news = subtractUsage(totalUsage(usageByModel), totalUsage(counted));
  if (news.totalTokens > 0) parent.ledger.add(config.model.modelId, news);
}

// In a state, the input of a run is what a user said under its id.
function inputOf({ runId, state }: Run): Message[] {
  const isInput = ({ role, metadata }: Message) =>
    role === "user" && metadata?.runId === runId && metadata.isNote !== true;
  return state.messages.filter(isInput).toArray();
}

function stepsOf({ steps, pendingStep }: AgentState): Step[] {
  return pendingStep === undefined ? [...steps] : [...steps, pendingStep.step];
}

// The ids of a run's own messages end in a number; new ones go on from the highest.
function highestNumber(prefix: string, messages: readonly Message[]): number {
  const own = messages.flatMap(({ metadata }) => (metadata?.id?.startsWith(prefix) ? [metadata.id] : []));
  const numbers = own.map((id) => Number(id.slice(prefix.length))).filter(Number.isSafeInteger);
  return numbers.reduce((highest, number) => Math.max(highest, number), 0);
}

function notFound(runId: string): OffstageError {
  return new OffstageError(
    "run-not-found",
    `There is no run "${runId}" to resume in the store or session that was given. Pass the one it was recorded in, or none where it was not.`,
  );
}

function noPlace(runId: string): OffstageError {
  return new OffstageError(
    "run-not-found",
    `Run "${runId}" cannot be looked up: pass the store or the session it was recorded in, as resume(runId, { store }).`,
  );
}

function notResumable(message: string): OffstageError {
  return new OffstageError("run-not-resumable", message);
}
