// Approvals: which calls wait for somebody's word, and what was decided of them. Fails closed: no word, no run.

import { isObject } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import { type Approval, approvalOf } from "../../sessions/approval.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { AgentStateJson, AwaitedCall, PendingStep, WaitingCall } from "../../state/pending-step.ts";
import type { StepToolCall } from "../../state/step.ts";

/** A call that is decided about: its id, or an `Approval` as it came where two runs use the same id. */
export type DecidedCall = string | { readonly toolCallId: string; readonly runId?: string | undefined };

/** What was decided. */
export interface Decisions {
  readonly approve?: readonly DecidedCall[] | undefined;
  /** The model is told of a rejection, with the reason if there is one. */
  readonly reject?:
    | readonly (
        | DecidedCall
        | { readonly toolCallId: string; readonly runId?: string | undefined; readonly reason: string }
      )[]
    | undefined;
}

type Waiting = Pick<AgentState | AgentStateJson, "pendingStep" | "runId">;

/** The calls that wait in a state, those of subagents included. */
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

/** The same calls by id, also those of subagents whose state stayed in the journal. */
export function awaitedCalls({ pendingStep, runId = "" }: Waiting): AwaitedCall[] {
  return (pendingStep?.waiting ?? []).flatMap(({ toolCallId, why, child }): readonly AwaitedCall[] => {
    if (child?.state !== undefined) return awaitedCalls(child.state);
    if (child !== undefined) return child.awaits ?? [];
    return why === "approval" ? [{ toolCallId, runId }] : [];
  });
}

/** What waits, as the journal keeps it: the run of a subagent is recorded under its own id, and its state not again. */
export function waitingNote({ waiting }: PendingStep): readonly WaitingCall[] {
  return waiting.map((call) => {
    if (call.child?.state === undefined) return call;
    const { state, ...child } = call.child;
    return { ...call, child: { ...child, awaits: awaitedCalls(state) } };
  });
}

interface Decision {
  readonly toolCallId: string;
  readonly runId?: string;
  readonly reason?: string;
  readonly isApproved: boolean;
}

const noDecisions: readonly Decision[] = [];

/** Decisions as the loop asks for them. */
export class DecisionBook {
  #decisions: readonly Decision[] = noDecisions;
  #earlier: readonly AwaitedCall[] = [];

  constructor(decisions?: Decisions) {
    if (decisions === undefined) return;
    const { approve = [], reject = [] } = decisions;
    const of = (call: DecidedCall) => (typeof call === "string" ? { toolCallId: call } : checkedDecision(call));
    this.#decisions = [
      ...approve.map((call) => ({ ...of(call), isApproved: true })),
      ...reject.map((call) => ({ ...of(call), isApproved: false })),
    ];
  }

  permit(call: StepToolCall, runId: string): "run" | "wait" | { readonly refusal: string } {
    const decision = this.#decisions.find((each) => isAbout(each, { toolCallId: call.toolCallId, runId }));
    if (decision === undefined) return this.wasApproved({ toolCallId: call.toolCallId, runId }) ? "run" : "wait";
    return decision.isApproved ? "run" : { refusal: refusalOf(call.toolName, decision.reason) };
  }

  /** Takes in what was approved when the run was last taken up. */
  recall(approved: readonly AwaitedCall[]): void {
    this.#earlier = approved;
  }

  /** Whether the call was approved before this time, and may have run. */
  wasApproved({ toolCallId, runId }: AwaitedCall): boolean {
    return this.#earlier.some((each) => each.toolCallId === toolCallId && each.runId === runId);
  }

  /**
   * The calls that may now run. Throws where a decision is not about exactly one call that waits: a slip must not pass
   * for consent.
   */
  check(awaited: readonly AwaitedCall[]): AwaitedCall[] {
    // Bound to its run: a call of the same id that comes to wait elsewhere is another.
    this.#decisions = this.#decisions.map((decision) => {
      const [call, ...others] = awaited.filter((each) => isAbout(decision, each));
      if (call === undefined || others.length > 0) throw this.#unclear(decision, awaited);
      return { ...decision, runId: call.runId };
    });
    for (const call of awaited) {
      if (this.#decisions.filter((each) => isAbout(each, call)).length < 2) continue;
      throw invalid(`There are two decisions about the call "${call.toolCallId}". Make one.`);
    }
    const approved = this.#decisions.filter((decision) => decision.isApproved);
    return awaited.filter((call) => approved.some((decision) => isAbout(decision, call)));
  }

  #unclear({ toolCallId: id, runId }: Decision, awaited: readonly AwaitedCall[]): OffstageError {
    const namesakes = awaited.filter((call) => call.toolCallId === id);
    const [other] = namesakes;
    if (runId === undefined && other !== undefined)
      return invalid(
        `${namesakes.length} calls with the id "${id}" wait for approval. Pass the entry of result.approvals instead of its id.`,
      );
    if (other !== undefined)
      return invalid(`The call "${id}" of run "${runId}" does not wait here; that of run "${other.runId}" does.`);
    const known = awaited.map((each) => `"${each.toolCallId}"`).join(", ") || "none";
    const isKnown = this.#earlier.some((call) => call.toolCallId === id);
    return invalid(
      `${isKnown ? `The call "${id}" was approved before` : `No call "${id}" waits for approval`}. Waiting: ${known}.`,
    );
  }
}

function isAbout(decision: Decision, call: AwaitedCall): boolean {
  return decision.toolCallId === call.toolCallId && (decision.runId === undefined || decision.runId === call.runId);
}

function checkedDecision(call: unknown): Omit<Decision, "isApproved"> {
  if (!isObject(call) || typeof call.toolCallId !== "string")
    throw invalid(`A decision is the id of a call, or an entry of result.approvals; found ${shownValue(call)}.`);
  if (call.reason !== undefined && typeof call.reason !== "string")
    throw invalid(`The reason of a decision is text, which the model reads; found ${shownValue(call.reason)}.`);
  return call as unknown as Omit<Decision, "isApproved">;
}

function refusalOf(name: string, reason = ""): string {
  const why = reason === "" ? "" : ` Reason: ${reason}`;
  return `The call of the tool "${name}" was rejected by the user and not run.${why}`;
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}
