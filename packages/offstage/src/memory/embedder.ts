// The embedder port: texts to vectors, so that what means the same is near. And nearness itself.
import { OffstageError } from "../errors.ts";

/**
 * Turns texts into vectors.
 *
 * **Contract:** one vector per text, in order, all of the same length; the same text gives the same vector. It may reject:
 * then the newest messages are shown, and the error is reported.
 */
export interface Embedder {
  embed(texts: readonly string[]): Promise<readonly Vector[]> | readonly Vector[];
}

export type Vector = Float32Array | readonly number[];

/** The vectors of texts, each of length 1 so that nearness is a product; throws where the embedder broke its contract. */
export async function embedAll(embedder: Embedder, texts: readonly string[]): Promise<Float32Array[]> {
  const vectors = await embedder.embed(texts);
  if (!Array.isArray(vectors) || vectors.length !== texts.length) {
    const found = Array.isArray(vectors) ? `${vectors.length} vectors` : typeof vectors;
    throw new OffstageError("invalid-argument", `The embedder was given ${texts.length} texts and gave ${found}.`);
  }
  return vectors.map(normalized);
}

/** How near two vectors of length 1 are: 1 for the same direction, 0 for nothing in common. */
export function nearness(a: Float32Array, b: Float32Array): number {
  if (a.length !== b.length)
    throw new OffstageError("invalid-argument", `The embedder gave vectors of ${a.length} and ${b.length} numbers.`);
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

function normalized(vector: Vector): Float32Array {
  const copy = Float32Array.from(vector);
  let sum = 0;
  for (const value of copy) sum += value * value;
  const length = Math.sqrt(sum);
  if (length > 0) for (let i = 0; i < copy.length; i++) copy[i] = (copy[i] as number) / length;
  return copy;
}
