// The head of a session: one small row with counts, lease and recent operations. Every change of a session changes its head.

import { parseJson } from "../base/json.ts";
import { OffstageError } from "../errors.ts";
import { isText, orZero, type Shape, tuple } from "./shape.ts";

/** The right to write runs on a session. */
export interface Lease {
  /** Increases with every holder, so that late writes of earlier holders are refused. */
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
  /** The position of the session in the list by activity; see activity.ts. */
  readonly listed: number;
  /** The position of the next message. Positions are never reused. */
  readonly next: number;
  readonly count: number;
  /** The number of the next run; subagents' runs are numbered too. */
  readonly nextRun: number;
  /** The number of runs, subagents' runs excluded. */
  readonly runs: number;
  readonly fence: number;
  /** The latest operation of each writer, newest last, to detect a write whose reply was lost. */
  readonly operations: string;
  readonly lease?: Lease | undefined;
}

/** The length of the writer's token at the start of an operation id. */
export const writerLength = 8;
// Enough for about fifteen writers. One operation per writer is enough because each requests one change at a time.
const operationsLength = 200;

export function newHead(id: string, created: number): SessionHead {
  return { id, created, active: 0, listed: 0, next: 0, count: 0, nextRun: 0, runs: 0, fence: 0, operations: "" };
}

/** Adds an operation to the head, in place of the previous one of the same writer. */
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

/** True if the operation is among the latest. */
export function hasOperation(head: SessionHead | undefined, operation: string): boolean {
  return head?.operations.endsWith(` ${operation}`) || head?.operations.includes(` ${operation} `) || false;
}

/**
 * True if every operation since `before` must still be in `now`: either none was ever dropped, or an older one is still there.
 * The oldest are dropped first. A full list stays full, because the operation ids of a writer never get shorter.
 */
export function remembersSince(now: SessionHead | undefined, before: SessionHead | undefined): boolean {
  if (now === undefined || now.operations.length < operationsLength) return true;
  return before?.operations.split(" ").some((operation) => operation !== "" && hasOperation(now, operation)) ?? false;
}

type PackedLease = readonly [fence: number, runId: string, holder: string, seen: number];

/** The stored form of a head; 0 means no lease. */
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

/** The row text of a head. */
export function formatHead(head: SessionHead): string {
  const { id, created, active, listed, next, count, nextRun, runs, fence, operations, lease } = head;
  const packed = lease === undefined ? 0 : [lease.fence, lease.runId, lease.holder, lease.seen];
  return JSON.stringify([id, created, active, listed, next, count, nextRun, runs, fence, operations, packed]);
}

/** Parses a row text; throws `store-corrupt`, naming the session, if it cannot be read. */
export function parseHead(text: string, session: string): SessionHead {
  const value = parseJson(text);
  if (isPackedHead(value)) return unpackHead(value);
  throw new OffstageError(
    "store-corrupt",
    `The head row of ${session} cannot be read: it is damaged, or encrypted (then open it with encryptedStore()). Nothing was changed.`,
  );
}

const isInteger: Shape<number> = (value): value is number => Number.isSafeInteger(value);
// The range of a Date.
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
