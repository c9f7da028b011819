// Builders of long conversations with tools, for memory tests. Every message has an id.
import { assistant, toolCall, toolResult, user } from "../../src/messages/makers.ts";
import type { Message } from "../../src/messages/message.ts";
import type { Messages } from "../../src/messages/messages.ts";
import { AgentState } from "../../src/state/agent-state.ts";

/** One step of a tool loop: a call and its result, about `words` words long. */
export function buildLoopStep(id: string, words = 20): Message[] {
  return [
    assistant(null, { toolCalls: [toolCall(`call-${id}`, "search", { id })], metadata: { id: `${id}.call`, step: 1 } }),
    toolResult(`call-${id}`, `result ${id}: ${"word ".repeat(words)}`, {
      name: "search",
      metadata: { id: `${id}.result`, step: 1 },
    }),
  ];
}

/** One turn: a question, a step and an answer. */
export function buildTurn(n: number, words = 20): Message[] {
  return [
    user(`question ${n}`, { metadata: { id: `${n}.question` } }),
    ...buildLoopStep(`${n}`, words),
    assistant(`answer ${n}`, { metadata: { id: `${n}.answer` } }),
  ];
}

/** This many turns, one after another. */
export function buildTurns(count: number, words = 20): Message[] {
  return Array.from({ length: count }, (_, n) => buildTurn(n, words)).flat();
}

/** The state with messages at the end of a section. */
export function appended(
  state: AgentState,
  added: readonly Message[],
  section = AgentState.DEFAULT_SECTION,
): AgentState {
  return state.withSection(section, state.section(section).append(added));
}

/** The sections of a view, one after another. */
export function flat({ sections }: { readonly sections: readonly Messages[] }): Message[] {
  return sections.flatMap((section) => section.toArray());
}

/** The ids of messages that have one. */
export function idsOf(messages: Iterable<Message>): string[] {
  return [...messages].flatMap(({ metadata }) => (metadata?.id === undefined ? [] : [metadata.id]));
}
