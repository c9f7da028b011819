// A run that is over, as its result. What a result promises is told in run-result.ts.
import { keepShape } from "../messages/keep-shape.ts";
import type { Message } from "../messages/message.ts";
import { printsAs } from "../messages/prints-as.ts";
import { MessageQuery } from "../query/message-query.ts";
import type { Approval } from "../sessions/approval.ts";
import type { AgentState } from "../state/agent-state.ts";
import type { Outcome } from "../state/outcome.ts";
import type { Step } from "../state/step.ts";
import type { TokenCounting } from "../tokens/token-counter.ts";
import type { Usage } from "../tokens/usage.ts";
import { type TraceContext, traceOf } from "../tracing/trace-context.ts";
import { approvalsOf } from "./approvals.ts";
import type { GuardrailTrip } from "./guardrails.ts";
import type { Run } from "./run.ts";
import type { RunResult } from "./run-result.ts";

/** The result of a run that is over; steps and messages are put together when they are asked for. */
export class FinishedRun implements RunResult<unknown> {
  declare readonly output: unknown;
  declare readonly text: string;
  declare readonly outcome: Outcome;
  declare readonly state: AgentState;
  declare readonly runId: string;
  declare readonly parentRunId: string | undefined;
  declare readonly agent: string;
  declare readonly trace: TraceContext | undefined;
  declare readonly children: readonly RunResult<unknown>[];
  declare readonly guardrailTrips: readonly GuardrailTrip[];
  readonly #input: readonly Message[];
  readonly #tokenCounter: TokenCounting;

  constructor(run: Run, text: string) {
    const { state, config } = run;
    this.output = config.output === undefined ? text : checkedOutput(run);
    this.text = text;
    this.outcome = state.outcome as Outcome;
    this.state = state;
    this.runId = run.runId;
    this.parentRunId = run.parent?.runId;
    this.agent = config.name;
    this.trace = run.isTraced ? traceOf(run.span) : undefined;
    this.children = run.children;
    this.guardrailTrips = run.trips;
    this.#input = run.input;
    this.#tokenCounter = config.tokenCounter;
  }

  get usage(): Usage {
    return this.state.usage;
  }

  get steps(): readonly Step[] {
    return this.state.steps;
  }

  get approvals(): readonly Approval[] {
    return approvalsOf(this.state, this.agent);
  }

  get traceId(): string | undefined {
    return this.trace?.traceId;
  }

  /** What is worth logging; whole messages and steps, and no more than once. */
  toJSON(): Record<string, unknown> {
    const { runId, parentRunId, agent, output, outcome, usage, approvals, traceId, guardrailTrips, children } = this;
    const messages = this.messages.all();
    return {
      runId,
      parentRunId,
      agent,
      output,
      outcome,
      usage,
      approvals,
      traceId,
      guardrailTrips,
      children,
      messages,
    };
  }

  get messages(): MessageQuery {
    const { pendingStep } = this.state;
    const steps = pendingStep === undefined ? this.steps : [...this.steps, pendingStep.step];
    const read = () => [...this.#input, ...steps.flatMap((step) => step.messages)];
    return new MessageQuery(read, { tokenCounter: this.#tokenCounter });
  }
}

// Of an answer that was checked; a run that was stopped has none.
function checkedOutput({ state, output }: Run): unknown {
  return state.outcome?.status === "completed" ? output : undefined;
}

// Never used: only its shape matters.
keepShape(new FinishedRun({ state: {}, config: {} } as Run, ""));
printsAs(FinishedRun, ({ runId, agent, output, outcome, usage, steps, traceId, children, approvals }) => ({
  runId,
  agent,
  output,
  outcome,
  usage,
  steps,
  traceId,
  children,
  approvals,
}));
