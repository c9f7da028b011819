// Ends a run, whatever its outcome: the answer joins the session, the rest joins the journal, and every listener is notified once.
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { type ErrorCode, isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import { type Message, textOf, toolCallsOf, withoutProviderParts } from "../../messages/message.ts";
import { MessageQuery } from "../../query/message-query.ts";
import type { RunSummary } from "../../query/run-summary.ts";
import type { EndRefusal, RunEnd } from "../../sessions/ports/journal.ts";
import { saidNote } from "../../sessions/records/run-notes.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import { interruptedText, partialAnswer, turnOf } from "../../state/turn-of.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import type { Usage } from "../../tokens/usage.ts";
import type { EndStatus, SpanData } from "../../tracing/span-data.ts";
import type { TraceContext } from "../../tracing/trace-context.ts";
import type { StepSetup } from "../config/step-setup.ts";
import { closePrompt } from "../input/prompt.ts";
import { approvalsOf, waitingNote } from "../ports/approvals.ts";
import type { RunResult } from "../ports/run-result.ts";
import { RefusedResume } from "../run/refused-resume.ts";
import type { Run } from "../run/run.ts";
import { StopRequest } from "../run/stop-request.ts";
import { type SubagentRun, withSubagents } from "../run/subagent-run.ts";
import { failureWithResult, reasonWithResult } from "./carry-result.ts";
import { reopenAnswer } from "./inbox.ts";

/** The end of a run: its last state, which has an outcome, and the error it failed with. */
export interface Ending {
  readonly state: AgentState;
  readonly error?: unknown;
  /** True if the run was to be resumed, and nothing has happened: its error carries no result. */
  readonly isRefused?: boolean;
}

/** The ending of a run whose loop threw, because of an abort or a failure. */
export function endingOf(run: Run, thrown: unknown): Ending {
  const isRefused = thrown instanceof RefusedResume;
  const error = isRefused ? thrown.cause : thrown;
  const { finished } = run.draft;
  const isAhead = finished !== undefined && finished.stepCount > run.state.stepCount;
  const state = (isAhead ? finished : run.state).withUsage(run.limits.ledger.usageByModel);
  if (run.scope.cancellation.signal.aborted) return { state: state.withOutcome(abortedOutcome(run)) };
  const reason = isOffstageError(error) ? error.code : "error";
  return { state: state.withOutcome({ status: "failed", reason, message: messageOf(error) }), error, isRefused };
}

export function abortedOutcome({ scope }: Run): Outcome {
  const { reason } = scope.cancellation.signal;
  if (reason instanceof StopRequest) return stoppedOutcome(reason);
  const message = `The run was aborted: ${messageOf(scope.cancellation.signal.reason)}`;
  return { status: "stopped", reason: "aborted", message };
}

function stoppedOutcome({ message }: StopRequest): Outcome {
  return { status: "stopped", reason: "stop-requested", message };
}

function isAborted(state: AgentState): boolean {
  return state.outcome?.reason === "aborted";
}

// True if the run was cut off in the middle of a step, by an abort or a request to stop.
function isCutOff(state: AgentState): boolean {
  return isAborted(state) || state.outcome?.reason === "stop-requested";
}

/**
 * Writes the end, emits it and returns the result. Throws the failure of a failed run, or the reason of an abort. If something was said
 * that the run has not seen, writes nothing and returns the state to go on with.
 */
export async function conclude(run: Run, ending: Ending): Promise<RunResult<unknown> | AgentState> {
  const { record, identity, scope } = run;
  const answer = answerOf(run, ending.state);
  const totals = totalsOf(run, ending.state);
  const written = await writeEnd(run, ending.state, { answer, totals });
  // The run was asked to stop before its end was written.
  if (written === "stop")
    return conclude(run, { state: ending.state.withOutcome(stoppedOutcome(new StopRequest(""))) });
  const reopened = written === "inbox" ? await reopenAnswer(run, ending.state) : undefined;
  if (reopened !== undefined) return reopened;
  const writeFailure =
    written === "inbox" ? await writeEnd(run, ending.state, { answer, totals, leavesInbox: true }) : written;
  if (typeof writeFailure === "string") return conclude(run, ending);
  const closed = run.input.compaction ? await closePrompt(run, ending.state, answer) : ending.state;
  const state = writeFailure === undefined ? closed : closed.withOutcome(writeFailure.outcome);
  // Code that is called from now on, such as a hook, is not part of this run.
  if (scope.reentrancy !== undefined) scope.reentrancy.held = undefined;
  const rest = restOf(run, state, answer);
  record.track(rest);
  const result = finishedRun(run, { state, rest, totals, ...outputOf(run, ending.state, answer) });
  identity.parent?.record.addSubagent({ toolCallId: identity.parentToolCallId, result });
  const failure = state.outcome?.status === "failed" ? (writeFailure?.error ?? failureOf(run, ending)) : undefined;
  const { status, metadata } = spanEnd(state, totals.usage);
  scope.span.setMetadata(metadata);
  if (failure === undefined) scope.span.end(status);
  else scope.span.fail(failure);
  const error = failure && (ending.isRefused ? failure : failureWithResult(failure, result));
  if (error !== undefined) record.emit?.({ type: "error", error, source: "run" });
  record.emit?.({ type: "run-end", outcome: result.outcome, result });
  if (error !== undefined) throw error;
  if (isAborted(state)) throw reasonWithResult(run, result);
  return result;
}

// The messages that join the conversation. After an abort, the newest text joins it too, unless output guardrails have not seen it.
function answerOf(run: Run, state: AgentState): readonly Message[] {
  const turn = turnOf(state);
  if (!isCutOff(state) || turn.length > 0 || run.agent.guardrails.output.length > 0) return turn;
  const partial = cutOffText(run, state) ?? partialAnswer(state);
  return partial === undefined ? [] : [partial];
}

// The text of the reply under way: as far as it was streamed, or beside the calls that were running.
function cutOffText({ draft, record }: Run, { stepCount }: AgentState): Message | undefined {
  const [reply] = draft.messages ?? [];
  const text = reply === undefined ? draft.text : textOf(reply);
  if (text.trim() === "") return undefined;
  const step = stepCount + 1;
  return interruptedText(text, reply?.metadata ?? record.stamp({ step }), step);
}

/** The tokens of a run and its subagents, and their cost. */
export interface Totals {
  readonly usage: Usage;
  readonly cost: number | undefined;
}

export function totalsOf({ agent }: Run, state: AgentState): Totals {
  return { usage: state.usage, cost: agent.pricing.totalCost(state.usageByModel) };
}

interface EndParts {
  readonly answer: readonly Message[];
  readonly totals: Totals;
  readonly leavesInbox?: boolean;
}

interface WriteFailure {
  readonly outcome: Outcome;
  readonly error: OffstageError;
}

// An answer counts only once it is stored, so a run whose end cannot be stored has failed.
async function writeEnd(
  run: Run,
  state: AgentState,
  { answer, totals, leavesInbox }: EndParts,
): Promise<WriteFailure | EndRefusal | undefined> {
  const { record } = run;
  try {
    return await record.end(
      { ...runEnd(run, state, answer), ...totals, ...(leavesInbox && { leavesInbox }) },
      {
        lastStep: state.currentStep,
        verdicts: state.outcome?.verdicts,
        span: closedSpan(run, state, totals.usage),
      },
    );
  } catch (cause) {
    await record.log?.abandon();
    if (isCutOff(state) || state.outcome?.status === "failed") return undefined;
    const message = `The end of the run could not be stored: ${messageOf(cause)}`;
    const error = isOffstageError(cause) ? cause : new OffstageError("store-failed", message, { cause });
    return { outcome: { status: "failed", reason: "store-failed", message }, error };
  }
}

function runEnd(run: Run, state: AgentState, answer: readonly Message[]): Omit<RunEnd, keyof Totals> {
  const { status, reason, message } = state.outcome as Outcome;
  const isEverything = run.request.options.persist === "everything";
  const notes = notesOf(run, state);
  const { reason: cancelled } = run.scope.cancellation.signal;
  const setup: StepSetup | undefined = run.input.setup;
  return {
    status,
    reason,
    ...(setup && { model: setup.model.modelId, provider: setup.model.provider }),
    ...(cancelled instanceof StopRequest && { stopReason: cancelled.reason }),
    endedAt: new Date().toISOString(),
    answer: (isEverything ? allNewMessages(run, state, answer) : answer).map(withoutProviderParts),
    ...(notes !== undefined && { notes }),
    ...(status === "failed" && { error: { code: reason, message } }),
  };
}

function notesOf(run: Run, { pendingStep, usageByModel, stepCount, outcome }: AgentState): JsonObject | undefined {
  const isResumable = outcome?.status !== "completed";
  const shortened = run.input.compaction?.note;
  const notes = {
    ...(pendingStep && { waiting: waitingNote(pendingStep) as unknown as JsonValue }),
    ...(shortened && { compaction: shortened as unknown as JsonValue }),
    ...(run.identity.parent && { usageByModel: usageByModel as unknown as JsonValue }),
    ...(run.request.options.persist === "everything" && isResumable && { saidSteps: stepCount }),
  };
  return Object.keys(notes).length === 0 ? undefined : notes;
}

// Leaves out steps that joined the conversation before the run was resumed.
function allNewMessages({ record, request }: Run, state: AgentState, answer: readonly Message[]): readonly Message[] {
  const recorded = record.log?.recorded;
  const storedSteps = recorded === undefined ? request.saidSteps : saidNote(recorded);
  const steps = state.steps.slice(storedSteps);
  // The answer takes the place of its step, whose messages may lack the mark of an aborted run.
  const isAnswered = state.currentStep?.isAnswer === true && answer.length > 0;
  const done = (isAnswered ? steps.slice(0, -1) : steps).flatMap(({ messages }) => messages);
  // Joined messages are in the conversation already: the run added them when it took them in.
  const own = done.filter(({ metadata }) => metadata?.isJoined !== true);
  // A draft that became the partial answer stands once, at its own place, with the mark.
  const marked = own.map((message) => answer.find((each) => isCopy(each, message)) ?? message);
  return [...marked, ...answer.filter((message) => !marked.includes(message))];
}

// True for two forms of one reply without calls. Text that was cut from a reply with calls is a message of its own.
function isCopy({ metadata }: Message, message: Message): boolean {
  const id = metadata?.id;
  return id !== undefined && id === message.metadata?.id && toolCallsOf(message).length === 0;
}

// The messages that are in no finished step: those so far of a step that waits or was interrupted, and the text of an aborted run if no
// other message has it.
function restOf({ draft }: Run, state: AgentState, answer: readonly Message[]): readonly Message[] {
  const pending = state.pendingStep?.step.messages ?? [];
  const unfinished = state.outcome?.status === "waiting" ? pending : (draft.messages ?? pending);
  if (!isCutOff(state)) return unfinished;
  const known = [...state.steps.flatMap(({ messages }) => messages), ...unfinished];
  const partial = answer.filter(({ metadata }) => !known.some((each) => each.metadata?.id === metadata?.id));
  return [...unfinished, ...partial];
}

// The text and output of the result. An answer that could not be stored is included; a failed run has the text so far.
function outputOf(run: Run, state: AgentState, answer: readonly Message[]): { text: string; output: unknown } {
  const { draft, agent } = run;
  const { outcome, currentStep } = state;
  const unchecked = agent.guardrails.output.length === 0 ? draft.text : "";
  const soFar = currentStep?.isAnswer ? currentStep.text : unchecked;
  const text = outcome?.status === "failed" ? soFar : answer.map(textOf).join("");
  if (agent.output === undefined) return { text, output: text };
  return { text, output: outcome?.status === "completed" ? draft.output : undefined };
}

function failureOf({ agent }: Run, { state, error }: Ending): OffstageError {
  if (isOffstageError(error)) return error;
  if (error !== undefined) return new OffstageError("run-failed", messageOf(error), { cause: error });
  const { reason, message } = state.outcome as Outcome;
  return new OffstageError(failureCode(reason, agent.output !== undefined), `Agent "${agent.name}" failed: ${message}`);
}

function failureCode(reason: string, hasOutput: boolean): ErrorCode {
  if (reason === "error-policy") return reason;
  return reason === "retry-limit" && hasOutput ? "output-mismatch" : "run-failed";
}

// The run's own span as it will end. It ends after the last write, but must be part of it.
function closedSpan({ scope }: Run, state: AgentState, usage: Usage): SpanData {
  const { span } = scope;
  const { status, metadata } = spanEnd(state, usage);
  const endTime = Math.max(span.startTime, span.trace.clockOffset + performance.now());
  const duration = endTime - span.startTime;
  return { ...span.toJSON(), metadata: { ...span.metadata, ...metadata }, endTime, duration, status };
}

function spanEnd(state: AgentState, usage: Usage): { readonly status: EndStatus; readonly metadata: JsonObject } {
  const { status: outcome, reason } = state.outcome ?? {};
  const status = outcome === "failed" ? "error" : "ok";
  const metadata = { outcome, reason, usage: { ...usage }, steps: state.stepCount };
  return { status: isCutOff(state) ? "cancelled" : status, metadata };
}

export interface FinishedParts {
  readonly state: AgentState;
  readonly text: string;
  readonly output: unknown;
  /** The messages that are in no finished step: those of the step under way, and a partial answer. */
  readonly rest: readonly Message[];
  readonly totals: Totals;
}

/** The result of a run. JSON and console.log show only the fields that are worth logging. */
export function finishedRun(run: Run, { state, text, output, rest, totals }: FinishedParts): RunResult<unknown> {
  const { identity, agent, record, scope, input } = run;
  const trace = scope.span.recording ? (scope.span.trace as TraceContext) : undefined;
  const fields: Omit<RunResult<unknown>, "requireOutput"> = {
    runId: identity.runId,
    parentRunId: identity.parent?.identity.runId,
    agent: agent.name,
    output,
    text,
    outcome: state.outcome as Outcome,
    state,
    steps: state.steps,
    ...totals,
    traceId: trace?.traceId,
    trace,
    messages: queryOver(
      { input: record.input, state, rest, subagents: record.subagents, facts: runFacts(run), totals },
      agent.tokenCounter,
    ),
    children: record.children,
    historyCut: input.historyCut,
    guardrailTrips: record.trips,
    approvals: state.pendingStep === undefined ? [] : approvalsOf(state, agent.name),
  };
  const result = Object.defineProperties(fields, {
    requireOutput: { value: () => requiredOutput(result) },
    toJSON: { value: () => loggable(result) },
    [Symbol.for("nodejs.util.inspect.custom")]: { value: () => printable(result) },
  }) as RunResult<unknown>;
  return result;
}

function requiredOutput(result: RunResult<unknown>): unknown {
  const { output, outcome, runId } = result;
  if (output !== undefined && outcome.status === "completed") return output;
  const sentence = `Run "${runId}" has no output: it is ${outcome.status} (${outcome.reason}). ${outcome.message}`;
  throw new OffstageError("no-output", sentence, { result });
}

interface Exchanged {
  readonly input: readonly Message[];
  readonly state: AgentState;
  readonly rest: readonly Message[];
  readonly subagents: readonly SubagentRun[];
  readonly facts: RunFacts;
  readonly totals: Totals;
}

// A separate function, so that the query does not keep the rest of the run in memory.
function queryOver(exchanged: Exchanged, tokenCounter: TokenCounter): MessageQuery {
  const { facts, state, subagents, totals } = exchanged;
  const runs = () => [runSummary(facts, state, totals), ...subagents.flatMap(({ result }) => result.messages.runs())];
  return new MessageQuery(() => messagesOf(exchanged), { tokenCounter, runs });
}

function messagesOf({ input, state, rest, subagents }: Exchanged): readonly Message[] {
  return withSubagents([...input, ...state.steps.flatMap((step) => step.messages), ...rest], subagents);
}

function loggable({ state: _, steps: __, trace: ___, text: ____, ...result }: RunResult<unknown>): object {
  return { ...result, messages: result.messages.all() };
}

function printable(result: RunResult<unknown>): object {
  const { runId, agent, output, outcome, usage, cost, steps, traceId, children, approvals, historyCut } = result;
  const shown = { runId, agent, output, outcome, usage, cost, steps, traceId, children, approvals };
  return { ...shown, ...(historyCut && { historyCut }) };
}

// The part of a summary that only the run itself knows.
type RunFacts = Omit<RunSummary, "status" | "reason" | "error" | "usage" | "cost" | "steps">;

function runFacts(run: Run): RunFacts {
  const { identity, agent, record, input } = run;
  const setup: StepSetup | undefined = input.setup;
  const { parent, parentToolCallId, runId } = identity;
  const startedAt = record.log?.recorded?.startedAt ?? identity.startedAt;
  const endedAt = new Date().toISOString();
  const sessionId = sessionIdOf(run);
  const instructions = input.instructions.toArray().map(textOf).join("\n\n");
  return {
    runId,
    ...(parent !== undefined && { parentRunId: parent.identity.runId }),
    ...(parentToolCallId !== undefined && { parentToolCallId }),
    ...(sessionId !== undefined && { sessionId }),
    agent: agent.name,
    ...(setup && { model: setup.model.modelId, provider: setup.model.provider }),
    startedAt,
    endedAt,
    durationMs: Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)),
    ...(instructions !== "" && { instructions }),
  };
}

// A subagent is recorded in the session of the run above it.
function sessionIdOf({ identity, request }: Run): string | undefined {
  return identity.parent === undefined ? request.session?.sessionId : sessionIdOf(identity.parent);
}

function runSummary(facts: RunFacts, state: AgentState, { usage, cost }: Totals): RunSummary {
  const { status, reason, message } = state.outcome as Outcome;
  return {
    ...facts,
    status,
    reason,
    ...(status === "failed" && { error: { code: reason, message } }),
    usage,
    ...(cost !== undefined && { cost }),
    steps: state.stepCount,
  };
}
