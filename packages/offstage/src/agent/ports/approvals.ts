// Approvals: the calls that wait for approval, and the decisions about them. Fails closed: a call without a decision does not run.

import { isObject } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import { type Approval, approvalOf } from "../../sessions/ports/run-record.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { AgentStateJson, AwaitedCall, PendingStep, WaitingCall } from "../../state/pending-step.ts";
import type { StepToolCall } from "../../state/step.ts";

/** The call that a decision is about: its id, or its entry of `result.approvals` if two runs use the same id. */
export type DecidedCall = string | { readonly toolCallId: string; readonly runId?: string | undefined };

/** Decisions about calls that wait for approval. */
export interface Decisions {
  readonly approve?: readonly DecidedCall[] | undefined;
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
  return pendingStep.waiting.flatMap(({ toolCallId, why, child }): Approval[] => {
    if (child?.state !== undefined) return approvalsOf(child.state, child.agent);
    if (why !== "approval" || child !== undefined) return [];
    const call = pendingStep.step.toolCalls.find((each) => each.toolCallId === toolCallId) as StepToolCall;
    return [approvalOf(call, { agent, runId })];
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

interface Decision {
  readonly toolCallId: string;
  readonly runId?: string | undefined;
  readonly reason?: string;
  readonly isApproved: boolean;
}

/** The decisions about the calls of a run and its subagents. */
export class DecisionBook {
  #decisions: readonly Decision[] = [];
  #earlier: readonly AwaitedCall[] = [];

  constructor({ approve = [], reject = [] }: Decisions = {}) {
    this.#decisions = [
      ...approve.map((call) => ({ ...parseDecision(call), isApproved: true })),
      ...reject.map((call) => ({ ...parseDecision(call), isApproved: false })),
    ];
  }

  /** Whether a call may run, waits for a decision, or was rejected. */
  permit(call: StepToolCall, runId: string): "run" | "wait" | { readonly refusal: string } {
    const decision = this.#decisions.find((each) => isAbout(each, { toolCallId: call.toolCallId, runId }));
    if (decision === undefined) return this.wasApproved({ toolCallId: call.toolCallId, runId }) ? "run" : "wait";
    return decision.isApproved ? "run" : { refusal: refusalOf(call.toolName, decision.reason) };
  }

  /** Adds the calls that were approved when the run was last resumed. */
  recall(approved: readonly AwaitedCall[]): void {
    this.#earlier = approved;
  }

  /** True if the call was approved when the run was last resumed. It may have run since. */
  wasApproved({ toolCallId, runId }: AwaitedCall): boolean {
    return this.#earlier.some((each) => each.toolCallId === toolCallId && each.runId === runId);
  }

  /** The calls that may run now. Throws if a decision is not about exactly one waiting call: a typo must not count as consent. */
  check(awaited: readonly AwaitedCall[]): AwaitedCall[] {
    // Each decision is bound to its run: a call with the same id that waits in another run later is a different call.
    this.#decisions = this.#decisions.map((decision) => {
      const [call, ...others] = awaited.filter((each) => isAbout(decision, each));
      if (call === undefined || others.length > 0) throw this.#mismatch(decision, awaited);
      return { ...decision, runId: call.runId };
    });
    for (const call of awaited) {
      if (this.#decisions.filter((each) => isAbout(each, call)).length < 2) continue;
      throw invalid(`There are two decisions about tool call "${call.toolCallId}". Pass only one.`);
    }
    const approved = this.#decisions.filter((decision) => decision.isApproved);
    return awaited.filter((call) => approved.some((decision) => isAbout(decision, call)));
  }

  #mismatch({ toolCallId: id, runId }: Decision, awaited: readonly AwaitedCall[]): OffstageError {
    const sameId = awaited.filter((call) => call.toolCallId === id);
    const [other] = sameId;
    if (runId === undefined && other !== undefined)
      return invalid(
        `${sameId.length} tool calls with the id "${id}" wait for approval. Pass the entry of result.approvals instead of its id.`,
      );
    if (other !== undefined)
      return invalid(
        `Tool call "${id}" of run "${runId}" does not wait for approval; that of run "${other.runId}" does. Pass its entry of result.approvals.`,
      );
    const waiting = awaited.map((each) => `"${each.toolCallId}"`).join(", ") || "none";
    const wasApproved = this.#earlier.some((call) => call.toolCallId === id);
    const problem = wasApproved ? `Tool call "${id}" was approved before` : `No tool call "${id}" waits for approval`;
    return invalid(`${problem}. Waiting calls: ${waiting}.`);
  }
}

function isAbout(decision: Decision, call: AwaitedCall): boolean {
  return decision.toolCallId === call.toolCallId && (decision.runId === undefined || decision.runId === call.runId);
}

function parseDecision(call: unknown): Omit<Decision, "isApproved"> {
  if (typeof call === "string") return { toolCallId: call };
  if (!isObject(call) || typeof call.toolCallId !== "string")
    throw invalid(`A decision must be a tool call id or an entry of result.approvals; found ${shownValue(call)}.`);
  if (call.reason !== undefined && typeof call.reason !== "string")
    throw invalid(`The "reason" of a decision must be text for the model; found ${shownValue(call.reason)}.`);
  return call as unknown as Omit<Decision, "isApproved">;
}

function refusalOf(name: string, reason = ""): string {
  const why = reason === "" ? "" : ` Reason: ${reason}`;
  return `The call to the tool "${name}" was rejected by the user and not run.${why}`;
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}
