// The history of a run: the part of the conversation that is loaded, in whole turns, within a token budget.
import type { Message } from "../../messages/message.ts";
import { Messages } from "../../messages/messages.ts";
import type { RunLog, RunStart } from "../../sessions/ports/journal.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import type { HistoryCut } from "../ports/run-result.ts";
import type { Run } from "../run/run.ts";
import { readToolHistory } from "./tool-history.ts";

const defaultHistory = 50;

/** The part of the conversation to load: the latest messages; with memory or compaction, those that they do not cover yet. */
export function historyToLoad({ request, agent }: Run): Pick<RunStart, "historyLimit" | "historyAfter"> {
  const { historyLimit: asked } = request.options;
  if (asked !== undefined || !agent.isShortened) return { historyLimit: asked ?? defaultHistory };
  const note = request.session && agent.viewNotes.of(request.session);
  return { historyLimit: undefined, historyAfter: note?.conversation.lastSaid || undefined };
}

/**
 * The conversation of the session before the input of the run, as much as the model may see, and the tool history of what it sees.
 * A state of the caller is not cut.
 */
export async function loadHistory(run: Run, log: RunLog): Promise<Messages> {
  const { agent, request, state, input } = run;
  const { historyTokens: budget } = request.options;
  const toolHistory = await readToolHistory(run, log, [...log.history, ...state.messages]);
  input.toolHistory = toolHistory;
  const counted = budget === undefined ? log.history : toolHistory.inConversation(log.history);
  const within = new Set(withinTokens(counted, budget, agent.tokenCounter));
  const history = log.history.filter((message) => within.has(message));
  input.historyCut = request.hasOwnState ? undefined : cutOf(run, log, history.length);
  return Messages.from(history);
}

// With memory or compaction and no limit, messages that are not loaded are covered by a summary or chosen by the memory.
function cutOf(run: Run, { earlierCount, history }: RunLog, shown: number): HistoryCut | undefined {
  const { historyLimit } = historyToLoad(run);
  const count = historyLimit === undefined ? history.length : (earlierCount ?? history.length);
  if (count <= shown) return undefined;
  return { shown, notShown: count - shown, limit: shown < history.length ? "historyTokens" : "historyLimit" };
}

/** Tells listeners that a limit cut off the beginning of the conversation, if it did. */
export function announceCut({ input, record }: Run): void {
  if (input.historyCut !== undefined) record.emit({ type: "history-cut", ...input.historyCut });
}

/** The newest whole turns within a token budget. The newest turn is included even if it exceeds the budget. */
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
