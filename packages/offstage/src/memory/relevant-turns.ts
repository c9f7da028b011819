// Relevant turns: the older turns that are nearest to a query and fit a token limit.
import { checkRequired } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import type { TokenCounter } from "../tokens/token-counter.ts";
import { messageText } from "./context-text.ts";
import type { Embedder, Vector } from "./embedder.ts";
import { turnsOf } from "./turns.ts";

type Turn = readonly Message[];

export interface RelevantTurnsOptions {
  readonly query: string;
  /** The most tokens the turns may take together. */
  readonly room: number;
  readonly counter: TokenCounter;
  readonly ranking: TurnRanking;
  /** The least score of a relevant turn. Default 0.05. */
  readonly minScore?: number | undefined;
  /** Fills the remaining room with the newest of the other turns. Default false. */
  readonly fillsWithNewest?: boolean | undefined;
}

/** Chooses the relevant turns and returns their messages in order. Of two equally near turns the newer is preferred. */
export async function relevantTurns(list: readonly Message[], options: RelevantTurnsOptions): Promise<Message[]> {
  const { query, counter, ranking, minScore = 0.05, fillsWithNewest = false } = options;
  checkRequired("query", query, { isFit: (value) => typeof value === "string", words: "text" });
  const turns = turnsOf(list).map(({ start, end }) => list.slice(start, end));
  if (turns.length === 0 || options.room <= 0) return [];
  const scores = query.trim() === "" ? turns.map(() => 0) : await ranking.scores(turns, query);
  const newestFirst = turns.map((turn, place) => ({ turn, place, score: scores[place] ?? 0 })).reverse();
  const near = newestFirst.filter(({ score }) => score > minScore).sort((a, b) => b.score - a.score);
  const others = fillsWithNewest ? newestFirst.filter(({ score }) => !(score > minScore)) : [];
  let room = options.room;
  const chosen = [...near, ...others].filter(({ turn }) => {
    const tokens = counter.countMessages(turn);
    if (tokens > room) return false;
    room -= tokens;
    return true;
  });
  return chosen.sort((a, b) => a.place - b.place).flatMap(({ turn }) => turn);
}

/** The most characters of a turn that are embedded. */
const longestText = 8000;

/** Scores turns by their nearness to a query. Embeds each turn once. */
export class TurnRanking {
  readonly #embedder: Embedder;
  // By the first message of a turn. A turn that has grown is embedded again.
  readonly #known = new WeakMap<Message, { readonly length: number; readonly vector: Float32Array }>();

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  /** The nearness of each turn to the query: 1 for the same direction, 0 for nothing in common. */
  async scores(turns: readonly Turn[], query: string): Promise<number[]> {
    const fresh = turns.filter((turn) => this.#vectorOf(turn) === undefined);
    const [asked, ...vectors] = await embedAll(this.#embedder, [query, ...fresh.map(textOfTurn)]);
    for (const [i, turn] of fresh.entries()) {
      this.#known.set(turn[0] as Message, { length: turn.length, vector: vectors[i] as Float32Array });
    }
    return turns.map((turn) => product(asked as Float32Array, this.#vectorOf(turn) as Float32Array));
  }

  #vectorOf(turn: Turn): Float32Array | undefined {
    const known = this.#known.get(turn[0] as Message);
    return known?.length === turn.length ? known.vector : undefined;
  }
}

function textOfTurn(turn: Turn): string {
  return turn.map(messageText).join("\n").slice(0, longestText);
}

// Vectors of length 1, so that nearness is a product. Throws if the embedder broke its contract.
async function embedAll(embedder: Embedder, texts: readonly string[]): Promise<Float32Array[]> {
  const vectors = await embedder.embed(texts);
  if (Array.isArray(vectors) && vectors.length === texts.length) return vectors.map(normalize);
  const found = Array.isArray(vectors) ? `${vectors.length} vectors` : typeof vectors;
  throw new OffstageError("invalid-argument", `The embedder returned ${found} for ${texts.length} texts.`);
}

function normalize(vector: Vector): Float32Array {
  const copy = Float32Array.from(vector);
  const length = Math.sqrt(product(copy, copy));
  return length > 0 ? copy.map((value) => value / length) : copy;
}

function product(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length)
    throw new OffstageError(
      "invalid-argument",
      `The embedder returned vectors of ${a.length} and ${b.length} numbers; they must be equally long.`,
    );
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}
