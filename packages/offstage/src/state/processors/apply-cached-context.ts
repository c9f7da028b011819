// Puts a fixed list of messages before the conversation: a stable prefix for provider caches.
import { type Message, parseMessages, withMetadata } from "../../messages/message.ts";
import type { Messages } from "../../messages/messages.ts";
import { AgentState } from "../agent-state.ts";
import type { Processor } from "../processor.ts";

const section = AgentState.BUFFER_SECTION;

/** Before a step, these messages are the first of the buffer section. They replace an earlier cached context. */
export function applyCachedContext(messages: readonly Message[]): Processor {
  const context = parseMessages(messages).map((message) => withMetadata(message, { isCachedContext: true }));
  const text = JSON.stringify(context);
  const isApplied = (buffer: Messages): boolean => {
    if (buffer.at(context.length)?.metadata?.isCachedContext === true) return false;
    // A state that was read from JSON holds copies.
    return (
      context.every((message, i) => message === buffer.at(i)) ||
      JSON.stringify(buffer.slice(0, context.length)) === text
    );
  };
  return async (state, next) => {
    const buffer = state.section(section);
    if (isApplied(buffer)) return next(state);
    const others = buffer.filter((message) => message.metadata?.isCachedContext !== true);
    return next(state.withSection(section, [...context, ...others]));
  };
}
