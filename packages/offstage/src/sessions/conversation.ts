// The conversation of one stored session: reads and changes. Each change is one atomic write. Runs are in stored-journal.ts.
import type { Message } from "../messages/message.ts";
import { touched } from "./activity.ts";
import { checkLimit } from "./limit.ts";
import { corrupt, decodeMessage, encode } from "./message-rows.ts";
import { frozenCopy } from "./plain-json.ts";
import { keyNumber, numberKey } from "./row-keys.ts";
import type { Changing, SessionCell } from "./session-cell.ts";
import type { SessionHead } from "./session-head.ts";
import type { Report } from "./store-context.ts";
import type { Row, RowRange } from "./store-driver.ts";
import { emptyTail, tailOf } from "./tail.ts";
import { wholeTurns } from "./whole-turns.ts";

/** A message and its position. */
export interface PlacedMessage {
  readonly position: number;
  readonly message: Message;
}

/** The latest `limit` readable messages, oldest first; with `before`, of those before that position. */
export async function readLatest(cell: SessionCell, limit?: number, before?: number): Promise<PlacedMessage[]> {
  const end = before === undefined ? {} : { before: numberKey(before) };
  if (limit === 0) return [];
  const rows = await readRows(cell, { ...end, ...(limit === undefined ? {} : { limit, reverse: true }) });
  if (limit !== undefined) rows.reverse();
  const placed = readable(cell, rows);
  const missing = rows.length - placed.length;
  if (limit === undefined || missing === 0 || rows.length < limit) return placed;
  return [...(await readLatest(cell, missing, keyNumber(rows[0]?.key ?? ""))), ...placed];
}

/** The readable messages from one position to another, both included. */
export async function readBetween(
  cell: SessionCell,
  [from, to]: readonly [number, number],
  report?: Report,
): Promise<PlacedMessage[]> {
  if (to < from) return [];
  return readable(cell, await readRows(cell, { from: numberKey(from), before: numberKey(to + 1) }), report);
}

function readRows(cell: SessionCell, range: RowRange): Promise<Row[]> {
  return cell.context.driver.read(cell.lists.messages, range);
}

function readable(cell: SessionCell, rows: readonly Row[], report = cell.context.report): PlacedMessage[] {
  const place = `of session "${cell.id}" in ${cell.context.driver.name}`;
  return rows.flatMap((row) => {
    const position = keyNumber(row.key);
    const message = decodeMessage({ row, name: `message ${position} ${place}` }, report);
    return message === undefined ? [] : [{ position, message }];
  });
}

/** All messages, oldest first. Reports a conversation whose number of messages is not the one in its head. */
export async function readAll(cell: SessionCell): Promise<Message[]> {
  const [before, rows] = await Promise.all([cell.head(), readRows(cell, {})]);
  const messages = readable(cell, rows).map(({ message }) => message);
  const expected = before?.count ?? 0;
  if (rows.length !== expected && (await cell.head())?.active === before?.active) {
    const place = `session "${cell.id}" in ${cell.context.driver.name}`;
    cell.context.report(
      corrupt(`the conversation of ${place}`, `it has ${rows.length} messages instead of ${expected}`),
    );
  }
  return messages;
}

/** The history for a run under a head: whole turns, oldest first. */
export async function loadHistory(
  cell: SessionCell,
  head: SessionHead,
  limit: number | undefined,
): Promise<readonly Message[]> {
  if (head.count === 0) cell.keepTail(emptyTail);
  const { tail } = cell;
  return (tail && wholeTurns(tail.messages, limit, tail.isWhole)) ?? readHistory(cell, limit);
}

async function readHistory(cell: SessionCell, limit: number | undefined): Promise<readonly Message[]> {
  const { turns, read, isWhole } = await loadTurns(cell, limit);
  cell.keepTail(
    tailOf(
      read.map((message) => ({ message, text: JSON.stringify(message) })),
      isWhole,
    ),
  );
  return turns;
}

