// The summary of a run that has ended, for queries over its messages.
import { isoNow } from "../../base/clock.ts";
import { textOf } from "../../messages/message.ts";
import type { RunSummary } from "../../query/run-summary.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { Outcome } from "../../state/outcome.ts";
import type { Run } from "./run.ts";

/** The part of a summary that only the run itself knows. */
export type RunFacts = Omit<RunSummary, "status" | "reason" | "error" | "usage" | "cost" | "steps">;

/** The facts of a run that has just ended. */
export function runFacts(run: Run): RunFacts {
  const { identity, agent, record, input } = run;
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
    ...(input.setup && { model: input.setup.model.modelId, provider: input.setup.model.provider }),
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

/** The summary of a run, from its facts and its last state. */
export function runSummary(facts: RunFacts, state: AgentState, cost: number | undefined): RunSummary {
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
