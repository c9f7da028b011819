// The lexical embedder: nearness by shared words and parts of words. Works offline and at once; it knows no meanings.
import type { Embedder } from "./embedder.ts";
import { hash } from "./message-key.ts";

export interface LexicalEmbedderOptions {
  /** The length of the vectors. Default 512. */
  readonly dimensions?: number;
}

/** An embedder that hashes words, and the three-letter parts of words so that forms of a word are near. */
export function lexicalEmbedder(options: LexicalEmbedderOptions = {}): Embedder {
  const { dimensions = 512 } = options;
  return { embed: (texts) => texts.map((text) => vectorOf(text, dimensions)) };
}

const word = /[\p{L}\p{N}]+/gu;
const partWeight = 0.3;

function vectorOf(text: string, dimensions: number): Float32Array {
  const counts = new Map<string, number>();
  for (const [found] of text.toLowerCase().matchAll(word)) count(found, counts);
  const vector = new Float32Array(dimensions);
  for (const [feature, weight] of counts) {
    const bits = hash(feature);
    const place = bits % dimensions;
    // A sign of its own for every feature, so that those that share a place do not add up.
    vector[place] = (vector[place] as number) + (bits & 0x40000000 ? 1 : -1) * Math.log1p(weight);
  }
  return vector;
}

// Short words say little.
function count(found: string, counts: Map<string, number>): void {
  const weight = found.length <= 3 && !/\p{N}/u.test(found) && /^[a-z]+$/.test(found) ? 0.2 : 1;
  counts.set(found, (counts.get(found) ?? 0) + weight);
  for (let i = 0; i + 3 <= found.length && found.length > 3; i++) {
    const part = `~${found.slice(i, i + 3)}`;
    counts.set(part, (counts.get(part) ?? 0) + partWeight);
  }
}
