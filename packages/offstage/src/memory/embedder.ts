// The embedder port: turns texts into vectors, so that similar texts are near. And the built-in embedder, which works offline.
import { checkOptions, wholeFrom } from "../base/options.ts";
import { hash } from "./message-key.ts";

/**
 * Turns texts into vectors.
 *
 * **Contract:** returns one vector for each text, in order, all of the same length; the same text gives the same vector. It
 * may reject: then the memory shows the newest messages and reports the error.
 */
export interface Embedder {
  embed(texts: readonly string[]): Promise<readonly Vector[]> | readonly Vector[];
}

export type Vector = Float32Array | readonly number[];

export interface LexicalEmbedderOptions {
  /** The length of the vectors. Default 512. */
  readonly dimensions?: number | undefined;
}

/** Embeds by words and parts of words, so that forms of a word are near. Needs no model, and knows no synonyms. */
export function lexicalEmbedder(options: LexicalEmbedderOptions = {}): Embedder {
  checkOptions(options, { dimensions: wholeFrom(1) }, "lexicalEmbedder()");
  const { dimensions = 512 } = options;
  return { embed: async (texts) => texts.map((text) => vectorOf(text, dimensions)) };
}

const word = /[\p{L}\p{N}]+/gu;
const partWeight = 0.3;
const shortWordWeight = 0.2;

function vectorOf(text: string, dimensions: number): Float32Array {
  const weights = new Map<string, number>();
  for (const [found] of text.toLowerCase().matchAll(word)) weigh(found, weights);
  const vector = new Float32Array(dimensions);
  for (const [feature, weight] of weights) {
    const bits = hash(feature);
    const place = bits % dimensions;
    // Features that share a place have random signs, so that they do not add up.
    vector[place] = (vector[place] ?? 0) + (bits & 0x40000000 ? 1 : -1) * Math.log1p(weight);
  }
  return vector;
}

// Short words, such as "the", mean little.
function weigh(found: string, weights: Map<string, number>): void {
  const add = (feature: string, weight: number) => weights.set(feature, (weights.get(feature) ?? 0) + weight);
  add(found, /^[a-z]{1,3}$/.test(found) ? shortWordWeight : 1);
  if (found.length === 3) return;
  for (let i = 0; i + 3 <= found.length; i++) add(`~${found.slice(i, i + 3)}`, partWeight);
}
