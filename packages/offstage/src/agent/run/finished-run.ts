// Creates the result of a run, and its summary for queries over its messages. The fields are documented in run-result.ts.
import { isoNow } from "../../base/clock.ts";
import { OffstageError } from "../../errors.ts";
import { type Message, textOf } from "../../messages/message.ts";
import { MessageQuery } from "../../query/message-query.ts";
import type { RunSummary } from "../../query/run-summary.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import { traceOf } from "../../tracing/trace-context.ts";
import type { StepSetup } from "../config/step-setup.ts";
import { approvalsOf } from "../ports/approvals.ts";
import type { RunResult } from "../ports/run-result.ts";
import type { Run } from "./run.ts";
import { type SubagentRun, withSubagents } from "./subagent-run.ts";

export interface FinishedParts {
  readonly state: AgentState;
  readonly text: string;
  readonly output: unknown;
  /** The messages that are in no finished step: those of the step under way, and a partial answer. */
  readonly rest: readonly Message[];
}

/** The result of a run. JSON and console.log show only the fields that are worth logging. */
export function finishedRun(run: Run, { state, text, output, rest }: FinishedParts): RunResult<unknown> {
  const { identity, agent, record, scope, input } = run;
  const trace = scope.span.recording ? traceOf(scope.span) : undefined;
  const cost = agent.pricing.totalCost(state.usageByModel);
  const fields: Omit<RunResult<unknown>, "requireOutput"> = {
    runId: identity.runId,
    parentRunId: identity.parent?.identity.runId,
    agent: agent.name,
    output,
    text,
    outcome: state.outcome as Outcome,
    state,
    steps: state.steps,
    usage: state.usage,
    cost,
    traceId: trace?.traceId,
    trace,
    messages: queryOver(
      { input: record.input, state, rest, subagents: record.subagents, facts: runFacts(run), cost },
      agent.tokenCounter,
    ),
    children: record.children,
    historyCut: input.historyCut,
    guardrailTrips: record.trips,
    approvals: state.pendingStep === undefined ? [] : approvalsOf(state, agent.name),
  };
  const result = Object.defineProperties(fields, {
    requireOutput: { value: () => requiredOutput(result) },
    toJSON: { value: () => loggable(result) },
    [Symbol.for("nodejs.util.inspect.custom")]: { value: () => printable(result) },
  }) as RunResult<unknown>;
  return result;
}

function requiredOutput(result: RunResult<unknown>): unknown {
  const { output, outcome, runId } = result;
  if (output !== undefined && outcome.status === "completed") return output;
  const sentence = `Run "${runId}" has no output: it is ${outcome.status} (${outcome.reason}). ${outcome.message}`;
  throw new OffstageError("no-output", sentence, { result });
}

interface Exchanged {
  readonly input: readonly Message[];
  readonly state: AgentState;
  readonly rest: readonly Message[];
  readonly subagents: readonly SubagentRun[];
  readonly facts: RunFacts;
  readonly cost: number | undefined;
}

// A separate function, so that the query does not keep the rest of the run in memory.
function queryOver(exchanged: Exchanged, tokenCounter: TokenCounter): MessageQuery {
  const { facts, state, subagents, cost } = exchanged;
  const runs = () => [runSummary(facts, state, cost), ...subagents.flatMap(({ result }) => result.messages.runs())];
  return new MessageQuery(() => messagesOf(exchanged), { tokenCounter, runs });
}

function messagesOf({ input, state, rest, subagents }: Exchanged): readonly Message[] {
  return withSubagents([...input, ...state.steps.flatMap((step) => step.messages), ...rest], subagents);
}

function loggable({ state: _, steps: __, trace: ___, text: ____, ...result }: RunResult<unknown>): object {
  return { ...result, messages: result.messages.all() };
}

function printable(result: RunResult<unknown>): object {
  const { runId, agent, output, outcome, usage, cost, steps, traceId, children, approvals, historyCut } = result;
  const shown = { runId, agent, output, outcome, usage, cost, steps, traceId, children, approvals };
  return { ...shown, ...(historyCut && { historyCut }) };
}

// The part of a summary that only the run itself knows.
type RunFacts = Omit<RunSummary, "status" | "reason" | "error" | "usage" | "cost" | "steps">;

function runFacts(run: Run): RunFacts {
  const { identity, agent, record, input } = run;
  const setup: StepSetup | undefined = input.setup;
  const { parent, parentToolCallId, runId } = identity;
  const startedAt = record.log?.recorded?.startedAt ?? identity.startedAt;
  const endedAt = isoNow();
  const sessionId = sessionIdOf(run);
  const instructions = input.instructions.toArray().map(textOf).join("\n\n");
  return {
    runId,
    ...(parent !== undefined && { parentRunId: parent.identity.runId }),
    ...(parentToolCallId !== undefined && { parentToolCallId }),
    ...(sessionId !== undefined && { sessionId }),
    agent: agent.name,
    ...(setup && { model: setup.model.modelId, provider: setup.model.provider }),
    startedAt,
    endedAt,
    durationMs: Math.max(0, Date.parse(endedAt) - Date.parse(startedAt)),
    ...(instructions !== "" && { instructions }),
  };
}

// A subagent is recorded in the session of the run above it.
function sessionIdOf({ identity, request }: Run): string | undefined {
  return identity.parent === undefined ? request.session?.sessionId : sessionIdOf(identity.parent);
}

function runSummary(facts: RunFacts, state: AgentState, cost: number | undefined): RunSummary {
  const { status, reason, message } = state.outcome as Outcome;
  return {
    ...facts,
    status,
    reason,
    ...(status === "failed" && { error: { code: reason, message } }),
    usage: state.usage,
    ...(cost !== undefined && { cost }),
    steps: state.stepCount,
  };
}
