// Puts a fixed list of messages ahead of the conversation: a stable prefix that provider caches can hold.
import type { Message } from "../../messages/message.ts";
import type { Processor } from "../processor.ts";

const section = "buffer";

/** Before the first step, these messages stand first in the buffer section; a buffer that has some already is left alone. */
export function applyCachedContext(messages: readonly Message[]): Processor {
  return (state, next) => {
    const buffer = state.section(section);
    if (messages.length === 0 || buffer.at(0) === messages[0]) return next(state);
    return next(state.withSection(section, [...messages, ...buffer]));
  };
}
