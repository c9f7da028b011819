// The filter of a list of runs. Strictly checked: an unknown status would match no run, and look as if there were none to resume.
import { checkOptions, type OptionRules, oneOf, someText, wholeFrom } from "../base/options.ts";
import { type RunInfo, type RunStatus, runStatuses } from "./journal.ts";

/** Selects runs. */
export interface RunFilter {
  readonly status?: RunStatus | undefined;
  /** Only runs of the agent with this name. The default name of an agent is "agent". */
  readonly agent?: string | undefined;
  /** The maximum number of runs, newest first. Default: all. */
  readonly limit?: number | undefined;
}

const filterRules: OptionRules = {
  status: oneOf(...runStatuses),
  agent: someText,
  limit: wholeFrom(0),
};

/** Throws `invalid-argument` for an unknown or unfit option; `more` are the further options of the list called `owner`. */
export function checkRunFilter(options: RunFilter, more: OptionRules, owner: string): void {
  checkOptions(options, { ...filterRules, ...more }, owner);
}

/** True if the filter selects this run. */
export function isWanted({ status, agent }: RunFilter, run: RunInfo): boolean {
  return (status ?? run.status) === run.status && (agent ?? run.agent) === run.agent;
}
