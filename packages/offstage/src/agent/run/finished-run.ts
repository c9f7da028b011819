// A run that is over, as its result. What a result promises is told in run-result.ts.
import { keepShape } from "../../base/keep-shape.ts";
import { printsAs } from "../../base/prints-as.ts";
import type { Message } from "../../messages/message.ts";
import { MessageQuery } from "../../query/message-query.ts";
import type { Approval } from "../../sessions/approval.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import type { Step } from "../../state/step.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import type { Usage } from "../../tokens/usage.ts";
import { type TraceContext, traceOf } from "../../tracing/trace-context.ts";
import { approvalsOf } from "../ports/approvals.ts";
import type { GuardrailTrip } from "../ports/guardrails.ts";
import type { RunResult } from "../ports/run-result.ts";
import type { Run } from "./run.ts";

/** The result of a run that is over. Its messages are put together when they are asked for. */
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
  declare readonly usage: Usage;
  declare readonly steps: readonly Step[];
  declare readonly approvals: readonly Approval[];
  declare readonly traceId: string | undefined;
  declare readonly messages: MessageQuery;

  constructor(run: Run, text: string, output: unknown) {
    const { state, config, input } = run;
    this.output = output;
    this.text = text;
    this.outcome = state.outcome as Outcome;
    this.state = state;
    this.runId = run.runId;
    this.parentRunId = run.parent?.runId;
    this.agent = config.name;
    this.trace = run.isTraced ? traceOf(run.span) : undefined;
    this.children = run.children;
    this.guardrailTrips = run.trips;
    this.usage = state.usage;
    this.steps = state.steps;
    this.approvals = state.pendingStep === undefined ? noApprovals : approvalsOf(state, config.name);
    this.traceId = this.trace?.traceId;
    this.messages = queryOver(input, state, config.tokenCounter);
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
}

const noApprovals: readonly Approval[] = Object.freeze([]);

// Apart, so that it names nothing else of the run: that would be kept with the result.
function queryOver(input: readonly Message[], state: AgentState, tokenCounter: TokenCounter): MessageQuery {
  return new MessageQuery(() => messagesOf(input, state), { tokenCounter });
}

function messagesOf(input: readonly Message[], { steps, pendingStep }: AgentState): Message[] {
  const made = pendingStep === undefined ? steps : [...steps, pendingStep.step];
  return [...input, ...made.flatMap((step) => step.messages)];
}

// Never used: only its shape matters.
keepShape(new FinishedRun({ state: {}, config: {} } as Run, "", ""));
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
