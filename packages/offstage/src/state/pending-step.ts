// A step that is not finished: some of its calls wait, for approval or because a crash cut them off. Plain data, and with
// it the JSON of a whole state, because a subagent's state can wait inside a call.
import type { JsonObject } from "../base/json.ts";
import type { Message } from "../messages/message.ts";
import type { Usage, UsageByModel } from "../tokens/usage.ts";
import type { Outcome } from "./outcome.ts";
import type { Step } from "./step.ts";

/** A call that waits. */
export interface WaitingCall {
  readonly toolCallId: string;
  /** `approval`: somebody must decide. `interrupted`: it had begun and may have taken effect. `again`: it can simply run. */
  readonly why: "approval" | "interrupted" | "again";
  /** The subagent's run that waits inside the call. */
  readonly child?: WaitingChild;
}

/** A call that somebody must decide about, and the run it is in. */
export interface AwaitedCall {
  readonly toolCallId: string;
  readonly runId: string;
}

/** A subagent's run that is to be taken up again. */
export interface WaitingChild {
  readonly runId: string;
  readonly agent: string;
  /** Without it, the run is read from the journal. */
  readonly state?: AgentStateJson;
  /** Where its state is not at hand: the calls in it, or beneath it, that wait for approval. */
  readonly awaits?: readonly AwaitedCall[];
  /** What the run above has counted of its tokens already. Default: what its state says. */
  readonly counted?: UsageByModel;
}

/** The step as far as it went: its reply, and the results there are. */
export interface PendingStep {
  readonly step: Step;
  readonly waiting: readonly WaitingCall[];
}

/** A state as plain JSON. */
export interface AgentStateJson {
  readonly version: number;
  readonly agentId: string;
  readonly parentAgentId?: string;
  readonly runId?: string;
  readonly createdAt: string;
  readonly startedAt?: number;
  readonly sections: Readonly<Record<string, readonly Message[]>>;
  readonly metadata: JsonObject;
  readonly steps: readonly Step[];
  readonly outcome?: Outcome;
  readonly pendingStep?: PendingStep;
  readonly usageByModel: Readonly<Record<string, Usage>>;
}
