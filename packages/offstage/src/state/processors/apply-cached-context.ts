// Puts a fixed list of messages ahead of the conversation: a stable prefix that provider caches can hold.
import { type Message, withMetadata } from "../../messages/message.ts";
import type { Messages } from "../../messages/messages.ts";
import type { Processor } from "../processor.ts";

const section = "buffer";

/** Before a step, these messages stand first in the buffer section, once, in place of an earlier list of the kind. */
export function applyCachedContext(messages: readonly Message[]): Processor {
  const context = messages.map((message) => withMetadata(message, { isCachedContext: true }));
  const text = JSON.stringify(context);
  // A state that was read from JSON holds copies.
  const standsIn = (buffer: Messages): boolean => {
    if (buffer.at(context.length)?.metadata?.isCachedContext === true) return false;
    return (
      context.every((message, i) => message === buffer.at(i)) ||
      JSON.stringify(buffer.slice(0, context.length)) === text
    );
  };
  return (state, next) => {
    const buffer = state.section(section);
    if (standsIn(buffer)) return next(state);
    const others = buffer.filter((message) => message.metadata?.isCachedContext !== true);
    return next(state.withSection(section, [...context, ...others]));
  };
}
