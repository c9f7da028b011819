// An unfinished step: some of its calls wait for approval, or a crash cut them off. Plain data. The JSON of a state is here
// too, because a waiting call can hold the state of a subagent.
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { Message } from "../messages/message.ts";
import type { Usage, UsageByModel } from "../tokens/usage.ts";
import type { Outcome } from "./outcome.ts";
import type { Step } from "./step.ts";

/** A call without a result. */
export interface WaitingCall {
  readonly toolCallId: string;
  /**
   * `approval`: a person must decide. `question`: a person must answer. `interrupted`: it had begun and may have taken effect.
   * `again`: it can run safely.
   */
  readonly why: "approval" | "question" | "interrupted" | "again";
  /** The question that waits for an answer. */
  readonly question?: AskedQuestion;
  /** The answers to the questions that the call asked, in order. */
  readonly answers?: readonly RecordedAnswer[];
  /** The run of the subagent that waits inside the call. */
  readonly child?: WaitingChild;
}

/** A question of a tool to a person. */
export interface AskedQuestion {
  readonly message: string;
  /** The JSON Schema of the answer. */
  readonly schema?: JsonObject | undefined;
  /** The state that the tool keeps with its question. */
  readonly state?: JsonValue | undefined;
}

/** The answer of a person, and the question it was given to. */
export interface RecordedAnswer {
  readonly message: string;
  readonly value?: JsonValue;
  readonly declined?: true;
  /** The state of the question. */
  readonly state?: JsonValue | undefined;
}

/** A call that needs a decision, and its run. */
export interface AwaitedCall {
  readonly toolCallId: string;
  readonly runId: string;
}

/** The run of a subagent, to be resumed. */
export interface WaitingChild {
  readonly runId: string;
  readonly agent: string;
  /** Its state. If it is missing, the run is read from the journal. */
  readonly state?: AgentStateJson;
  /** If the state is missing: the calls of this run and its subagents that wait for approval. */
  readonly awaits?: readonly AwaitedCall[];
  /** Tokens of this run that its parent has already counted. Default: the usage of its state. */
  readonly counted?: UsageByModel;
}

/** The unfinished step with its reply and the results so far, and the calls without a result. */
export interface PendingStep {
  readonly step: Step;
  readonly waiting: readonly WaitingCall[];
}

/** Calls, results or decisions by the id of their call. */
export function byCallId<Item extends { readonly toolCallId: string }>(
  items: readonly Item[],
): ReadonlyMap<string, Item> {
  return new Map(items.map((item) => [item.toolCallId, item]));
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
