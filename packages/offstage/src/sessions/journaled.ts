// Journaled: how a session of ours gives its journal to the agent. A plain session has none; see plain-journal.ts.
import type { Journal } from "./journal.ts";

/** A session with a journal of its own. */
export interface Journaled {
  /** Where agents record the runs of this session. */
  readonly journal: Journal;
}

/** The journal of a session that has one. */
export function ownJournal(session: object): Journal | undefined {
  const { journal } = session as Partial<Journaled>;
  const isOne = typeof journal?.open === "function" && typeof journal.reopen === "function";
  return isOne ? journal : undefined;
}
