// Keeps the newest turns and drops the rest. Needs no model.
import type { CompactionStrategy } from "../compaction-strategy.ts";
import { keepWindow } from "../shorten.ts";

/** Keeps the newest whole turns that fit, and a message that says how many messages are not shown. */
export function slidingWindow(): CompactionStrategy {
  return { name: "slidingWindow", compact: async (input) => keepWindow(input) };
}
