// Run filter: what a list of runs can be asked for. Checked, since a status that no run can have would look like nothing to resume.
import { checkOptions, type OptionRules, oneOf, someText } from "../base/options.ts";
import { type RunInfo, type RunStatus, runStatuses } from "./journal.ts";

/** Which runs are wanted. */
export interface RunFilter {
  readonly status?: RunStatus;
  /** Only runs of the agent with this name; one that was given none is called "agent". */
  readonly agent?: string;
  /** At most so many, the newest; undefined is all. */
  readonly limit?: number | undefined;
}

const filterRules: OptionRules = {
  status: oneOf(...runStatuses),
  agent: someText,
  // Checked where it is used.
  limit: { isFit: () => true, words: "" },
};

/** Throws `invalid-argument` where a list of runs is asked for something there cannot be; `more` is what else it takes. */
export function checkRunFilter(options: RunFilter, more: OptionRules = {}): void {
  const rules = { ...filterRules, ...more };
  checkOptions(options, rules, "runs.list()");
}

/** Whether this run is wanted. */
export function isWanted({ status, agent }: RunFilter, run: RunInfo): boolean {
  return (status ?? run.status) === run.status && (agent ?? run.agent) === run.agent;
}
