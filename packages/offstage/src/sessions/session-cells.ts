// The sessions of a store that this process works with: one cell each, dropped when idle.

import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import { SessionCell } from "./session-cell.ts";
import type { StoreContext } from "./store-context.ts";

const mostIdle = 64;

/** The cells of a store. An id has one cell for as long as work on it is in progress. */
export interface SessionCells {
  readonly context: StoreContext;
  of(sessionId: string): SessionCell;
}

export function sessionCells(context: StoreContext): SessionCells {
  const cells = new Map<string, SessionCell>();
  return {
    context,
    of(sessionId) {
      checkSessionId(sessionId);
      const cell = cells.get(sessionId) ?? new SessionCell(context, sessionId);
      cells.delete(sessionId);
      cells.set(sessionId, cell);
      if (cells.size > mostIdle) forgetIdle(cells, cell);
      return cell;
    },
  };
}

// A map keeps insertion order, so the least recently used cells come first.
function forgetIdle(cells: Map<string, SessionCell>, current: SessionCell): void {
  for (const [id, cell] of cells) {
    if (cells.size <= mostIdle) return;
    if (cell.isIdle && cell !== current) cells.delete(id);
  }
}

/** Throws `invalid-argument` unless the id is non-empty text. */
export function checkSessionId(id: unknown): asserts id is string {
  if (typeof id !== "string" || id === "") throw noSessionId(id);
}

function noSessionId(id: unknown): OffstageError {
  const message = `A session id must be text of at least one character; found ${shownValue(id)}.`;
  return new OffstageError("invalid-argument", message);
}
