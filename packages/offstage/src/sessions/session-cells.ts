// The sessions of a store that this process works with: one cell each, forgotten when idle for long enough.

import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import { SessionCell } from "./session-cell.ts";
import type { StoreContext } from "./store-context.ts";

const mostIdle = 64;

/** The cells of a store. The same id gives the same cell while anything of it is under way. */
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

// A map keeps the order of insertion: the first idle ones are those unused the longest.
function forgetIdle(cells: Map<string, SessionCell>, current: SessionCell): void {
  for (const [id, cell] of cells) {
    if (cells.size <= mostIdle) return;
    if (cell.isIdle && cell !== current) cells.delete(id);
  }
}

/** Throws `invalid-argument` unless the id is text of at least one character. */
export function checkSessionId(id: unknown): asserts id is string {
  if (typeof id !== "string" || id === "") throw noSessionId(id);
}

function noSessionId(id: unknown): OffstageError {
  const message = `A session id must be text of at least one character; found ${shownValue(id)}.`;
  return new OffstageError("invalid-argument", message);
}
