// journalOf: how a session of ours gives its journal to the agent. A plain session has none; see plain-journal.ts.
import type { Journal } from "./journal.ts";

/** The method, by symbol, through which a session offers a journal of its own. */
export const journalOf: unique symbol = Symbol.for("offstage.journal");

/** A session with a journal of its own. */
export interface Journaled {
  [journalOf](): Journal;
}

export function isJournaled(session: object): session is Journaled {
  return journalOf in session;
}
