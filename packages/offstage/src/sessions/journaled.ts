// Journaled: how a session of ours gives its journal to the agent. A plain session has none; see plain-journal.ts.
import type { Journal } from "./journal.ts";

/** A session with a journal of its own. */
export interface Journaled {
  /** Where agents record the runs of this session. */
  readonly journal: Journal;
}

export function isJournaled(session: object): session is Journaled {
  const { journal } = session as Partial<Journaled>;
  return typeof journal === "object" && typeof journal.open === "function" && typeof journal.reopen === "function";
}
