// Ranking: turns by their nearness to a query. Each turn is embedded once, however often it is ranked.
import type { Message } from "../messages/message.ts";
import { messageText } from "./context-text.ts";
import { type Embedder, embedAll, nearness } from "./embedder.ts";

/** The most of a turn that is embedded. */
const longestText = 8000;

interface Embedded {
  readonly length: number;
  readonly vector: Float32Array;
}

export class TurnRanking {
  readonly #embedder: Embedder;
  // By the first message of a turn; a turn that grew is embedded anew.
  readonly #known = new WeakMap<Message, Embedded>();

  constructor(embedder: Embedder) {
    this.#embedder = embedder;
  }

  /** How near each turn is to the query, in the order of the turns. Embeds what is new in one call. */
  async scores(turns: readonly (readonly Message[])[], query: string): Promise<number[]> {
    const fresh = turns.filter((turn) => this.#vectorOf(turn) === undefined);
    const [asked, ...vectors] = await embedAll(this.#embedder, [query, ...fresh.map(textOfTurn)]);
    fresh.forEach((turn, i) => {
      this.#known.set(turn[0] as Message, { length: turn.length, vector: vectors[i] as Float32Array });
    });
    return turns.map((turn) => nearness(asked as Float32Array, this.#vectorOf(turn) as Float32Array));
  }

  #vectorOf(turn: readonly Message[]): Float32Array | undefined {
    const known = this.#known.get(turn[0] as Message);
    return known?.length === turn.length ? known.vector : undefined;
  }
}

function textOfTurn(turn: readonly Message[]): string {
  return turn.map(messageText).join("\n").slice(0, longestText);
}
