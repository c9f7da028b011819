// The end of a run, however it came: the answer joins the session, the rest the journal, and everybody is told once.

import { clockMs, isoNow } from "../../base/clock.ts";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import type { Mutable } from "../../base/mutable.ts";
import { type ErrorCode, isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import { assistant } from "../../messages/makers.ts";
import { type Message, textOf, withMetadata, withoutProviderParts } from "../../messages/message.ts";
import { isSendable } from "../../messages/pairing.ts";
import type { RunEnd, RunLog } from "../../sessions/journal.ts";
import { saidNote } from "../../sessions/run-notes.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import type { Step } from "../../state/step.ts";
import { partialAnswer } from "../../state/turn-of.ts";
import type { EndStatus, SpanData } from "../../tracing/span-data.ts";
import { closeShown, shownNote } from "../input/shown-input.ts";
import { waitingNote } from "../ports/approvals.ts";
import type { RunResult } from "../ports/run-result.ts";
import { FinishedRun } from "../run/finished-run.ts";
import { journaling, newestRecord } from "../run/recorder.ts";
import { type Run, stamp } from "../run/run.ts";

/** How a run came to its end. */
export interface Ending {
  readonly state: AgentState;
  readonly failedWith?: unknown;
  readonly abortedWith?: { readonly reason: unknown };
}

/** Writes the end, tells of it, and gives the result, or throws what the run failed or was aborted with. */
export function conclude(run: Run, ending: Ending): RunResult<unknown> | Promise<RunResult<unknown>> {
  run.state = ending.state;
  const closing = { answer: answerOf(run, ending), ending };
  if (run.compaction !== undefined) return closeShown(run, closing.answer).then(() => close(run, closing));
  return close(run, closing);
}

// Writes the end, then tells of it: at once where the write is done at once.
function close(run: Run, closing: Closing): RunResult<unknown> | Promise<RunResult<unknown>> {
  const writing = run.log === undefined ? undefined : writeEnd(run, run.log, closing);
  return writing === undefined ? finish(run, closing) : writing.then((unwritten) => finish(run, closing, unwritten));
}

function finish(run: Run, { answer, ending }: Closing, unwritten?: OffstageError): RunResult<unknown> {
  // What begins from here on, in a hook for instance, is within no run that holds its session.
  if (run.around !== undefined) run.around.held = undefined;
  const failure = run.state.outcome?.status === "failed" ? (unwritten ?? failureOf(run, ending)) : undefined;
  const { pendingStep, status } = run.state;
  const unfinished = status === "waiting" ? pendingStep?.step.messages : run.underWay;
  if (unfinished !== undefined) run.tracked.addUnfinished(run.runId, unfinished);
  // The answer of a step that was done is there with its step.
  if (ending.abortedWith !== undefined && !run.state.currentStep?.isAnswer) run.tracked.add(answer);
  const text = textOfRun(run, ending, answer);
  const result = new FinishedRun(run, text, run.config.output === undefined ? text : checkedOutput(run, ending));
  if (result.outcome.status !== "waiting") run.parent?.children.push(result);
  if (run.isTraced) endSpan(run, failure, ending);
  if (failure !== undefined) {
    const error = withResult(failure, result);
    run.emit?.({ type: "error", runId: run.runId, agent: run.config.name, error, source: "run" });
    announceEnd(run, result);
    throw error;
  }
  if (run.emit !== undefined) announceEnd(run, result);
  if (ending.abortedWith !== undefined) throw ending.abortedWith.reason;
  return result;
}

// What joins the conversation: the answer, or what was said before something stopped the run.
function answerOf(run: Run, ending: Ending): readonly Message[] {
  const { state } = run;
  const { status, reason } = state.outcome as Outcome;
  const step = state.currentStep;
  if (ending.abortedWith !== undefined) return abortedAnswer(run);
  if (step?.isAnswer) return isPlainAnswer(step) ? step.messages : step.messages.filter(isSendable);
  if (status !== "stopped" || reason === "guardrail") return [];
  const partial = partialAnswer(state);
  return partial === undefined ? [] : [partial];
}

// Nearly every answer is one text: then no message need be looked at.
function isPlainAnswer({ messages }: Step): boolean {
  const content = messages[0]?.content;
  return messages.length === 1 && typeof content === "string" && content.trim() !== "";
}

// What no guardrail has seen is not kept, and what stands beside calls is no answer.
function abortedAnswer(run: Run): readonly Message[] {
  const step = run.state.currentStep;
  if (step?.isAnswer) return step.messages.filter(isSendable).map((each) => withMetadata(each, { interrupted: true }));
  if (run.partialText === "" || run.underWay !== undefined || run.config.guardrails.output.length > 0) return [];
  const metadata = stamp(run, run.state.stepCount + 1);
  return [assistant(run.partialText, { metadata: { ...metadata, interrupted: true } })];
}

function failureOf(run: Run, { failedWith }: Ending): OffstageError {
  const { reason, message } = run.state.outcome as Outcome;
  if (isOffstageError(failedWith)) return failedWith;
  if (failedWith !== undefined) return new OffstageError("run-failed", messageOf(failedWith), { cause: failedWith });
  return new OffstageError(failureCode(run, reason), `Agent "${run.config.name}" failed: ${message}`);
}

function failureCode(run: Run, reason: string): ErrorCode {
  if (reason === "error-policy") return reason;
  return reason === "retry-limit" && run.config.output !== undefined ? "output-mismatch" : "run-failed";
}

interface Closing {
  readonly answer: readonly Message[];
  readonly ending: Ending;
}

// What kept the end from being written; nothing where it is written at once.
function writeEnd(run: Run, log: RunLog, closing: Closing): Promise<OffstageError | undefined> | undefined {
  try {
    const end = runEnd(run, closing);
    const writing = run.isTraced ? journaling(run, "session.end", () => log.end(end)) : log.end(end);
    return writing?.then(nothing, (cause) => endUnwritten(run, closing.ending, { log, cause }));
  } catch (cause) {
    return endUnwritten(run, closing.ending, { log, cause });
  }
}

function nothing(): undefined {}

// A session that cannot take the end makes the run a failure: an answer that is not stored was not given.
async function endUnwritten(
  run: Run,
  ending: Ending,
  { log, cause }: { log: RunLog; cause: unknown },
): Promise<OffstageError | undefined> {
  await log.abandon();
  if (ending.abortedWith !== undefined || run.state.outcome?.status === "failed") return undefined;
  const message = `The end of the run could not be stored: ${messageOf(cause)}`;
  run.state = run.state.withOutcome({ status: "failed", reason: "store-failed", message });
  return isOffstageError(cause) ? cause : new OffstageError("store-failed", message, { cause });
}

function runEnd(run: Run, { answer, ending }: Closing): RunEnd {
  const { status, reason, message } = run.state.outcome as Outcome;
  const { currentStep: step } = run.state;
  const notes = notesOf(run);
  const end: Mutable<RunEnd> = {
    status,
    reason,
    usage: run.state.usage,
    endedAt: isoNow(),
    answer: (run.options.record === "everything" ? everything(run, answer) : answer).map(withoutProviderParts),
  };
  if (end.answer.length === 1 && end.answer[0] === run.frozenAnswer) end.isFrozen = true;
  if (step !== undefined && step.index > run.recordedSteps) end.lastStep = newestRecord(run, step);
  if (notes !== undefined) end.notes = notes;
  if (status === "failed") end.error = { code: reason, message };
  if (run.endedSpans.length > 0) end.spans = [...run.endedSpans.splice(0), closedSpan(run, ending)];
  return end;
}

function notesOf(run: Run): JsonObject | undefined {
  const { pendingStep, usageByModel, stepCount, outcome } = run.state;
  const waiting = pendingStep && { waiting: waitingNote(pendingStep) as unknown as JsonValue };
  const shown = run.compaction && shownNote(run);
  const usage = run.parent && { usageByModel: usageByModel as unknown as JsonValue };
  const mayGoOn = outcome?.status === "waiting" || outcome?.status === "failed";
  const said = run.options.record === "everything" && mayGoOn ? { saidSteps: stepCount } : undefined;
  return waiting || shown || usage || said ? { ...waiting, ...shown, ...usage, ...said } : undefined;
}

// The run's own span as it is about to end: it ends after this write, and must be in it.
function closedSpan(run: Run, ending: Ending): SpanData {
  const endTime = Math.max(run.span.startTime, run.span.trace.clockOffset + clockMs());
  const status = statusOf(run, ending);
  const metadata = { ...run.span.metadata, ...endMetadata(run) };
  return { ...run.span.toJSON(), metadata, endTime, duration: endTime - run.span.startTime, status };
}

function statusOf(run: Run, { abortedWith }: Ending): EndStatus {
  if (abortedWith !== undefined) return "cancelled";
  return run.state.outcome?.status === "failed" ? "error" : "ok";
}

function endMetadata({ state }: Run): JsonObject {
  const { status, reason } = state.outcome as Outcome;
  return { outcome: status, reason, usage: { ...state.usage }, steps: state.stepCount };
}

// What joined the conversation when an earlier part of the run ended is there.
function everything({ log, state, saidSteps }: Run, answer: readonly Message[]): readonly Message[] {
  const done = state.steps
    .slice(log?.recorded === undefined ? saidSteps : saidNote(log.recorded))
    .flatMap((step) => step.messages);
  return [...done, ...answer.filter((message) => !done.includes(message))];
}

// What a model had said when it failed is in the result, and nowhere else.
function unfinishedText(run: Run): string {
  return run.config.guardrails.output.length === 0 ? run.partialText : "";
}

// By how the run came to its end: an answer that could not be stored is still one.
function textOfRun(run: Run, { state }: Ending, answer: readonly Message[]): string {
  if (state.outcome?.status === "failed") return unfinishedText(run);
  return answer.length === 1 ? textOf(answer[0] as Message) : answer.map(textOf).join("");
}

// Of an answer that was checked; a run that was stopped has none.
function checkedOutput({ output }: Run, { state }: Ending): unknown {
  return state.outcome?.status === "completed" ? output : undefined;
}

function endSpan(run: Run, failure: OffstageError | undefined, ending: Ending): void {
  const { span } = run;
  span.setMetadata(endMetadata(run));
  if (failure !== undefined) span.fail(failure);
  else span.end(statusOf(run, ending));
}

function announceEnd(run: Run, result: RunResult<unknown>): void {
  run.emit?.({ type: "run-end", runId: run.runId, agent: run.config.name, outcome: result.outcome, result });
}

// The same error, so that its class survives; one that cannot take a result is wrapped.
function withResult(error: OffstageError, result: RunResult<unknown>): OffstageError {
  const property = { value: result, configurable: true, enumerable: false };
  if (error.result === undefined && Reflect.defineProperty(error, "result", property)) return error;
  return new OffstageError(error.code, error.message, { cause: error, result });
}
