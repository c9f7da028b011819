// The speed of the scripted demonstration: readable on a terminal, without delay elsewhere.
import { setTimeout } from "node:timers/promises";

export interface Pace {
  /** Before the scripted model replies. */
  think(): Promise<void>;
  /** While a tool works. */
  work(): Promise<void>;
  /** Between two pieces of text. */
  speak(): Promise<void>;
}

/** Makes a pace of a factor: 1 is readable, 0 does not wait at all. */
export function paceOf(factor: string | undefined): Pace {
  const slow = factor === undefined ? (process.stdout.isTTY ? 1 : 0) : Math.max(0, Number(factor) || 0);
  const wait = async (ms: number): Promise<void> => {
    if (slow > 0) await setTimeout(ms * slow);
  };
  return { think: () => wait(700), work: () => wait(400), speak: () => wait(18) };
}
