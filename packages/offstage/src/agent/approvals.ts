// Approvals: which calls wait for somebody's word, and what was decided of them. Fails closed: no word, no run.
import { OffstageError } from "../errors.ts";
import { type Approval, approvalOf } from "../sessions/approval.ts";
import type { AgentState } from "../state/agent-state.ts";
import type { AgentStateJson } from "../state/pending-step.ts";
import type { StepToolCall } from "../state/step.ts";

/** A call that is decided about: its id, or an `Approval` as it came where two runs use the same id. */
export type DecidedCall = string | { readonly toolCallId: string; readonly runId?: string };

/** What was decided. */
export interface Decisions {
  readonly approve?: readonly DecidedCall[];
  /** The model is told of a rejection, with the reason if there is one. */
  readonly reject?: readonly (
    | DecidedCall
    | { readonly toolCallId: string; readonly runId?: string; readonly reason: string }
  )[];
}

type Waiting = Pick<AgentState | AgentStateJson, "pendingStep" | "runId">;

/** The calls that wait in a state, those of subagents included. */
export function approvalsOf(state: Waiting, agent: string): Approval[] {
  const { pendingStep, runId = "" } = state;
  if (pendingStep === undefined) return [];
  return pendingStep.waiting.flatMap((waiting): Approval[] => {
    if (waiting.child?.state !== undefined) return approvalsOf(waiting.child.state, waiting.child.agent);
    if (waiting.why !== "approval") return [];
    const call = pendingStep.step.toolCalls.find((each) => each.id === waiting.toolCallId) as StepToolCall;
    return [approvalOf(call, { agent, runId })];
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
  readonly #decisions: readonly Decision[] = noDecisions;
  #earlier: readonly { readonly toolCallId: string; readonly runId: string }[] = [];

  constructor(decisions?: Decisions) {
    if (decisions === undefined) return;
    const { approve = [], reject = [] } = decisions;
    const of = (call: DecidedCall) => (typeof call === "string" ? { toolCallId: call } : call);
    this.#decisions = [
      ...approve.map((call) => ({ ...of(call), isApproved: true })),
      ...reject.map((call) => ({ ...of(call), isApproved: false })),
    ];
  }

  permit(call: StepToolCall, runId: string): "run" | "wait" | { readonly refusal: string } {
    const decision = this.#decisions.find((each) => isAbout(each, { toolCallId: call.id, runId }));
    if (decision === undefined) return this.wasApproved({ toolCallId: call.id, runId }) ? "run" : "wait";
    return decision.isApproved ? "run" : { refusal: refusalOf(call.name, decision.reason) };
  }

  /** Takes in what was approved when the run was last taken up. */
  recall(approved: unknown): void {
    this.#earlier = approved as readonly { toolCallId: string; runId: string }[];
  }

  /** Whether the call was approved before this time, and may have run. */
  wasApproved({ toolCallId, runId }: { readonly toolCallId: string; readonly runId: string }): boolean {
    return this.#earlier.some((each) => each.toolCallId === toolCallId && each.runId === runId);
  }

  /**
   * The calls that may now run. Throws where a decision is not about exactly one call that waits: a slip must not pass
   * for consent.
   */
  check(approvals: readonly Approval[]): Approval[] {
    for (const decision of this.#decisions) {
      const meant = approvals.filter((approval) => isAbout(decision, approval));
      if (meant.length !== 1) throw unclear(decision.toolCallId, { meant, approvals });
    }
    for (const approval of approvals) {
      if (this.#decisions.filter((each) => isAbout(each, approval)).length < 2) continue;
      throw new OffstageError(
        "invalid-argument",
        `There are two decisions about the call "${approval.toolCallId}". Make one.`,
      );
    }
    const approved = this.#decisions.filter((decision) => decision.isApproved);
    return approvals.filter((approval) => approved.some((decision) => isAbout(decision, approval)));
  }
}

/** What most runs know of decisions: none were made. Shared, so nothing is ever recalled into it. */
export const undecided: DecisionBook = new DecisionBook();

function isAbout(decision: Decision, call: { readonly toolCallId: string; readonly runId: string }): boolean {
  return decision.toolCallId === call.toolCallId && (decision.runId === undefined || decision.runId === call.runId);
}

function refusalOf(name: string, reason = ""): string {
  const why = reason === "" ? "" : ` Reason: ${reason}`;
  return `The call of the tool "${name}" was rejected by the user and not run.${why}`;
}

function unclear(
  id: string,
  { meant, approvals }: { meant: readonly Approval[]; approvals: readonly Approval[] },
): OffstageError {
  if (meant.length > 1) {
    const sentence = `${meant.length} calls with the id "${id}" wait for approval. Pass the entry of result.approvals instead of its id.`;
    return new OffstageError("invalid-argument", sentence);
  }
  const known = approvals.map((each) => `"${each.toolCallId}"`).join(", ") || "none";
  return new OffstageError("invalid-argument", `No call "${id}" waits for approval. Waiting: ${known}.`);
}
