// The result of a run: its answer, its outcome, and everything that happened in it.
import type { MessageQuery } from "../../query/message-query.ts";
import type { Approval } from "../../sessions/ports/run-record.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import type { Step } from "../../state/step.ts";
import type { Usage } from "../../tokens/usage.ts";
import type { TraceContext } from "../../tracing/trace-context.ts";
import type { GuardrailTrip } from "./guardrails.ts";

/** A limit kept the model from seeing the beginning of the conversation. */
export interface HistoryCut {
  /** How many earlier messages the model sees. */
  readonly shown: number;
  /** How many older ones it does not see. */
  readonly notShown: number;
  /** The option that cut them off. */
  readonly limit: "historyLimit" | "historyTokens";
}

/**
 * The type of `result.output`: text without a schema; with one, the checked value, or undefined if there is none. Literal texts come
 * from a schema; only they fit the template. `Output` is never compared with, so an `Agent<Output>` is an `Agent<unknown>`.
 */
export type RunOutput<Output> = [Output] extends [string]
  ? Output extends `${infer _First}${infer _Rest}`
    ? Output | undefined
    : Output
  : Output | undefined;

/** The result of a run. All fields are own properties, so `{ ...result, tenant }` is complete. */
export interface RunResult<Output = string> {
  /**
   * The answer, even if the run failed because its end could not be stored. If the run was stopped or waits: the text so far,
   * or undefined if the agent has an output schema. `requireOutput()` throws instead.
   */
  readonly output: RunOutput<Output>;
  /** The answer as text, or the partial text of a run that was stopped. */
  readonly text: string;
  readonly outcome: Outcome;
  readonly state: AgentState;
  readonly steps: readonly Step[];
  /** The tokens used by the run and its subagents. */
  readonly usage: Usage;
  /** The cost of this usage in US dollars, by the prices of the agent; undefined if a model that was used has no known price. */
  readonly cost: number | undefined;
  readonly runId: string;
  readonly parentRunId: string | undefined;
  readonly agent: string;
  readonly traceId: string | undefined;
  /** The trace of the run; undefined if tracing is off. */
  readonly trace: TraceContext | undefined;
  /** The messages of this run and its subagents: input, tool trace and answer of each. `{ subagents: false }` leaves out theirs. */
  readonly messages: MessageQuery;
  /** The results of subagents, in the order in which they ended. */
  readonly children: readonly RunResult<unknown>[];
  /** The earlier messages of the session that `historyLimit` or `historyTokens` kept from the model; undefined if it saw all. */
  readonly historyCut: HistoryCut | undefined;
  readonly guardrailTrips: readonly GuardrailTrip[];
  /** The calls that wait for approval if the outcome is `waiting`, including those of subagents. */
  readonly approvals: readonly Approval[];
  /** The output. Throws `no-output` if the run was stopped or waits before there was one. Not enumerable, so copies do not have it. */
  requireOutput(): Output;
}
