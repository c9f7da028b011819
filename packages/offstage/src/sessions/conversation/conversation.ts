// The conversation of one stored session: reads and changes. Each change is one atomic write; a row that cannot be read is reported and
// skipped. Runs are in journal/.

import { parseMessages } from "../../messages/codec.ts";
import { type Message, textOf } from "../../messages/message.ts";
import {
  type Change,
  emptyTail,
  type MakeChange,
  type SessionCell,
  type StoreContext,
  tailOf,
} from "../head/session-cell.ts";
import { checkLimit } from "../ports/session.ts";
import type { Write } from "../ports/store-driver.ts";
import type { MessageRow, SessionRow } from "../ports/tables.ts";
import { corrupt, type Report } from "../rows/check-row.ts";
import { type Content, putContent, referencesOf } from "../rows/contents.ts";
import { type MessagePlace, type PlacedMessage, readMessages, storeMessage } from "../rows/message-row.ts";
import { frozenCopy, plainCopy } from "../rows/plain-json.ts";

/** Checks and copies the messages of a caller. */
export function checkMessages(items: readonly Message[]): Message[] {
  return parseMessages(items, { name: "items" }).map((message, index) => plainCopy(message, `items[${index}]`));
}

export interface ReadRowsOptions {
  readonly report?: Report | undefined;
  readonly withProviderParts?: boolean | undefined;
}

/** The messages of these rows of a session. */
export async function messagesOf(
  cell: SessionCell,
  rows: readonly MessageRow[],
  { report = cell.context.report, withProviderParts }: ReadRowsOptions = {},
): Promise<PlacedMessage[]> {
  const contents = await contentsOf(cell.context, cell.id, referencesOf(rows));
  return readMessages(rows, {
    contents,
    withProviderParts,
    onDamage: ({ seq, position }, cause) => {
      const place = position === null ? `row ${seq}` : `message ${position}`;
      report(corrupt(`${place} of ${cell.name}`, cause));
    },
  });
}

/** Contents of a session, by hash. Those that are missing are left out. */
export async function contentsOf(
  { rows }: Pick<StoreContext, "rows">,
  sessionId: string,
  hashes: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const keys = [...new Set(hashes)].map((hash) => [sessionId, hash]);
  const found = keys.length === 0 ? [] : await rows.getAll("contents", keys);
  return new Map(found.flatMap((row) => (typeof row?.content === "string" ? [[row.hash, row.content]] : [])));
}

/**
 * The latest `limit` messages, cut from the front to the next user message; the newest turn is always whole. `isWhole` means
 * that `messages` is the whole conversation. Returns undefined if earlier messages are needed.
 */
export function wholeTurns(
  messages: readonly Message[],
  limit: number | undefined,
  isWhole: boolean,
): readonly Message[] | undefined {
  if (limit === 0) return [];
  const isShort = limit === undefined || messages.length <= limit;
  if (isShort && isWhole) return messages;
  return limit === undefined || messages.length < limit ? undefined : latestTurns(messages, limit, isWhole);
}

function latestTurns(messages: readonly Message[], limit: number, isWhole: boolean): readonly Message[] | undefined {
  const start = Math.max(0, messages.length - limit);
  const first = firstUser(messages, start) ?? lastUserBefore(messages, start);
  if (first !== undefined) return messages.slice(first);
  return isWhole ? messages.slice(start) : undefined;
}

function firstUser(messages: readonly Message[], start: number): number | undefined {
  for (let i = start; i < messages.length; i++) if (messages[i]?.role === "user") return i;
  return undefined;
}

function lastUserBefore(messages: readonly Message[], start: number): number | undefined {
  for (let i = start - 1; i >= 0; i--) if (messages[i]?.role === "user") return i;
  return undefined;
}

/** The latest `limit` readable messages, oldest first; with `before`, of those before that position. */
export async function readLatest(cell: SessionCell, limit?: number, before?: number): Promise<PlacedMessage[]> {
  if (limit === 0) return [];
  const { rows: access } = cell.context;
  const raw = await access.readRaw("messages", { order: "said", prefix: [cell.id], before, limit, reverse: true });
  raw.reverse();
  const placed = await messagesOf(cell, access.openAll("messages", raw));
  const missing = raw.length - placed.length;
  if (limit === undefined || missing === 0 || raw.length < limit) return placed;
  return [...(await readLatest(cell, missing, Number(raw[0]?.position))), ...placed];
}

/** All messages, oldest first. Reports a conversation whose number of messages is not the one in its head. */
async function readAll(cell: SessionCell): Promise<Message[]> {
  const { rows: access, report } = cell.context;
  const before = await cell.head();
  const rows = await access.readRaw("messages", { order: "said", prefix: [cell.id] });
  const placed = await messagesOf(cell, access.openAll("messages", rows));
  const expected = before?.message_count ?? 0;
  if (rows.length !== expected && (await cell.head())?.activity === before?.activity)
    report(
      corrupt(`the conversation of ${cell.name}`, new Error(`it has ${rows.length} messages instead of ${expected}`)),
    );
  return placed.map(({ message }) => message);
}

