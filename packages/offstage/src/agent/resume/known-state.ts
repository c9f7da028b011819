// The state of a run that is resumed: the state that was passed in, or the journal's if that is newer.
import type { JsonObject } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import type { RunRecord } from "../../sessions/ports/run-record.ts";
import { approvedNotes } from "../../sessions/records/run-notes.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import type { AwaitedCall, PendingStep } from "../../state/pending-step.ts";
import { awaitedCalls } from "../ports/approvals.ts";
import type { Run } from "../run/run.ts";
import { canRunAgain, restoreState } from "./restore-state.ts";

/** The newest known state of a run. */
export function knownState(run: Run, recorded: RunRecord | undefined, history: readonly Message[]): AgentState {
  const isOwn = run.request.hasOwnState && (recorded === undefined || !isAhead(recorded, run.state));
  const state = isOwn || recorded === undefined ? run.state : restoreState(recorded, history, run.agent);
  return withoutApproved(run, state);
}

// True if the journal knows more than the state: further steps, calls that have begun, or results that the state still waits for.
// Such a call must not run again.
function isAhead({ steps, openStep }: RunRecord, { stepCount, pendingStep }: AgentState): boolean {
  if (steps.length > stepCount) return true;
  if (openStep === undefined || openStep.step <= stepCount) return false;
  const waiting = new Set(pendingStep?.waiting.map(({ toolCallId }) => toolCallId));
  return pendingStep === undefined || openStep.results.some((result) => waiting.has(result.tool_call_id));
}

// A call that was approved earlier and has no result may have run. It no longer waits, and runs again only if its tool allows it.
function withoutApproved(run: Run, state: AgentState): AgentState {
  const { pendingStep } = state;
  if (pendingStep === undefined) return state;
  const names = new Map(pendingStep.step.toolCalls.map(({ toolCallId, toolName }) => [toolCallId, toolName]));
  const waiting = pendingStep.waiting.map((call) => {
    const { toolCallId } = call;
    const isOwn = call.why === "approval" && call.child === undefined;
    if (!isOwn || !run.request.decisions.wasApproved({ toolCallId, runId: run.identity.runId })) return call;
    const isSafe = canRunAgain(run.agent, names.get(toolCallId) ?? "");
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

/** Checks the decisions against the waiting calls, and returns a note of all approved calls. Throws if a decision does not match. */
export function admitDecisions(run: Run, recorded: RunRecord): JsonObject | undefined {
  const earlier = approvedNotes(recorded);
  run.request.decisions.recall(earlier);
  const approved = checkDecisions(run, knownState(run, recorded, []).pendingStep);
  if (approved.length === 0) return undefined;
  return { approved: [...earlier, ...approved].map((call) => ({ ...call })) };
}

/** The calls that may run now. Throws if a decision does not match a waiting call, or if an approved call cannot run. */
export function checkDecisions(run: Run, pendingStep: PendingStep | undefined): AwaitedCall[] {
  const approved = run.request.decisions.check(awaitedCalls({ pendingStep, runId: run.identity.runId }));
  checkRunnable(run, pendingStep, approved);
  return approved;
}

// An approval must not be used up by a call that cannot run. A subagent's calls are not checked here; there the model gets an error.
function checkRunnable(run: Run, pending: PendingStep | undefined, approved: readonly AwaitedCall[]): void {
  for (const { toolCallId: id, toolName, isRedacted } of pending?.step.toolCalls ?? []) {
    if (!approved.some(({ toolCallId, runId }) => toolCallId === id && runId === run.identity.runId)) continue;
    if (!run.agent.tools.has(toolName))
      throw notRunnable(id, `agent "${run.agent.name}" has no tool "${toolName}". Resume with an agent that has it.`);
    if (isRedacted)
      throw notRunnable(
        id,
        "its arguments were redacted in the store. Resume the run by its last state, or reject the call.",
      );
  }
}

function notRunnable(id: string, why: string): OffstageError {
  return new OffstageError("run-not-resumable", `Tool call "${id}" was approved but cannot run: ${why}`);
}
