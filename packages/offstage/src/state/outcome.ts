// The outcome: how a run ended, which criterion decided it, and what every criterion said. Data only.

/** How a run ended. `waiting` means that tool calls need approval. */
export type OutcomeStatus = "completed" | "stopped" | "failed" | "waiting";

/** Why, as a stable tag. A criterion of your own brings its own. */
export type OutcomeReason =
  | "answered"
  | "step-limit"
  | "token-limit"
  | "time-limit"
  | "cost-limit"
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
  | "aborted"
  | "error"
  | (string & {});

export interface Outcome {
  readonly status: OutcomeStatus;
  readonly reason: OutcomeReason;
  /** A sentence for people. */
  readonly message: string;
  /** The criterion that decided; absent where the run ended by an abort, an error or a guardrail. */
  readonly criterion?: string;
  /** What each criterion with an opinion said. */
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
  readonly status?: "completed" | "stopped" | "failed";
  /** With a `stop`: prevents further steps only; an answer given at the limit still counts. */
  readonly isLimit?: boolean;
  /** With a `continue` after an answer: the message to the model that sends the answer back. */
  readonly feedback?: string;
}

export interface NamedVerdict extends Verdict {
  readonly criterion: string;
}
