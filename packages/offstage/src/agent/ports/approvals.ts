// Approvals: the calls that wait for a person, and the options with which a person decides. decision-book.ts checks the decisions.

import type { JsonValue } from "../../base/json.ts";
import { type Approval, approvalOf } from "../../sessions/ports/run-record.ts";
import type { AgentState } from "../../state/agent-state.ts";
import {
  type AgentStateJson,
  type AwaitedCall,
  byCallId,
  type PendingStep,
  type WaitingCall,
} from "../../state/pending-step.ts";
import type { StepToolCall } from "../../state/step.ts";

/** The call that a decision is about: its id, or its entry of `result.approvals` if two runs use the same id. */
export type DecidedCall = string | { readonly toolCallId: string; readonly runId?: string | undefined };

/** Decisions about calls that wait for approval. */
export interface Decisions {
  /** With another `input` than the model's, the call runs with that input, and the model is shown it as its own. */
  readonly approve?:
    | readonly (
        | DecidedCall
        | { readonly toolCallId: string; readonly runId?: string | undefined; readonly input: JsonValue }
      )[]
    | undefined;
  /** The model sees the rejection, with its reason if there is one. */
  readonly reject?:
    | readonly (
        | DecidedCall
        | { readonly toolCallId: string; readonly runId?: string | undefined; readonly reason: string }
      )[]
    | undefined;
}

type Waiting = Pick<AgentState | AgentStateJson, "pendingStep" | "runId">;

/** The calls of a state that wait for approval, including those of subagents. */
export function approvalsOf(state: Waiting, agent: string): Approval[] {
  const { pendingStep, runId = "" } = state;
  if (pendingStep === undefined) return [];
  const calls = byCallId(pendingStep.step.toolCalls);
  return pendingStep.waiting.flatMap(({ toolCallId, why, child }): Approval[] => {
    if (child?.state !== undefined) return approvalsOf(child.state, child.agent);
    if (why !== "approval" || child !== undefined) return [];
    return [approvalOf(calls.get(toolCallId) as StepToolCall, { agent, runId })];
  });
}

/** The same calls by id, including those of subagents whose state is only in the journal. */
export function awaitedCalls({ pendingStep, runId = "" }: Waiting): AwaitedCall[] {
  return (pendingStep?.waiting ?? []).flatMap(({ toolCallId, why, child }): readonly AwaitedCall[] => {
    if (child?.state !== undefined) return awaitedCalls(child.state);
    if (child !== undefined) return child.awaits ?? [];
    return why === "approval" ? [{ toolCallId, runId }] : [];
  });
}

/** The waiting calls as the journal keeps them: without the states of subagents, whose runs have records of their own. */
export function waitingNote({ waiting }: PendingStep): readonly WaitingCall[] {
  return waiting.map((call) => {
    if (call.child?.state === undefined) return call;
    const { state, ...child } = call.child;
    return { ...call, child: { ...child, awaits: awaitedCalls(state) } };
  });
}
