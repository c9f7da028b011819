// The partial answer: what a run had said when something stopped it before it answered.
import { assistant } from "../messages/makers.ts";
import type { AssistantMessage } from "../messages/message.ts";
import type { AgentState } from "./agent-state.ts";

/** The newest text of the run as a message marked `interrupted`; undefined where it said nothing. */
export function partialAnswer(state: AgentState): AssistantMessage | undefined {
  const step = state.steps.findLast(({ text }) => text.trim() !== "");
  if (step === undefined) return undefined;
  const { id, createdAt, runId, agent } = step.messages[0]?.metadata ?? {};
  const known = Object.entries({ id, createdAt, runId, agent }).filter(([, value]) => value !== undefined);
  return assistant(step.text, { metadata: { ...Object.fromEntries(known), step: step.index, interrupted: true } });
}
