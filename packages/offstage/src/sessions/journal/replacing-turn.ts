// A session whose next run replaces the newest turn.
import type { SessionPort } from "../ports/session.ts";
import type { Journaled } from "./plain-journal.ts";

/** The session, for one run: its input replaces the newest turn, as `replaces` of `RunStart` says. */
export function replacingTurn(session: SessionPort & Journaled, replaces: string): SessionPort & Journaled {
  const { sessionId, journal } = session;
  return {
    sessionId,
    getItems: (limit) => session.getItems(limit),
    addItems: (items) => session.addItems(items),
    popItem: () => session.popItem(),
    clearSession: () => session.clearSession(),
    getItemCount: () => session.getItemCount(),
    journal: { ...journal, open: (start) => journal.open({ ...start, replaces }) },
  };
}
