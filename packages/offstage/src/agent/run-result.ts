// The result of a run: what was said, how it ended, and everything that was done, one property away.
import { keepShape } from "../messages/keep-shape.ts";
import type { Message } from "../messages/message.ts";
import { printsAs } from "../messages/prints-as.ts";
import { MessageQuery } from "../query/message-query.ts";
import type { AgentState } from "../state/agent-state.ts";
import type { Outcome } from "../state/outcome.ts";
import type { Step } from "../state/step.ts";
import type { TokenCounting } from "../tokens/token-counter.ts";
import type { Usage } from "../tokens/usage.ts";
import type { TraceContext } from "../tracing/trace-context.ts";
import { type Approval, approvalsOf } from "./approvals.ts";
import type { GuardrailTrip } from "./guardrails.ts";

/** What a run gives. Where a limit stopped it, `output` is the partial text, or undefined for structured output. */
export interface RunResult<Output = string> {
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

export interface ResultParts<Output> {
  readonly output: Output;
  readonly text: string;
  readonly outcome: Outcome;
  readonly state: AgentState;
  readonly runId: string;
  readonly parentRunId: string | undefined;
  readonly agent: string;
  readonly trace: TraceContext | undefined;
  readonly input: readonly Message[];
  readonly children: readonly RunResult<unknown>[];
  readonly guardrailTrips: readonly GuardrailTrip[];
  readonly tokenCounter: TokenCounting;
}

/** The result of its parts; steps and messages are put together when they are asked for. */
export class FinishedRun<Output> implements RunResult<Output> {
  // Declared, not defined: each is set once, by the constructor.
  declare readonly output: Output;
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

  constructor(parts: ResultParts<Output>) {
    this.output = parts.output;
    this.text = parts.text;
    this.outcome = parts.outcome;
    this.state = parts.state;
    this.runId = parts.runId;
    this.parentRunId = parts.parentRunId;
    this.agent = parts.agent;
    this.trace = parts.trace;
    this.children = parts.children;
    this.guardrailTrips = parts.guardrailTrips;
    this.#input = parts.input;
    this.#tokenCounter = parts.tokenCounter;
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

// Never used: only its shape matters.
keepShape(new FinishedRun({} as ResultParts<unknown>));
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
