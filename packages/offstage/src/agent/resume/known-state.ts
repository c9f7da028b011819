// The state of a run that is taken up again: the one that was handed in, or what the journal holds where that is newer.

import type { JsonObject } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import type { RunRecord } from "../../sessions/journal.ts";
import { approvedNotes } from "../../sessions/run-notes.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import type { AwaitedCall, PendingStep } from "../../state/pending-step.ts";
import { awaitedCalls } from "../ports/approvals.ts";
import type { Run } from "../run/run.ts";
import { canRunAgain, restoreState } from "./restore-state.ts";

/** The newest state there is of a run. */
export function knownState(run: Run, recorded: RunRecord | undefined, history: readonly Message[]): AgentState {
  const isOwn = run.request.hasOwnState && (recorded === undefined || !isAhead(recorded, run.state));
  const state = isOwn || recorded === undefined ? run.state : restoreState(recorded, history, run.agent);
  return withoutApproved(run, state);
}

// A call that is open in the journal, and that the state knows nothing of or still waits for, must not run again.
function isAhead({ steps, openStep }: RunRecord, { stepCount, pendingStep }: AgentState): boolean {
  if (steps.length > stepCount) return true;
  if (openStep === undefined || openStep.step <= stepCount) return false;
  const waiting = new Set(pendingStep?.waiting.map(({ toolCallId }) => toolCallId));
  return pendingStep === undefined || openStep.results.some((result) => waiting.has(result.tool_call_id));
}

// A call that was approved before and has no result may have run: it does not wait, and has no second chance.
function withoutApproved(run: Run, state: AgentState): AgentState {
  const { pendingStep } = state;
  if (pendingStep === undefined) return state;
  const names = new Map(pendingStep.step.toolCalls.map(({ toolCallId, toolName }) => [toolCallId, toolName]));
  const waiting = pendingStep.waiting.map((call) => {
    const { toolCallId } = call;
    const isCutOff = call.why === "approval" && call.child === undefined;
    if (!isCutOff || !run.request.decisions.wasApproved({ toolCallId, runId: run.identity.runId })) return call;
    const isSafe = canRunAgain(run.agent, names.get(toolCallId) ?? "");
    return { toolCallId, why: isSafe ? ("again" as const) : ("interrupted" as const) };
  });
  return state.withPendingStep({ ...pendingStep, waiting });
}

/** The outcome of a run that had come to its end: a subagent's, whose parent was cut off before it heard. */
export function endedOutcome(recorded: RunRecord | undefined): Outcome | undefined {
  const { status, reason = "" } = recorded ?? {};
  if (status !== "completed" && status !== "stopped") return undefined;
  return { status, reason, message: `The run had ended: ${reason}.` };
}

/** Checks the decisions against what waits, and gives the note that says what may begin. Throws where they do not fit. */
export function admitDecisions(run: Run, recorded: RunRecord): JsonObject | undefined {
  const earlier = approvedNotes(recorded);
  run.request.decisions.recall(earlier);
  const approved = checkDecisions(run, knownState(run, recorded, []).pendingStep);
  if (approved.length === 0) return undefined;
  return { approved: [...earlier, ...approved].map((call) => ({ ...call })) };
}

/** The calls that may begin now. Throws where the decisions do not fit what waits, or cannot be carried out. */
export function checkDecisions(run: Run, pendingStep: PendingStep | undefined): AwaitedCall[] {
  const approved = run.request.decisions.check(awaitedCalls({ pendingStep, runId: run.identity.runId }));
  checkRunnable(run, pendingStep, approved);
  return approved;
}

// An approval is for what was asked, and is not spent on a call that cannot run. What runs in a subagent it knows itself: there the
// model is told.
function checkRunnable(run: Run, pending: PendingStep | undefined, approved: readonly AwaitedCall[]): void {
  for (const { toolCallId: id, toolName, isRedacted } of pending?.step.toolCalls ?? []) {
    if (!approved.some(({ toolCallId, runId }) => toolCallId === id && runId === run.identity.runId)) continue;
    if (!run.agent.tools.has(toolName))
      throw notRunnable(id, `agent "${run.agent.name}" has no tool "${toolName}". Resume with an agent that has it.`);
    if (isRedacted)
      throw notRunnable(
        id,
        "its arguments were redacted in the store. Resume the run by the state it left, or reject it.",
      );
  }
}

function notRunnable(id: string, why: string): OffstageError {
  return new OffstageError("run-not-resumable", `The call "${id}" is approved and cannot run: ${why}`);
}