/** The history for a resumed run: the conversation before a position. */
export async function loadHistoryBefore(
  cell: SessionCell,
  position: number,
  limit: number | undefined,
): Promise<readonly Message[]> {
  return (await loadTurns(cell, limit, position)).turns;
}

interface LoadedTurns {
  readonly turns: readonly Message[];
  readonly read: readonly Message[];
  readonly isWhole: boolean;
}

async function loadTurns(cell: SessionCell, limit: number | undefined, before?: number): Promise<LoadedTurns> {
  for (let count = limit; ; count = count === undefined ? count : count * 2) {
    const read = (await readLatest(cell, count, before)).map(({ message }) => message);
    const isWhole = count === undefined || read.length < count;
    const turns = wholeTurns(read, limit, isWhole);
    if (turns !== undefined) return { turns, read, isWhole };
  }
}

/** Appends messages. */
export function appending(cell: SessionCell, messages: readonly Message[]): Changing<void> {
  const { redact } = cell.context;
  const appended = messages.map((given) => {
    const message = frozenCopy(redact === undefined ? given : redact(given));
    return { message, text: encode(message) };
  });
  return async (head) => {
    const counts = { next: head.next + appended.length, count: head.count + appended.length };
    return { result: undefined, appended, ...touched(cell, head, counts) };
  };
}

/** Replaces all messages. */
export function replacing(cell: SessionCell, messages: readonly Message[]): Changing<void> {
  const add = appending(cell, messages);
  return async (head) => {
    const change = await add({ ...head, count: 0 });
    return { ...change, writes: [{ list: cell.lists.messages }, ...change.writes], isRewrite: true };
  };
}

/** Removes the newest readable message. */
export function popping(cell: SessionCell): Changing<Message | undefined> {
  return removingFrom(
    cell,
    async () => readLatest(cell, 1),
    (placed) => placed.at(-1)?.message,
  );
}

/** Removes the newest turn: the last user message and everything after it. Removes nothing if there is no user message. */
export function poppingTurn(cell: SessionCell): Changing<Message[]> {
  return removingFrom(
    cell,
    () => newestTurn(cell),
    (placed) => placed.map(({ message }) => message),
  );
}

async function newestTurn(cell: SessionCell): Promise<PlacedMessage[]> {
  for (let count = 8; ; count *= 2) {
    const placed = await readLatest(cell, count);
    const start = placed.findLastIndex(({ message }) => message.role === "user");
    if (start >= 0) return placed.slice(start);
    if (placed.length < count) return [];
  }
}

function removingFrom<T>(
  cell: SessionCell,
  choose: () => Promise<PlacedMessage[]>,
  resultOf: (placed: readonly PlacedMessage[]) => T,
): Changing<T> {
  return async (head) => {
    const placed = await choose();
    if (placed.length === 0) return { result: resultOf(placed), writes: [] };
    const { head: next, writes } = touched(cell, head, { count: head.count - placed.length });
    const removed = placed.map(({ position }) => ({ list: cell.lists.messages, key: numberKey(position) }));
    return { result: resultOf(placed), head: next, writes: [...writes, ...removed], isRewrite: true };
  };
}

/** Removes every message. Positions are not reused. */
export function clearing(cell: SessionCell): Changing<void> {
  return async (head) => {
    if (head.count === 0) return { result: undefined, writes: [] };
    const { head: next, writes } = touched(cell, head, { count: 0 });
    return { result: undefined, head: next, writes: [...writes, { list: cell.lists.messages }], isRewrite: true };
  };
}

/** The latest `limit` messages; all if the limit is undefined. */
export async function readItems(cell: SessionCell, limit: number | undefined): Promise<Message[]> {
  const count = checkLimit(limit);
  if (count === undefined) return readAll(cell);
  await cell.context.driver.ready();
  return (await readLatest(cell, count)).map(({ message }) => message);
}
