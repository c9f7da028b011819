// Run filter: what a list of runs can be asked for. Checked, since a status that no run can have would look like nothing to resume.
import { checkOptions, type OptionRules, oneOf, someText, wholeFrom } from "../base/options.ts";
import { type RunInfo, type RunStatus, runStatuses } from "./journal.ts";

/** Which runs are wanted. */
export interface RunFilter {
  readonly status?: RunStatus | undefined;
  /** Only runs of the agent with this name; one that was given none is called "agent". */
  readonly agent?: string | undefined;
  /** At most so many, the newest; undefined is all. */
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

/** Whether this run is wanted. */
export function isWanted({ status, agent }: RunFilter, run: RunInfo): boolean {
  return (status ?? run.status) === run.status && (agent ?? run.agent) === run.agent;
}
