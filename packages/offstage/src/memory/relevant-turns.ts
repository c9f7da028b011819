// Relevant turns: those of an older part that are nearest to a query and fit into a room, in their order.
import type { Message } from "../messages/message.ts";
import type { TokenCounter } from "../tokens/token-counter.ts";
import type { TurnRanking } from "./turn-ranking.ts";
import { turnsOf } from "./turns.ts";

export interface RelevantTurnsOptions {
  readonly query: string;
  /** The most tokens they may take together. */
  readonly room: number;
  readonly counter: TokenCounter;
  readonly ranking: TurnRanking;
  /** A turn must be nearer than this. Default 0.05. */
  readonly minScore?: number;
  /** Fill what is left with the newest of the others. Default false. */
  readonly fillsWithNewest?: boolean;
}

/** The messages of the turns that were chosen. Of equally near ones the newer comes first. */
export async function relevantTurns(list: readonly Message[], options: RelevantTurnsOptions): Promise<Message[]> {
  const { query, counter, ranking, minScore = 0.05, fillsWithNewest = false } = options;
  const turns = turnsOf(list).map(({ start, end }) => list.slice(start, end));
  if (turns.length === 0 || options.room <= 0) return [];
  const scores = query.trim() === "" ? turns.map(() => 0) : await ranking.scores(turns, query);
  const ranked = turns.map((_, i) => i).sort((a, b) => (scores[b] as number) - (scores[a] as number) || b - a);
  const near = ranked.filter((i) => (scores[i] as number) > minScore);
  const others = fillsWithNewest ? ranked.slice(near.length).sort((a, b) => b - a) : [];
  let room = options.room;
  const chosen = [...near, ...others].filter((i) => {
    const tokens = counter.countMessages(turns[i] as Message[]);
    if (tokens > room) return false;
    room -= tokens;
    return true;
  });
  return chosen.sort((a, b) => a - b).flatMap((i) => turns[i] as Message[]);
}