/** The latest `limit` messages; all if the limit is undefined. */
export async function readItems(cell: SessionCell, limit: number | undefined): Promise<Message[]> {
  const count = checkLimit(limit);
  if (count === undefined) return readAll(cell);
  await cell.context.rows.ready();
  return (await readLatest(cell, count)).map(({ message }) => message);
}

/** Which part of the conversation a run loads: see `RunStart`. */
export interface HistoryOptions {
  readonly historyLimit: number | undefined;
  readonly historyAfter?: string | undefined;
}

/** The history for a run under a head: whole turns, oldest first. */
export async function loadHistory(
  cell: SessionCell,
  head: SessionRow,
  { historyLimit: limit, historyAfter }: HistoryOptions,
): Promise<readonly Message[]> {
  if (head.message_count === 0) cell.tail = emptyTail;
  const { tail } = cell;
  const known =
    tail &&
    (historyAfter === undefined
      ? wholeTurns(tail.messages, limit, tail.isWhole)
      : behind(tail.messages, historyAfter, tail.isWhole));
  if (known !== undefined) return known;
  const { turns, read, isWhole } = await loadTurns(cell, { historyLimit: limit, historyAfter });
  cell.tail = tailOf(read, isWhole);
  return turns;
}

/** The history for a resumed run: the conversation before a position. */
export async function loadHistoryBefore(
  cell: SessionCell,
  position: number,
  options: HistoryOptions,
): Promise<readonly Message[]> {
  return (await loadTurns(cell, options, position)).turns;
}

interface LoadedTurns {
  readonly turns: readonly Message[];
  readonly read: readonly Message[];
  readonly isWhole: boolean;
}

const firstPage = 64;

async function loadTurns(
  cell: SessionCell,
  { historyLimit, historyAfter }: HistoryOptions,
  before?: number,
): Promise<LoadedTurns> {
  const limit = historyAfter === undefined ? historyLimit : undefined;
  for (let count = historyAfter === undefined ? limit : firstPage; ; count = count === undefined ? count : count * 2) {
    const read = (await readLatest(cell, count, before)).map(({ message, row }) => {
      cell.refs.set(message, row);
      return message;
    });
    const isWhole = count === undefined || read.length < count;
    const turns = historyAfter === undefined ? wholeTurns(read, limit, isWhole) : behind(read, historyAfter, isWhole);
    if (turns !== undefined) return { turns, read, isWhole };
  }
}

// From the message with this id on, or all messages if it is not there. Undefined if earlier messages are needed to tell.
function behind(messages: readonly Message[], id: string, isWhole: boolean): readonly Message[] | undefined {
  const index = messages.findLastIndex(({ metadata }) => metadata?.id === id);
  if (index !== -1) return messages.slice(index);
  return isWhole ? messages : undefined;
}

/** A message that joins the conversation, and the run that wrote it. */
export interface NewMessage {
  readonly message: Message;
  /** The message before it was redacted and copied. */
  readonly given?: Message | undefined;
  readonly run?: MessagePlace["run"];
  readonly isSaid: boolean;
}

/** The rows of new messages under a head, and the head after them. Contents that the session has already are left out. */
export function appendRows(
  cell: SessionCell,
  head: SessionRow,
  added: readonly NewMessage[],
): { readonly head: SessionRow; readonly writes: Write[] } {
  const { namespace, id: sessionId } = cell;
  let { next_seq: seq, next_position: next } = head;
  const writes: Write[] = [];
  const contents = new Map<string, Content>();
  for (const { message, given = message, run, isSaid } of added) {
    const position = isSaid ? next++ : undefined;
    const stored = storeMessage(message, { namespace, sessionId, seq, position, run, hasher: cell.hasher });
    cell.refs.set(message, { seq, position }).set(given, { seq, position });
    seq++;
    writes.push(stored.put);
    for (const content of stored.contents) contents.set(content.hash, content);
  }
  for (const content of contents.values()) writes.push(...newContent(cell, content));
  const count = head.message_count + (next - head.next_position);
  return { head: { ...head, next_seq: seq, next_position: next, message_count: count }, writes };
}

/** The write of a content, unless the session is known to have it. */
export function newContent(cell: SessionCell, content: Content): Write[] {
  if (cell.contents.has(content.hash)) return [];
  return [putContent({ namespace: cell.namespace, sessionId: cell.id }, content)];
}

/** The head of a session whose conversation changes now. A first title comes from the first words of a user. */
export function touch(head: SessionRow, said: readonly Message[] = []): SessionRow {
  const title = head.title ?? titleOf(said);
  return { ...head, title, updated_at: new Date().toISOString() };
}

const longestTitle = 60;

