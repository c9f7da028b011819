// A token budget for the conversation that is loaded: whole turns, newest first, as many as fit.
import type { Message } from "../../messages/message.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";

/** The latest whole turns within a budget; the newest turn whatever it takes. */
export function withinTokens(
  history: readonly Message[],
  budget: number | undefined,
  counter: TokenCounter,
): readonly Message[] {
  if (budget === undefined) return history;
  let tokens = 0;
  let start = history.length;
  for (let i = history.length - 1; i >= 0; i--) {
    tokens += counter.countMessage(history[i] as Message);
    if (history[i]?.role !== "user" || history[i - 1]?.role === "user") continue;
    if (tokens > budget && start < history.length) break;
    start = i;
  }
  return start === 0 ? history : history.slice(start);
}
