// The result of a run: what was said, how it ended, and everything that was done, one property away.
import type { MessageQuery } from "../../query/message-query.ts";
import type { Approval } from "../../sessions/approval.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import type { Step } from "../../state/step.ts";
import type { Usage } from "../../tokens/usage.ts";
import type { TraceContext } from "../../tracing/trace-context.ts";
import type { GuardrailTrip } from "./guardrails.ts";

/** What a run gives. Everything is a property of its own: `{ ...result, tenant }` has it all. */
export interface RunResult<Output = string> {
  /**
   * The answer, also of a run that failed because its end could not be stored. Of a run that was stopped or waits: the text
   * so far, or undefined where there is a schema.
   */
  readonly output: Output;
  /** The answer as text, or the partial text of a run that was stopped. */
  readonly text: string;
  readonly outcome: Outcome;
  readonly state: AgentState;
  readonly steps: readonly Step[];
  /** Tokens of the run, its subagents included. */
  readonly usage: Usage;
  readonly runId: string;
  readonly parentRunId: string | undefined;
  readonly agent: string;
  readonly traceId: string | undefined;
  /** The trace the run was recorded in, where tracing is on. */
  readonly trace: TraceContext | undefined;
  /** What was said and done in this run: its input, its tool trace and its answer. */
  readonly messages: MessageQuery;
  /** The runs of subagents, in the order in which they ended. */
  readonly children: readonly RunResult<unknown>[];
  readonly guardrailTrips: readonly GuardrailTrip[];
  /** The calls that wait for approval, where the outcome is `waiting`; those of subagents included. */
  readonly approvals: readonly Approval[];
}
