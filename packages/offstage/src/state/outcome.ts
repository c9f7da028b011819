// The outcome: how a run ended, which criterion decided it, and how every criterion voted. Data only.

/** How a run ended. A `waiting` run has tool calls that need approval. */
export type OutcomeStatus = "completed" | "stopped" | "failed" | "waiting";

/** Why a run ended, as a stable tag. Your own criteria may use their own tags. */
export type OutcomeReason =
  | "answered"
  | "step-limit"
  | "token-limit"
  | "time-limit"
  | "cost-limit"
  | "budget"
  | "deadline"
  | "retry-limit"
  | "error-policy"
  | "error-presence"
  | "finish-reason"
  | "response-content"
  | "repeated-call"
  | "self-critic"
  | "guardrail"
  | "approval"
  | "question"
  | "aborted"
  | "stop-requested"
  | "error"
  | (string & {});

export interface Outcome {
  readonly status: OutcomeStatus;
  readonly reason: OutcomeReason;
  /** A sentence for people. */
  readonly message: string;
  /** The criterion that decided. Absent if an abort, an error or a guardrail ended the run. */
  readonly criterion?: string;
  /** All votes, sorted. */
  readonly verdicts?: readonly NamedVerdict[];
}

/**
 * The vote of a criterion. Any `stop` stops the run; else any `continue` continues it; else any `may-stop` stops it; else
 * it continues. A run that reaches a limit with its answer has answered, unless a vote sends the answer back.
 */
export interface Verdict {
  readonly decision: "stop" | "continue" | "may-stop";
  readonly reason: OutcomeReason;
  /** A sentence for people. */
  readonly message: string;
  /** How the run ends if this verdict decides. Default: `stopped` for a `stop`, `completed` for a `may-stop`. */
  readonly status?: "completed" | "stopped" | "failed" | undefined;
  /** With a `stop`: prevents further steps only; an answer given at the limit still counts. */
  readonly isLimit?: boolean | undefined;
  /** With a `continue` after an answer: the message to the model that sends the answer back. */
  readonly feedback?: string | undefined;
}

/** A verdict with the name of the criterion that gave it. */
export interface NamedVerdict extends Verdict {
  readonly criterion: string;
}
