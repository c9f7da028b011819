// The head of a session: its one small row with counts, lease and recent operations. Every change of a session is a change of it.
import { OffstageError } from "../errors.ts";
import { isObject, parseJson } from "../messages/json.ts";

/** Who may write runs on the session right now. */
export interface Lease {
  /** Grows with every holder, so that a late write of an earlier one is refused. */
  readonly fence: number;
  readonly runId: string;
  /** The process, as `holder.ts` writes it. */
  readonly holder: string;
  /** Epoch milliseconds of the last sign of life. */
  readonly seen: number;
}

export interface SessionHead {
  readonly id: string;
  /** Epoch milliseconds. */
  readonly created: number;
  /** Epoch microseconds of the last change of the conversation. */
  readonly active: number;
  /** The place of the session in the list by activity; see activity.ts. */
  readonly listed: number;
  /** The position of the next message; positions are never used twice. */
  readonly next: number;
  readonly count: number;
  /** The number of the next run, subagents' runs included. */
  readonly nextRun: number;
  /** Runs that were begun, subagents' runs not included. */
  readonly runs: number;
  readonly fence: number;
  /** The latest operations, one after another, so that one whose reply was lost is not repeated. */
  readonly operations: string;
  readonly lease?: Lease | undefined;
}

// Room for about a dozen.
const operationsLength = 200;
const numbers = ["created", "active", "listed", "next", "count", "nextRun", "runs", "fence"] as const;

export function newHead(id: string, created: number): SessionHead {
  return { id, created, active: 0, listed: 0, next: 0, count: 0, nextRun: 0, runs: 0, fence: 0, operations: "" };
}

/** The head with one more operation remembered. */
export function withOperation(head: SessionHead, operation: string): SessionHead {
  return { ...head, operations: `${head.operations} ${operation}`.slice(-operationsLength) };
}

/** True where the operation is among the latest. */
export function hasOperation(head: SessionHead | undefined, operation: string): boolean {
  return head?.operations.endsWith(` ${operation}`) || head?.operations.includes(` ${operation} `) || false;
}

/** The head a row holds; throws `store-corrupt` where it cannot be read. */
export function parseHead(text: string, place: string): SessionHead {
  const value = parseJson(text);
  const isHead =
    isObject(value) &&
    typeof value.id === "string" &&
    typeof value.operations === "string" &&
    numbers.every((name) => Number.isSafeInteger(value[name]));
  if (isHead) return value as unknown as SessionHead;
  throw new OffstageError(
    "store-corrupt",
    `The head row of a session in ${place} cannot be read; nothing was changed.`,
  );
}
