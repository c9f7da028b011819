// Keeps the newest turns and drops the rest. Needs no model.
import type { CompactionStrategy } from "../compaction-strategy.ts";
import { windowed } from "../shorten.ts";

/** The newest whole turns that fit, and a mark that says how many messages are not shown. */
export function slidingWindow(): CompactionStrategy {
  return { name: "slidingWindow", compact: windowed };
}
