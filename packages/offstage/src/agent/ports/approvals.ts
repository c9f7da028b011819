// Approvals: the calls that wait for a person, and the options with which a person decides. decision-book.ts checks the decisions.

import type { JsonValue } from "../../base/json.ts";
import { type Approval, approvalOf } from "../../sessions/ports/run-record.ts";
import type { AnyValues, ContextOf } from "../../state/agent-context.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
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

/** The answer to a question: `{ toolCallId, value }`, or `{ toolCallId, declined: true }`. */
export interface GivenAnswer {
  readonly toolCallId: string;
  readonly runId?: string | undefined;
  /** Checked by the schema of the question. */
  readonly value?: JsonValue | undefined;
  readonly declined?: true | undefined;
}

/** The decision of a person at once: `true` or `{ input }` approves, `false` or `{ reason }` rejects; `undefined` lets the call wait. */
export type CallVerdict = boolean | { readonly input: JsonValue } | { readonly reason: string } | undefined;
/** The same for a question. */
export type QuestionVerdict = { readonly value: JsonValue } | { readonly declined: true } | false | undefined;

/** Decides about a call that needs approval, or answers a question, without pausing the run. */
export type OnApproval<Values extends object = AnyValues> = (
  approval: Approval,
  options: { readonly context: ContextOf<Values>; readonly signal: AbortSignal },
) => CallVerdict | QuestionVerdict | Promise<CallVerdict | QuestionVerdict>;

/** Decisions about calls that wait for a person. */
export interface Decisions {
  /** Answers to questions of tools. */
  readonly answers?: readonly GivenAnswer[] | undefined;
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

/** Decisions while they are collected. */
export type DecisionLists = {
  readonly [Kind in keyof Decisions]-?: NonNullable<Decisions[Kind]>[number][];
};

type Waiting = Pick<AgentState | AgentStateJson, "pendingStep" | "runId">;

/** The calls of a state that wait for approval, including those of subagents. */
export function approvalsOf(state: Waiting, agent: string): Approval[] {
  const { pendingStep, runId = "" } = state;
  if (pendingStep === undefined) return [];
  const calls = byCallId(pendingStep.step.toolCalls);
  return pendingStep.waiting.flatMap(({ toolCallId, why, child, question }): Approval[] => {
    if (child?.state !== undefined) return approvalsOf(child.state, child.agent);
    if ((why !== "approval" && question === undefined) || child !== undefined) return [];
    return [approvalOf({ ...(calls.get(toolCallId) as StepToolCall), question }, { agent, runId })];
  });
}

/** The same calls by id, including those of subagents whose state is only in the journal. */
function awaitedCalls({ pendingStep, runId = "" }: Waiting): AwaitedCall[] {
  return (pendingStep?.waiting ?? []).flatMap(({ toolCallId, why, child, question }): readonly AwaitedCall[] => {
    if (child?.state !== undefined) return awaitedCalls(child.state);
    if (child !== undefined) return child.awaits ?? [];
    return why === "approval" || question !== undefined ? [{ toolCallId, runId }] : [];
  });
}

/** The waiting calls as the journal keeps them: without the states of subagents, whose runs have records of their own. */
export function waitingNote({ waiting }: PendingStep): readonly WaitingCall[] {
  return waiting.map((call) => {
    const { toolCallId, why } = call;
    if (call.child === undefined) return { toolCallId, why };
    if (call.child.state === undefined) return call;
    const { state, ...child } = call.child;
    return { ...call, child: { ...child, awaits: awaitedCalls(state) } };
  });
}

/** The outcome of a run whose calls wait. */
export function waitingOutcome(state: AgentState, agent: string): Outcome {
  const waiting = approvalsOf(state, agent);
  const isAsked = waiting.length > 0 && waiting.every(({ kind }) => kind === "question");
  return isAsked
    ? { status: "waiting", reason: "question", message: "Tools wait for answers to their questions." }
    : { status: "waiting", reason: "approval", message: "Tool calls wait for approval." };
}
