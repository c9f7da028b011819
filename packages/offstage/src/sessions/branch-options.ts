// What a branch may be told. Checked, since an id under another name would be no id.
import { anything, checkOptions, type OptionRule } from "../base/options.ts";
import { checkLimit } from "./limit.ts";
import { checkSessionId } from "./session-cells.ts";

export interface BranchOptions {
  /** The id of the new session. Default: a new one. */
  readonly id?: string | undefined;
}

const branchRules: Readonly<Record<keyof BranchOptions, OptionRule>> = { id: anything };

/** The id of the new session. Throws where it cannot be one, or where something else is asked for. */
export function branchId(at: number | undefined, options: BranchOptions): string {
  checkLimit(at, "at");
  checkOptions(options, branchRules, "branch()");
  const { id = crypto.randomUUID() } = options;
  checkSessionId(id);
  return id;
}