function titleOf(messages: readonly Message[]): string | null {
  const first = messages.find((message) => message.role === "user" && textOf(message).trim() !== "");
  if (first === undefined) return null;
  const line = textOf(first).trim().replace(/\s+/g, " ");
  return line.length <= longestTitle
    ? line
    : `${Array.from(line)
        .slice(0, longestTitle)
        .join("")
        .replace(/\s\S*$/, "")}…`;
}

/** Appends the messages of a caller. */
export async function addItems(cell: SessionCell, items: readonly Message[]): Promise<void> {
  const messages = checkMessages(items);
  if (messages.length > 0) await cell.update("session.add", append(cell, messages));
  else await cell.context.rows.ready();
}

function append(cell: SessionCell, messages: readonly Message[]): MakeChange<void> {
  const { redact } = cell.context;
  const said = messages.map((given) => frozenCopy(redact === undefined ? given : redact(given)));
  return async (head) => {
    const added = said.map((message) => ({ message, isSaid: true }));
    const { head: next, writes } = appendRows(cell, head, added);
    return { result: undefined, writes, head: touch(next, said), isActive: true, appended: said };
  };
}

/** Replaces all messages. */
export async function replaceItems(cell: SessionCell, items: readonly Message[]): Promise<void> {
  const add = append(cell, checkMessages(items));
  await cell.update("session.replace", async (head) => {
    const removed = await removeAll(cell);
    const { writes = [], ...change } = await add({ ...head, message_count: 0 });
    return { ...change, writes: [...removed, ...writes], isRewrite: true };
  });
}

/** Removes every message. Positions are not reused. */
export async function clearItems(cell: SessionCell): Promise<void> {
  await cell.update("session.clear", async (head) => {
    if (head.message_count === 0) return { result: undefined };
    const writes = await removeAll(cell);
    return { result: undefined, writes, ...afterRemoval(head, head.message_count) };
  });
}

async function removeAll(cell: SessionCell): Promise<Write[]> {
  const { rows: access } = cell.context;
  const raw = await access.readRaw("messages", { order: "said", prefix: [cell.id] });
  return raw.map((row) => {
    const opened = access.open("messages", row, () => {});
    return opened === undefined ? { table: "messages", remove: [cell.id, Number(row.seq)] } : unsay(cell, opened);
  });
}

// Removes a message from the conversation. With `persist: "everything"` it may be part of a tool trace, and stays there.
function unsay(cell: SessionCell, row: MessageRow): Write {
  const isTrace = row.run_id !== null && row.step !== null && (row.role === "tool" || row.tool_calls !== null);
  if (isTrace) return { table: "messages", row: { ...row, stream: "done", position: null } };
  return { table: "messages", remove: [cell.id, row.seq] };
}

function afterRemoval(head: SessionRow, count: number): Pick<Change<unknown>, "head" | "isActive" | "isRewrite"> {
  return { head: { ...touch(head), message_count: head.message_count - count }, isActive: true, isRewrite: true };
}

/** Removes the newest readable message, and returns it. */
export async function popItem(cell: SessionCell): Promise<Message | undefined> {
  const [message] = await pop(cell, () => readLatest(cell, 1));
  return message;
}

/** Removes the newest turn: the last user message and everything after it. Removes nothing if there is no user message. */
export function popTurn(cell: SessionCell): Promise<Message[]> {
  return pop(cell, () => readTurn(cell));
}

async function readTurn(cell: SessionCell): Promise<PlacedMessage[]> {
  for (let count = 8; ; count *= 2) {
    const placed = await readLatest(cell, count);
    const start = placed.findLastIndex(({ message }) => message.role === "user");
    if (start >= 0) return placed.slice(start);
    if (placed.length < count) return [];
  }
}

/** The newest turn, to be removed. */
export interface RemovedTurn {
  /** The run that began it; undefined if no run did. */
  readonly runId: string | undefined;
  readonly head: SessionRow;
  readonly writes: readonly Write[];
  /** The conversation before it. */
  readonly history: readonly Message[];
}

/** The rows that remove the newest turn, and what is left for a run; undefined if there is none. */
export async function removeTurn(
  cell: SessionCell,
  head: SessionRow,
  options: HistoryOptions,
): Promise<RemovedTurn | undefined> {
  const turn = await readTurn(cell);
  const [first] = turn;
  if (first === undefined) return undefined;
  return {
    runId: first.row.run_id ?? undefined,
    head: { ...head, message_count: head.message_count - turn.length },
    writes: turn.map(({ row }) => unsay(cell, row)),
    history: await loadHistoryBefore(cell, Number(first.row.position), options),
  };
}

function pop(cell: SessionCell, choose: () => Promise<PlacedMessage[]>): Promise<Message[]> {
  return cell.update("session.pop", async (head) => {
    const placed = await choose();
    const result = placed.map(({ message }) => message);
    if (placed.length === 0) return { result };
    const writes = placed.map(({ row }) => unsay(cell, row));
    return { result, writes, ...afterRemoval(head, placed.length) };
  });
}
