// The head of a session: its one small row with counts, lease and recent operations. Every change of a session is a change of it.

import { parseJson } from "../base/json.ts";
import { OffstageError } from "../errors.ts";
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
  /** The latest operation of each writer, the newest last, so that one whose reply was lost is not repeated. */
  readonly operations: string;
  readonly lease?: Lease | undefined;
}

/** How many characters of an operation say whose it is. */
export const writerLength = 8;
// Room for some fifteen writers; few sessions are shared by more. Each asks for one change after another, so that its latest will do.
const operationsLength = 200;

export function newHead(id: string, created: number): SessionHead {
  return { id, created, active: 0, listed: 0, next: 0, count: 0, nextRun: 0, runs: 0, fence: 0, operations: "" };
}

/** The head with one more operation remembered, in the place of the one before of the same writer. */
export function withOperation(head: SessionHead, operation: string): SessionHead {
  const others = withoutWriter(head.operations, operation.slice(0, writerLength));
  return { ...head, operations: `${others} ${operation}`.slice(-operationsLength) };
}

function withoutWriter(operations: string, writer: string): string {
  const start = operations.indexOf(` ${writer}`);
  if (start < 0) return operations;
  const end = operations.indexOf(" ", start + 1);
  return end < 0 ? operations.slice(0, start) : operations.slice(0, start) + operations.slice(end);
}

/** True where the operation is among the latest. */
export function hasOperation(head: SessionHead | undefined, operation: string): boolean {
  return head?.operations.endsWith(` ${operation}`) || head?.operations.includes(` ${operation} `) || false;
}

/**
 * True where any operation since `before` would still be found in `now`: none was ever dropped, or one that is older is
 * still there. The oldest go first, and what is full stays full, for the operations of a writer never get shorter.
 */
export function remembersSince(now: SessionHead | undefined, before: SessionHead | undefined): boolean {
  if (now === undefined || now.operations.length < operationsLength) return true;
  return before?.operations.split(" ").some((operation) => operation !== "" && hasOperation(now, operation)) ?? false;
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
