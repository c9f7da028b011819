// The ledger: tokens of a run as they are used, by model. A subagent's entries reach every run above it at once.
import { setField } from "../../base/json.ts";
import { addUsage, type Usage, type UsageByModel } from "../../tokens/usage.ts";

/** What a run and the runs below it have used so far, by model. */
export class Ledger {
  readonly #parent: Ledger | undefined;
  #usageByModel: UsageByModel = {};

  constructor(parent: Ledger | undefined) {
    this.#parent = parent;
  }

  /** Everything so far. A new object after every entry, so that it can be kept. */
  get usageByModel(): UsageByModel {
    return this.#usageByModel;
  }

  /** Begins with what an earlier part of the run has used; the runs above know of it already. */
  restore(usageByModel: UsageByModel): void {
    this.#usageByModel = usageByModel;
  }

  add(modelId: string, usage: Usage): void {
    const before = this.#usageByModel;
    const sums: Record<string, Usage> = { ...before };
    setField(sums, modelId, Object.hasOwn(before, modelId) ? addUsage(before[modelId] as Usage, usage) : usage);
    this.#usageByModel = sums;
    this.#parent?.add(modelId, usage);
  }
}
