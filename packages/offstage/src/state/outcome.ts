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
 * What a criterion says: any `forbid` stops; else any `request` goes on; else any `allow-stop` stops; else go on. A limit
 * that is reached with an answer which nobody sends back leaves the run as answered.
 */
export interface Verdict {
  readonly decision: "forbid" | "request" | "allow-stop";
  readonly reason: OutcomeReason;
  /** A sentence for people. */
  readonly message: string;
  /** How the run ends if this verdict decides. Default: `stopped` for a forbid, `completed` for an allow-stop. */
  readonly status?: "completed" | "stopped" | "failed";
  /** With a forbid: it forbids further steps only, and has nothing against an answer that is there. */
  readonly isLimit?: boolean;
  /** With a request after an answer: what the model is told, so that it has something to go on with. */
  readonly feedback?: string;
}

export interface NamedVerdict extends Verdict {
  readonly criterion: string;
}
