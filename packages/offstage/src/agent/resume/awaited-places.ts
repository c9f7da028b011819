// Finds the calls that wait, in a run and in the runs of its subagents, with the tools that they call.
import type { RunRecord } from "../../sessions/ports/run-record.ts";
import type { AgentState } from "../../state/agent-state.ts";
import { type AgentStateJson, type AwaitedCall, byCallId, type WaitingCall } from "../../state/pending-step.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { AwaitedPlace } from "../ports/decision-book.ts";
import { subagentOf } from "../run/calling-tool.ts";
import { restoreState } from "./restore-state.ts";

/** The records of subagents' runs, by run id. */
export type Records = ReadonlyMap<string, RunRecord>;

type Waiting = Pick<AgentState | AgentStateJson, "pendingStep" | "runId">;

/** The calls of a state that wait for a person, including those of subagents, whose states are in it or in their records. */
export function awaitedPlaces(state: Waiting, agent: AgentConfig, records: Records): AwaitedPlace[] {
  const { pendingStep, runId = "" } = state;
  const calls = byCallId(pendingStep?.step.toolCalls ?? []);
  return (pendingStep?.waiting ?? []).flatMap((waiting): readonly AwaitedPlace[] => {
    const { toolCallId, why, child } = waiting;
    const call = calls.get(toolCallId);
    const tool = agent.tools.get(call?.toolName ?? "");
    if (child === undefined) return why === "approval" ? [{ toolCallId, runId, agent: agent.name, call, tool }] : [];
    const subagent = subagentOf(tool);
    const below = subagent && stateBelow(child, subagent, records);
    if (subagent === undefined || below === undefined) return (child.awaits ?? []).map(unknownPlace(child));
    return awaitedPlaces(below, subagent, records).map((place) => ({ ...place, isBeneath: true }));
  });
}

type Child = NonNullable<WaitingCall["child"]>;

function stateBelow({ state, runId }: Child, agent: AgentConfig, records: Records): Waiting | undefined {
  if (state !== undefined) return state;
  const record = records.get(runId);
  return record && restoreState(record, [], agent).withRun({ runId, startedAt: 0 });
}

// The agent no longer has the subagent, so only the ids are known.
function unknownPlace({ agent }: Child): (call: AwaitedCall) => AwaitedPlace {
  return ({ toolCallId, runId }) => ({ toolCallId, runId, agent });
}
