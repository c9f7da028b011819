// Cuts history to whole turns. A turn starts with a user message.
import type { Message } from "../../messages/message.ts";

/**
 * The latest `limit` messages, cut from the front to the next user message; the newest turn is always whole. `isWhole` means
 * that `messages` is the whole conversation. Returns undefined if earlier messages are needed.
 */
export function wholeTurns(
  messages: readonly Message[],
  limit: number | undefined,
  isWhole: boolean,
): readonly Message[] | undefined {
  if (limit === 0) return [];
  const isShort = limit === undefined || messages.length <= limit;
  if (isShort && isWhole) return messages;
  return limit === undefined || messages.length < limit ? undefined : latestTurns(messages, limit, isWhole);
}

function latestTurns(messages: readonly Message[], limit: number, isWhole: boolean): readonly Message[] | undefined {
  const start = Math.max(0, messages.length - limit);
  const first = firstUser(messages, start) ?? lastUserBefore(messages, start);
  if (first !== undefined) return messages.slice(first);
  return isWhole ? messages.slice(start) : undefined;
}

function firstUser(messages: readonly Message[], start: number): number | undefined {
  for (let i = start; i < messages.length; i++) if (messages[i]?.role === "user") return i;
  return undefined;
}

function lastUserBefore(messages: readonly Message[], start: number): number | undefined {
  for (let i = start - 1; i >= 0; i--) if (messages[i]?.role === "user") return i;
  return undefined;
}
