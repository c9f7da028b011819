// A session with a journal of its own. For a session without one, see plain-journal.ts.
import type { Journal } from "./journal.ts";

/** A session with a journal of its own. */
export interface Journaled {
  /** Records the runs of this session. */
  readonly journal: Journal;
}

/** The journal of a session; undefined if it has none. */
export function ownJournal(session: object): Journal | undefined {
  const { journal } = session as Partial<Journaled>;
  const isOne = typeof journal?.open === "function" && typeof journal.reopen === "function";
  return isOne ? journal : undefined;
}
