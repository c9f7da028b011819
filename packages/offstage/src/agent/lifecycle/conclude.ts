// The end of a run, however it came: the answer joins the session, the rest the journal, and every listener is told once.
import { isoNow } from "../../base/clock.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { type ErrorCode, isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import { assistant } from "../../messages/makers.ts";
import { type Message, textOf, withoutProviderParts } from "../../messages/message.ts";
import type { RunEnd } from "../../sessions/journal.ts";
import { saidNote } from "../../sessions/run-notes.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import { turnOf } from "../../state/turn-of.ts";
import type { EndStatus, SpanData } from "../../tracing/span-data.ts";
import { closePrompt, promptNote } from "../input/prompt.ts";
import { waitingNote } from "../ports/approvals.ts";
import type { RunResult } from "../ports/run-result.ts";
import { finishedRun } from "../run/finished-run.ts";
import type { Run } from "../run/run.ts";

/** How a run came to its end. Its state has an outcome. */
export interface Ending {
  readonly state: AgentState;
  readonly failedWith?: unknown;
}

/** The ending of a run whose loop threw: an abort, or a failure. */
export function brokenOff(run: Run, error: unknown): Ending {
  const state = run.state.withUsage(run.limits.ledger.usageByModel);
  if (run.scope.cancellation.isAborted) return { state: state.withOutcome(abortedOutcome(run)) };
  const reason = isOffstageError(error) ? error.code : "error";
  return { state: state.withOutcome({ status: "failed", reason, message: messageOf(error) }), failedWith: error };
}

export function abortedOutcome({ scope }: Run): Outcome {
  const message = `The run was aborted: ${messageOf(scope.cancellation.reason)}`;
  return { status: "stopped", reason: "aborted", message };
}

function isAborted(state: AgentState): boolean {
  return state.outcome?.reason === "aborted";
}

/** Writes the end, tells of it, and returns the result; or throws the failure, or the abort's reason. */
export async function conclude(run: Run, ending: Ending): Promise<RunResult<unknown>> {
  const { record, scope, identity } = run;
  const answer = answerOf(run, ending.state);
  const shown = await closePrompt(run, ending.state, answer);
  const unwritten = await writeEnd(run, shown, answer);
  const state = unwritten === undefined ? shown : shown.withOutcome(unwritten.outcome);
  record.leave();
  trackRest(run, state, answer);
  const result = finishedRun(run, { state, ...givenBy(run, ending.state, answer) });
  if (result.outcome.status !== "waiting") identity.parent?.record.children.push(result);
  const failure = state.outcome?.status === "failed" ? (unwritten?.error ?? failureOf(run, ending)) : undefined;
  endSpan(run, state, failure);
  const error = failure && withResult(failure, result);
  if (error !== undefined) record.emit({ type: "error", error, source: "run" });
  record.emit({ type: "run-end", outcome: result.outcome, result });
  if (error !== undefined) throw error;
  if (isAborted(state)) throw scope.cancellation.reason;
  return result;
}

// The messages that join the conversation. An abort leaves the text that was streamed so far, unless it stands beside calls, or
// guardrails would have had to see it.
function answerOf(run: Run, state: AgentState): readonly Message[] {
  const { draft, agent, record } = run;
  const turn = turnOf(state);
  const isCutOff = isAborted(state) && turn.length === 0 && draft.text !== "" && draft.messages === undefined;
  if (!isCutOff || agent.guardrails.output.length > 0) return turn;
  const metadata = { ...record.stamp({ step: state.stepCount + 1 }), interrupted: true };
  return [assistant(draft.text, { metadata })];
}

interface Unwritten {
  readonly outcome: Outcome;
  readonly error: OffstageError;
}

// An answer that is not stored was not given, so a session that cannot store the end makes the run a failure.
async function writeEnd(run: Run, state: AgentState, answer: readonly Message[]): Promise<Unwritten | undefined> {
  const { record } = run;
  try {
    await record.end(runEnd(run, state, answer), { lastStep: state.currentStep, span: closedSpan(run, state) });
    return undefined;
  } catch (cause) {
    await record.log?.abandon();
    if (isAborted(state) || state.outcome?.status === "failed") return undefined;
    const message = `The end of the run could not be stored: ${messageOf(cause)}`;
    const error = isOffstageError(cause) ? cause : new OffstageError("store-failed", message, { cause });
    return { outcome: { status: "failed", reason: "store-failed", message }, error };
  }
}

