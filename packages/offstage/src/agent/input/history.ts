// The history of a run: the part of the conversation that is loaded, in whole turns, within a token budget.
import type { Message } from "../../messages/message.ts";
import { Messages } from "../../messages/messages.ts";
import type { RunLog, RunStart } from "../../sessions/ports/journal.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
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

/** The conversation before the input of the run, and the tool history that belongs to it. A state of the caller is used as it is. */
export async function loadHistory(run: Run, log: RunLog | undefined): Promise<Messages> {
  const { agent, request, state, input } = run;
  if (log === undefined) return state.messages;
  const own = request.hasOwnState ? state.messages : undefined;
  const toolHistory = await readToolHistory(log, own?.toArray() ?? log.history, agent);
  input.toolHistory = toolHistory;
  if (own !== undefined) return own;
  const { historyTokens: budget } = request.options;
  if (budget === undefined) return Messages.from(log.history);
  const counted = toolHistory.inConversation(log.history);
  const shown = new Set(withinTokens(counted, budget, agent.tokenCounter));
  return Messages.from(log.history.filter((message) => shown.has(message)));
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
