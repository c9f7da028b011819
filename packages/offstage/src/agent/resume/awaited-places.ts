// Finds the calls that wait, in a run and in the runs of its subagents, with the tools that they call.
import type { RunRecord } from "../../sessions/ports/run-record.ts";
import type { AgentState } from "../../state/agent-state.ts";
import { type AgentStateJson, type AwaitedCall, byCallId, type WaitingCall } from "../../state/pending-step.ts";
import type { StepToolCall } from "../../state/step.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { StepSetup } from "../config/step-setup.ts";
import type { AwaitedPlace } from "../ports/decision-book.ts";
import { subagentOf } from "../run/run.ts";
import { type AgentSetup, restoreState } from "./restore-state.ts";

/** The records of subagents' runs, by run id. */
export type Records = ReadonlyMap<string, RunRecord>;

type Waiting = Pick<AgentState | AgentStateJson, "pendingStep" | "runId">;

export interface Beneath {
  readonly records: Records;
  /** The setup of a step of a subagent's run. */
  setUp(subagent: AgentConfig, place: { readonly runId: string; readonly step: number }): Promise<StepSetup>;
}

/** The calls of a state that wait for a person, including those of subagents, whose states are in it or in their records. */
export async function awaitedPlaces(state: Waiting, at: AgentSetup, beneath: Beneath): Promise<AwaitedPlace[]> {
  const { pendingStep, runId = "" } = state;
  const calls = byCallId(pendingStep?.step.toolCalls ?? []);
  const places: AwaitedPlace[] = [];
  for (const waiting of pendingStep?.waiting ?? []) {
    const call = calls.get(waiting.toolCallId);
    for (const place of await placesOf(waiting, { ...at, runId, call }, beneath)) places.push(place);
  }
  return places;
}

interface CallPlace extends AgentSetup {
  readonly runId: string;
  readonly call: StepToolCall | undefined;
}

async function placesOf(waiting: WaitingCall, at: CallPlace, beneath: Beneath): Promise<readonly AwaitedPlace[]> {
  const { toolCallId, why, child } = waiting;
  const { agent, setup, runId, call } = at;
  const tool = setup.tools.get(call?.toolName ?? "");
  const place = { toolCallId, runId, agent: agent.name, call, tool };
  if (waiting.question !== undefined) return [{ ...place, question: waiting.question, answers: waiting.answers }];
  if (child === undefined) return why === "approval" ? [place] : [];
  const subagent = subagentOf(tool);
  const below = subagent && (await stateBelow(child, subagent, beneath));
  if (subagent === undefined || below === undefined) return (child.awaits ?? []).map(unknownPlace(child));
  const places = await awaitedPlaces(below.state, { agent: subagent, setup: below.setup }, beneath);
  return places.map((each) => ({ ...each, isBeneath: true }));
}

type Child = NonNullable<WaitingCall["child"]>;

async function stateBelow(
  { state, runId }: Child,
  agent: AgentConfig,
  { records, setUp }: Beneath,
): Promise<{ readonly state: Waiting; readonly setup: StepSetup } | undefined> {
  const record = records.get(runId);
  const step = state?.pendingStep?.step.index ?? record?.openStep?.step ?? 1;
  if (state === undefined && record === undefined) return undefined;
  const setup = await setUp(agent, { runId, step });
  if (state !== undefined) return { state, setup };
  return record && { state: restoreState(record, [], { agent, setup }).withRun({ runId, startedAt: 0 }), setup };
}

// The agent no longer has the subagent, so only the ids are known.
function unknownPlace({ agent }: Child): (call: AwaitedCall) => AwaitedPlace {
  return ({ toolCallId, runId }) => ({ toolCallId, runId, agent });
}
