// The history of a run: how much of the conversation is loaded, with the tool history the agent wants, within a token budget.
import type { Message } from "../../messages/message.ts";
import { Messages } from "../../messages/messages.ts";
import type { RunLog } from "../../sessions/journal.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import type { Run } from "../run/run.ts";
import { withToolHistory } from "./tool-history.ts";

const defaultHistory = 50;
const spare = 50;

/** The number of earlier messages to load. If memory or compaction choose what is shown, as much as they do not yet cover. */
export function historyLimit({ request, agent }: Run): number | undefined {
  const { historyLimit: asked } = request.options;
  if (asked !== undefined) return asked;
  if (!agent.isShortened) return defaultHistory;
  const known = agent.shownNotes.of(request.session?.sessionId);
  return known === undefined ? undefined : known.tail + spare;
}

/** The loaded conversation as the model is to see it. */
export async function loadHistory({ agent, request }: Run, log: RunLog): Promise<Messages> {
  const history = await withToolHistory(log, agent);
  return Messages.from(withinTokens(history, request.options.historyTokens, agent.tokenCounter));
}

/** The latest whole turns within a token budget; the newest turn is always whole. */
export function withinTokens(
  history: readonly Message[],
  budget: number | undefined,
  counter: TokenCounter,
): readonly Message[] {
  if (budget === undefined) return history;
  let tokens = 0;
  let start = history.length;
  for (const [index, message] of [...history.entries()].reverse()) {
    tokens += counter.countMessage(message);
    if (message.role !== "user" || history[index - 1]?.role === "user") continue;
    if (tokens > budget && start < history.length) break;
    start = index;
  }
  return history.slice(start);
}
