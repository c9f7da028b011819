// The options of a branch.
import { anything, checkOptions, type OptionRule } from "../base/options.ts";
import { checkLimit } from "./limit.ts";
import { checkSessionId } from "./session-cell.ts";

export interface BranchOptions {
  /** The id of the new session. Default: a random one. */
  readonly id?: string | undefined;
}

const branchRules: Readonly<Record<keyof BranchOptions, OptionRule>> = { id: anything };

/** The id of the new session. Throws `invalid-argument` for an invalid id, position or option. */
export function branchId(at: number | undefined, options: BranchOptions): string {
  checkLimit(at, "at");
  checkOptions(options, branchRules, "branch()");
  const { id = crypto.randomUUID() } = options;
  checkSessionId(id);
  return id;
}
