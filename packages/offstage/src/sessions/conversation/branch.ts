// Branching: a new session that starts with a copy of part of another, in one atomic write, and knows where it came from.
import { anything, checkOptions, type OptionRule } from "../../base/options.ts";
import { checkId } from "../head/namespace-rows.ts";
import { exists, type SessionCell } from "../head/session-cell.ts";
import { checkLimit, existsAlready } from "../ports/session.ts";
import type { MessageRow } from "../ports/tables.ts";
import { type NewMessage, putMessages, readLatest, touch } from "./conversation.ts";

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
  checkId(id, "session id");
  return id;
}

/** Creates `target`, which must not exist yet, with the first `at` messages of `source`. */
export async function branch(source: SessionCell, target: SessionCell, at?: number): Promise<void> {
  const placed = (await readLatest(source)).slice(0, at);
  const title = (await source.head())?.title ?? null;
  await target.update("session.branch", async (change) => {
    if (exists(change.head)) throw existsAlready(target.id);
    const added = placed.map(({ message, row }) => ({ message, run: runOf(row), isSaid: true }));
    change.head = { ...change.head, title, branched_from: source.id, branched_at: placed.length };
    putMessages(target, change, added);
    touch(change);
  });
}

// The run that a message came from, which stays in the session it ran in.
function runOf({ run_id: runId, agent, step }: MessageRow): NewMessage["run"] {
  return runId === null || agent === null ? undefined : { runId, agent, step: step ?? undefined };
}
