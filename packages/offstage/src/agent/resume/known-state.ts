// The state of a run that is resumed: the state that was passed in, or the journal's if that is newer.
import type { Message } from "../../messages/message.ts";
import type { Admission } from "../../sessions/ports/journal.ts";
import type { RunRecord } from "../../sessions/ports/run-record.ts";
import { approvedNotes } from "../../sessions/records/run-notes.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import { byCallId } from "../../state/pending-step.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { resolveSetup } from "../input/prompt.ts";
import type { AdmittedCall } from "../ports/decision-book.ts";
import type { Run } from "../run/run.ts";
import { editCall } from "../step/make-step.ts";
import { awaitedPlaces, type Beneath, type Records } from "./awaited-places.ts";
import { canRunAgain, restoreState } from "./restore-state.ts";

/** The newest known state of a run. */
export function knownState(run: Run, recorded: RunRecord | undefined, history: readonly Message[]): AgentState {
  const isOwn = run.request.hasOwnState && (recorded === undefined || !isAhead(recorded, run.state));
  const isKnown = !isOwn && recorded !== undefined;
  const at = { agent: run.agent, setup: run.input.setup };
  const state = isKnown ? restoreState(recorded, history, at) : withToolWork(run.state, run.agent);
  return withAnswers(run, withEdits(run, withoutApproved(run, state)));
}

// A stopped run goes on with all its tool work. If the tool trace is separate, its end emptied the buffer and added partial text.
function withToolWork(state: AgentState, { options }: AgentConfig): AgentState {
  const { runId, steps, outcome } = state;
  if (outcome?.status !== "stopped" || !options.separateToolTrace) return state;
  const said = state.messages.filter(({ metadata }) => metadata?.interrupted !== true || metadata.runId !== runId);
  const trace = steps.flatMap((step) => step.messages);
  return state.withMessages(said).withSection(AgentState.EXECUTION_BUFFER_SECTION, trace);
}

// The calls as a person changed them. The model is shown the changed input as its own, or it would repeat the original call.
function withEdits(run: Run, state: AgentState): AgentState {
  const { pendingStep } = state;
  const { runId } = run.identity;
  const calls = byCallId(pendingStep?.step.toolCalls ?? []);
  const edits = (pendingStep?.waiting ?? []).flatMap(({ toolCallId }) => {
    const inputText = run.request.decisions?.editOf({ toolCallId, runId });
    const call = calls.get(toolCallId);
    const isDone = call?.isEdited && !call.isRedacted && call.inputText === inputText;
    return inputText === undefined || isDone ? [] : [{ toolCallId, inputText }];
  });
  if (pendingStep === undefined || edits.length === 0) return state;
  const step = edits.reduce(editCall, pendingStep.step);
  return state.withPendingStep({ ...pendingStep, step });
}

// The questions that are answered now. Their calls run again, and are given the answers.
function withAnswers({ request, identity }: Run, state: AgentState): AgentState {
  const { pendingStep } = state;
  if (pendingStep === undefined) return state;
  const waiting = pendingStep.waiting.map((call) => {
    const { toolCallId, question, answers = [], ...rest } = call;
    const answer = request.decisions?.answerTo({ toolCallId, runId: identity.runId });
    if (answer === undefined) return call;
    // The record of a subagent has the answer already: it was written when the outermost run was resumed.
    const given = question === undefined ? answers : [...answers, answer];
    return { ...rest, toolCallId, why: "question" as const, answers: given };
  });
  return state.withPendingStep({ ...pendingStep, waiting });
}

// True if the journal knows more than the state: further steps, calls that have begun, answers, or results that the state still waits for.
// Such a call must not run again.
function isAhead({ steps, openStep }: RunRecord, { stepCount, pendingStep }: AgentState): boolean {
  if (steps.length > stepCount) return true;
  if (openStep === undefined || openStep.step <= stepCount) return false;
  const waiting = new Set(pendingStep?.waiting.map(({ toolCallId }) => toolCallId));
  if (pendingStep === undefined || openStep.results.some((result) => waiting.has(result.tool_call_id))) return true;
  const stillWaiting = new Set(openStep.waiting);
  return pendingStep.waiting.some(({ toolCallId, question, answers = [] }) => {
    const known = openStep.questions?.[toolCallId];
    const isAnswered = question !== undefined && !stillWaiting.has(toolCallId);
    return isAnswered || (known?.answers.length ?? 0) > answers.length;
  });
}

// A call that was approved earlier and has no result may have run. It no longer waits, and runs again only if its tool allows it.
function withoutApproved(run: Run, state: AgentState): AgentState {
  const { pendingStep } = state;
  if (pendingStep === undefined) return state;
  const names = new Map(pendingStep.step.toolCalls.map(({ toolCallId, toolName }) => [toolCallId, toolName]));
  const waiting = pendingStep.waiting.map((call) => {
    const { toolCallId } = call;
    const isOwn = call.why === "approval" && call.child === undefined;
    if (!isOwn || run.request.decisions?.wasApproved({ toolCallId, runId: run.identity.runId }) !== true) return call;
    const isSafe = canRunAgain({ agent: run.agent, setup: run.input.setup }, names.get(toolCallId) ?? "");
    return { toolCallId, why: isSafe ? ("again" as const) : ("interrupted" as const) };
  });
  return state.withPendingStep({ ...pendingStep, waiting });
}

/** The outcome of a run that has ended already: a subagent's, if its parent was interrupted before it got the result. */
export function endedOutcome(recorded: RunRecord | undefined): Outcome | undefined {
  const { status, reason = "" } = recorded ?? {};
  if (status !== "completed" && status !== "stopped") return undefined;
  return { status, reason, message: `The run had ended: ${reason}.` };
}

/** Checks the decisions against the waiting calls. Rejects if one does not match; resolves with what is to be written of them. */
export async function admitDecisions(run: Run, recorded: RunRecord, beneath: Records): Promise<Admission> {
  const earlier = approvedNotes(recorded);
  run.request.decisions?.recall(earlier);
  const admitted = await checkDecisions(run, knownState(run, recorded, []), beneath);
  const approved = admitted.filter(({ answers }) => answers === undefined);
  return {
    ...(approved.length > 0 && {
      notes: { approved: [...earlier, ...approved].map(({ toolCallId, runId }) => ({ toolCallId, runId })) },
    }),
    calls: admitted.filter(({ editedInput, answers }) => editedInput !== undefined || answers !== undefined),
  };
}

/** The calls that may run now. Rejects if a decision does not match a waiting call, or if an approved call cannot run. */
export async function checkDecisions(
  run: Run,
  state: AgentState,
  records: Records = new Map(),
): Promise<AdmittedCall[]> {
  const own = { pendingStep: state.pendingStep, runId: run.identity.runId };
  const at = { agent: run.agent, setup: run.input.setup };
  const setUp: Beneath["setUp"] = async (agent, place) =>
    agent.setup ?? resolveSetup(agent, { ...place, ...run.scope });
  const awaited = await awaitedPlaces(own, at, { records, setUp });
  return (await run.request.decisions?.check(awaited)) ?? [];
}
