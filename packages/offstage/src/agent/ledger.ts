// The ledger: tokens of a run as they are used, by model. A subagent's entries reach every run above it at once.
import { addUsage, type Usage } from "../tokens/usage.ts";

/** What a run and the runs below it have used so far, by model. */
export class Ledger {
  readonly #parent: Ledger | undefined;
  #usageByModel: Readonly<Record<string, Usage>> = {};

  constructor(parent: Ledger | undefined) {
    this.#parent = parent;
  }

  /** Everything so far. A new object after every entry, so that it can be kept. */
  get usageByModel(): Readonly<Record<string, Usage>> {
    return this.#usageByModel;
  }

  /** Begins with what an earlier part of the run has used; the runs above know of it already. */
  restore(usageByModel: Readonly<Record<string, Usage>>): void {
    this.#usageByModel = usageByModel;
  }

  add(modelId: string, usage: Usage): void {
    const before = this.#usageByModel;
    const sum = Object.hasOwn(before, modelId) ? addUsage(before[modelId] as Usage, usage) : usage;
    this.#usageByModel = { ...before, [modelId]: sum };
    this.#parent?.add(modelId, usage);
  }
}