function runEnd(run: Run, state: AgentState, answer: readonly Message[]): RunEnd {
  const { status, reason, message } = state.outcome as Outcome;
  const isEverything = run.request.options.persist === "everything";
  const notes = notesOf(run, state);
  return {
    status,
    reason,
    usage: state.usage,
    endedAt: isoNow(),
    answer: (isEverything ? everythingSaid(run, state, answer) : answer).map(withoutProviderParts),
    ...(notes !== undefined && { notes }),
    ...(status === "failed" && { error: { code: reason, message } }),
  };
}

function notesOf(run: Run, { pendingStep, usageByModel, stepCount, outcome }: AgentState): JsonObject | undefined {
  const mayGoOn = outcome?.status === "waiting" || outcome?.status === "failed";
  const notes = {
    ...(pendingStep && { waiting: waitingNote(pendingStep) as unknown as JsonValue }),
    ...promptNote(run),
    ...(run.identity.parent && { usageByModel: usageByModel as unknown as JsonValue }),
    ...(run.request.options.persist === "everything" && mayGoOn && { saidSteps: stepCount }),
  };
  return Object.keys(notes).length === 0 ? undefined : notes;
}

// Steps that joined the conversation when an earlier part of the run ended are there already.
function everythingSaid({ record, request }: Run, state: AgentState, answer: readonly Message[]): readonly Message[] {
  const recorded = record.log?.recorded;
  const said = recorded === undefined ? request.saidSteps : saidNote(recorded);
  const done = state.steps.slice(said).flatMap((step) => step.messages);
  return [...done, ...answer.filter((message) => !done.includes(message))];
}

// The agent's list gets what there is of a step that waits or was interrupted; a finished answer is there with its step.
function trackRest({ record, draft }: Run, state: AgentState, answer: readonly Message[]): void {
  const unfinished = state.status === "waiting" ? state.pendingStep?.step.messages : draft.messages;
  if (unfinished !== undefined) record.trackUnfinished(unfinished);
  if (isAborted(state) && !state.currentStep?.isAnswer) record.track(answer);
}

// Text and output as the run ended: an answer that could not be stored is still one. Of a failed run, the text so far.
function givenBy(run: Run, { outcome }: AgentState, answer: readonly Message[]): { text: string; output: unknown } {
  const { draft, agent } = run;
  const unchecked = agent.guardrails.output.length === 0 ? draft.text : "";
  const text = outcome?.status === "failed" ? unchecked : answer.map(textOf).join("");
  if (agent.output === undefined) return { text, output: text };
  return { text, output: outcome?.status === "completed" ? draft.output : undefined };
}

function failureOf({ agent }: Run, { state, failedWith }: Ending): OffstageError {
  if (isOffstageError(failedWith)) return failedWith;
  if (failedWith !== undefined) return new OffstageError("run-failed", messageOf(failedWith), { cause: failedWith });
  const { reason, message } = state.outcome as Outcome;
  return new OffstageError(failureCode(reason, agent.output !== undefined), `Agent "${agent.name}" failed: ${message}`);
}

function failureCode(reason: string, hasOutput: boolean): ErrorCode {
  if (reason === "error-policy") return reason;
  return reason === "retry-limit" && hasOutput ? "output-mismatch" : "run-failed";
}

// The run's own span as it is about to end: it ends after the last write, and must be in it.
function closedSpan({ scope }: Run, state: AgentState): SpanData {
  const { span } = scope;
  const endTime = Math.max(span.startTime, span.trace.clockOffset + performance.now());
  const metadata = { ...span.metadata, ...endMetadata(state) };
  return { ...span.toJSON(), metadata, endTime, duration: endTime - span.startTime, status: spanStatus(state) };
}

function endSpan({ scope }: Run, state: AgentState, failure: OffstageError | undefined): void {
  scope.span.setMetadata(endMetadata(state));
  if (failure !== undefined) scope.span.fail(failure);
  else scope.span.end(spanStatus(state));
}

function spanStatus(state: AgentState): EndStatus {
  if (isAborted(state)) return "cancelled";
  return state.outcome?.status === "failed" ? "error" : "ok";
}

function endMetadata({ outcome, usage, stepCount }: AgentState): JsonObject {
  return { outcome: outcome?.status, reason: outcome?.reason, usage: { ...usage }, steps: stepCount };
}

// The same error keeps its class; one that cannot take a result is wrapped.
function withResult(error: OffstageError, result: RunResult<unknown>): OffstageError {
  const property = { value: result, configurable: true, enumerable: false };
  if (error.result === undefined && Reflect.defineProperty(error, "result", property)) return error;
  return new OffstageError(error.code, error.message, { cause: error, result });
}
