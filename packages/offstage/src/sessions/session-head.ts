// The head of a session: its one small row with counts, lease and recent operations. Every change of a session is a change of it.
import { OffstageError } from "../errors.ts";
import { parseJson } from "../messages/json.ts";
import { isText, orZero, type Shape, tuple } from "./shape.ts";

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

type PackedLease = readonly [fence: number, runId: string, holder: string, seen: number];

/** A head as it is written: in this order, 0 for no lease. */
type PackedHead = readonly [
  id: string,
  created: number,
  active: number,
  listed: number,
  next: number,
  count: number,
  nextRun: number,
  runs: number,
  fence: number,
  operations: string,
  lease: PackedLease | 0,
];

/** The row of a head. */
export function formatHead(head: SessionHead): string {
  const { id, created, active, listed, next, count, nextRun, runs, fence, operations, lease } = head;
  const packed = lease === undefined ? 0 : [lease.fence, lease.runId, lease.holder, lease.seen];
  return JSON.stringify([id, created, active, listed, next, count, nextRun, runs, fence, operations, packed]);
}

/** The head a row holds; throws `store-corrupt`, naming the session, where it cannot be read. */
export function parseHead(text: string, session: string): SessionHead {
  const value = parseJson(text);
  if (isPackedHead(value)) return unpackHead(value);
  throw new OffstageError(
    "store-corrupt",
    `The head row of ${session} cannot be read: it is damaged, or encrypted (then open it with encryptedStore). Nothing was changed.`,
  );
}

const isInteger: Shape<number> = (value): value is number => Number.isSafeInteger(value);
// Epoch milliseconds that a date can have.
const isDate: Shape<number> = (value): value is number => isInteger(value) && Math.abs(value) <= 8.64e15;
const isPackedHead = tuple<PackedHead>(
  ...([isText, isDate, isInteger, isInteger, isInteger, isInteger, isInteger, isInteger, isInteger] as const),
  isText,
  orZero(tuple<PackedLease>(isInteger, isText, isText, isInteger)),
);

function unpackHead([
  id,
  created,
  active,
  listed,
  next,
  count,
  nextRun,
  runs,
  fence,
  operations,
  packed,
]: PackedHead): SessionHead {
  const head = { id, created, active, listed, next, count, nextRun, runs, fence, operations };
  if (packed === 0) return head;
  const [leaseFence, runId, holder, seen] = packed;
  return { ...head, lease: { fence: leaseFence, runId, holder, seen } };
}
