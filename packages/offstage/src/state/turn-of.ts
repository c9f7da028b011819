// The turn: the messages of a run that join the conversation. The one place that decides it, for sessions and for states.
// Also the sections that the messages of a step join, in the two modes of the loop.
import { assistant } from "../messages/makers.ts";
import { type AssistantMessage, type Message, type MessageMetadata, withMetadata } from "../messages/message.ts";
import { isSendable } from "../messages/pairing.ts";
import { AgentState } from "./agent-state.ts";
import type { Step } from "./step.ts";

/**
 * The messages with which a finished run answers its user.
 *
 * - completed: the answer
 * - stopped with an answer: the answer, marked `interrupted`
 * - stopped by a limit or a criterion before an answer: the newest text of the run, marked `interrupted`
 * - aborted or asked to stop before an answer: nothing; the reply that was cut off is not part of the state (see conclude.ts)
 * - failed, waiting, or blocked by a guardrail: nothing
 *
 * Tool calls, tool results and text beside tool calls of earlier steps are never part of it.
 */
export function turnOf(state: AgentState): readonly Message[] {
  const { outcome, currentStep } = state;
  if (outcome === undefined || outcome.reason === "guardrail") return [];
  if (outcome.status !== "completed" && outcome.status !== "stopped") return [];
  const answer = currentStep?.isAnswer ? currentStep.messages.filter(isSendable) : undefined;
  if (outcome.status === "completed") return answer ?? [];
  if (answer !== undefined) return answer.map(markInterrupted);
  const isCutOff = outcome.reason === "aborted" || outcome.reason === "stop-requested";
  const partial = isCutOff ? undefined : partialAnswer(state);
  return partial === undefined ? [] : [partial];
}

/** The messages that users said while the run worked. They are part of the conversation, before the answer. */
export function joinedOf({ steps }: AgentState): readonly Message[] {
  return steps.flatMap((step) => step.messages.filter(({ metadata }) => metadata?.isJoined === true));
}

/** The newest text of the run as a message marked `interrupted`; undefined if the run has no text. */
export function partialAnswer(state: AgentState): AssistantMessage | undefined {
  const step = state.steps.findLast(({ text }) => text.trim() !== "");
  return step && interruptedText(step.text, step.messages[0]?.metadata, step.index);
}

/** The text of a reply as a message marked `interrupted`, without its calls. */
export function interruptedText(text: string, metadata: MessageMetadata | undefined, step: number): AssistantMessage {
  const { id, createdAt, runId, agent } = metadata ?? {};
  const known = Object.entries({ id, createdAt, runId, agent }).filter(([, value]) => value !== undefined);
  return assistant(text, { metadata: { ...Object.fromEntries(known), step, interrupted: true } });
}

function markInterrupted(message: Message): Message {
  return message.metadata?.interrupted === true ? message : withMetadata(message, { interrupted: true });
}

/** Changes the state after a step. */
export type StepChange = (after: AgentState, step: Step) => AgentState;

/** The mode without a separate tool trace: the messages of a step join the conversation. */
export const keepTogether: StepChange = (after, step) =>
  after.withMessageStore(after.store.append(AgentState.DEFAULT_SECTION, step.messages));

/** Appends the turn of a run that has ended to the conversation. */
export const appendTurn: StepChange = (after) => {
  const { status } = after.outcome ?? {};
  const joined = status === "completed" || status === "stopped" ? joinedOf(after) : [];
  return after.withMessages(after.messages.append([...joined, ...turnOf(after)]));
};

/** Appends the messages of a step that is not an answer to the execution buffer. */
export const bufferTrace: StepChange = (after, step) =>
  step.isAnswer
    ? after
    : after.withSection(AgentState.EXECUTION_BUFFER_SECTION, after.executionBuffer.append(step.messages));

/** Empties the buffer. A run that failed or waits for approval keeps it, for inspection or resume. */
export function clearBuffer(after: AgentState): AgentState {
  const status = after.outcome?.status;
  if (status !== "completed" && status !== "stopped") return after;
  return after.executionBuffer.isEmpty ? after : after.withSection(AgentState.EXECUTION_BUFFER_SECTION, []);
}

/** The other mode: the tool trace is in the buffer while the run continues, and only the answer joins the conversation. */
export const keepSeparate: StepChange = (after, step) => clearBuffer(appendTurn(bufferTrace(after, step), step));
