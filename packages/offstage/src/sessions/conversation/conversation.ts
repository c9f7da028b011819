// The conversation of one stored session: reads and changes. Each change is one atomic write; a row that cannot be read is reported and
// skipped. Runs are in journal/.

import { frozenCopy } from "../../base/json.ts";
import { type Message, parseMessages, textOf } from "../../messages/message.ts";
import { corrupt, type Report } from "../head/namespace-rows.ts";
import { type Change, emptyTail, extendTail, type SessionCell, type StoreContext } from "../head/session-cell.ts";
import { checkLimit } from "../ports/session.ts";
import type { Write } from "../ports/store-driver.ts";
import type { MessageRow, SessionRow } from "../ports/tables.ts";
import {
  type Content,
  identityOf,
  type MessagePlace,
  type PlacedMessage,
  putContent,
  readMessage,
  referencesOf,
  storeMessage,
} from "../rows/message-row.ts";
import { plainCopy } from "../rows/plain-json.ts";

/** Checks and copies the messages of a caller. */
export function checkMessages(items: readonly Message[]): Message[] {
  return parseMessages(items, { name: "items" }).map((message, index) => plainCopy(message, `items[${index}]`));
}

export interface ReadRowsOptions {
  readonly report?: Report | undefined;
  readonly withProviderParts?: boolean | undefined;
}

/** The messages of these rows of a session. One that cannot be read is reported and left out. */
export async function messagesOf(
  cell: SessionCell,
  rows: readonly MessageRow[],
  { report = cell.context.report, withProviderParts }: ReadRowsOptions = {},
): Promise<PlacedMessage[]> {
  const contents = await contentsOf(cell.context, cell.id, referencesOf(rows));
  return rows.flatMap((row) => {
    try {
      const message = readMessage(row, { contents, withProviderParts });
      return [{ row, message, identity: identityOf(message) }];
    } catch (cause) {
      const place = row.position === null ? `row ${row.seq}` : `message ${row.position}`;
      report(corrupt(`${place} of ${cell.name}`, cause));
      return [];
    }
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
  if (isWhole && (limit === undefined || messages.length <= limit)) return messages;
  if (limit === undefined || messages.length < limit) return undefined;
  const start = messages.length - limit;
  const next = messages.findIndex(({ role }, index) => index >= start && role === "user");
  const first = next >= 0 ? next : messages.findLastIndex(({ role }) => role === "user");
  if (first >= 0) return messages.slice(first);
  return isWhole ? messages.slice(start) : undefined;
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

// The part of these latest messages that a run loads. Undefined if earlier messages are needed.
function historyIn(
  messages: readonly Message[],
  { historyLimit, historyAfter }: HistoryOptions,
  isWhole: boolean,
): readonly Message[] | undefined {
  if (historyAfter === undefined) return wholeTurns(messages, historyLimit, isWhole);
  const index = messages.findLastIndex(({ metadata }) => metadata?.id === historyAfter);
  if (index >= 0) return messages.slice(index);
  return isWhole ? messages : undefined;
}

/** The history for a run under the current head: whole turns, oldest first. */
export async function loadHistory(
  cell: SessionCell,
  { message_count }: SessionRow,
  options: HistoryOptions,
): Promise<readonly Message[]> {
  if (message_count === 0) cell.tail = emptyTail;
  const known = cell.tail && historyIn(cell.tail.messages, options, cell.tail.isWhole);
  if (known !== undefined) return known;
  const { history, read, isWhole } = await readHistory(cell, options);
  cell.tail = extendTail({ ...emptyTail, isWhole }, read);
  return history;
}

/** The history for a resumed run: the conversation before a position. */
export async function loadHistoryBefore(
  cell: SessionCell,
  position: number,
  options: HistoryOptions,
): Promise<readonly Message[]> {
  return (await readHistory(cell, options, position)).history;
}

interface ReadHistory {
  readonly history: readonly Message[];
  /** All messages that were read to find it. */
  readonly read: readonly Message[];
  readonly isWhole: boolean;
}

const firstPage = 64;

async function readHistory(cell: SessionCell, options: HistoryOptions, before?: number): Promise<ReadHistory> {
  let count = options.historyAfter === undefined ? options.historyLimit : firstPage;
  for (; ; count &&= count * 2) {
    const placed = await readLatest(cell, count, before);
    for (const { message, row } of placed) cell.refs.set(message, row);
    const read = placed.map(({ message }) => message);
    const isWhole = count === undefined || read.length < count;
    const history = historyIn(read, options, isWhole);
    if (history !== undefined) return { history, read, isWhole };
  }
}

/** A message to put, and the run that wrote it. */
export interface NewMessage {
  readonly message: Message;
  /** The message before it was redacted and copied. */
  readonly given?: Message | undefined;
  readonly run?: MessagePlace["run"];
  /** It joins the conversation. */
  readonly isSaid: boolean;
  /** The seq of its row, if it has one already. */
  readonly seq?: number | undefined;
}

/** Puts messages as rows, with the contents that the session does not have yet. */
export function putMessages(cell: SessionCell, change: Change, added: readonly NewMessage[]): void {
  const { namespace, id: sessionId, hasher } = cell;
  let { next_seq, next_position, message_count } = change.head;
  for (const { message, given = message, run, isSaid, seq = next_seq++ } of added) {
    const position = isSaid ? next_position++ : undefined;
    if (isSaid) message_count++;
    const stored = storeMessage(message, { namespace, sessionId, seq, position, run, hasher });
    cell.refs.set(message, { seq, position }).set(given, { seq, position });
    change.writes.push(stored.put);
    for (const content of stored.contents) putNewContent(cell, change, content);
  }
  change.head = { ...change.head, next_seq, next_position, message_count };
}

/** Puts a content, unless the session is known to have it. */
export function putNewContent(cell: SessionCell, { writes }: Pick<Change, "writes">, content: Content): void {
  const isPut = (write: Write) => write.table === "contents" && "row" in write && write.row.hash === content.hash;
  if (cell.contents.has(content.hash) || writes.some(isPut)) return;
  writes.push(putContent({ namespace: cell.namespace, sessionId: cell.id }, content));
}

/** Notes that the conversation changes now. A first title comes from the first words of a user. */
export function touch(change: Change, said: readonly Message[] = []): void {
  const { head } = change;
  change.head = { ...head, title: head.title ?? titleOf(said), updated_at: new Date().toISOString() };
  change.isActive = true;
}

const longestTitle = 60;

function titleOf(messages: readonly Message[]): string | null {
  const first = messages.find((message) => message.role === "user" && textOf(message).trim() !== "");
  if (first === undefined) return null;
  const line = textOf(first).trim().replace(/\s+/g, " ");
  if (line.length <= longestTitle) return line;
  const start = Array.from(line).slice(0, longestTitle).join("");
  return `${start.replace(/\s\S*$/, "")}…`;
}

/** The message as it is stored: redacted, and frozen because runs share it. */
export function storedForm({ context }: SessionCell, message: Message): Message {
  return frozenCopy(context.redact?.(message) ?? message);
}

/** Appends the messages of a caller. */
export async function addItems(cell: SessionCell, items: readonly Message[]): Promise<void> {
  const said = checkMessages(items).map((message) => storedForm(cell, message));
  if (said.length === 0) return cell.context.rows.ready();
  await cell.update("session.add", async (change) => {
    putSaid(cell, change, said);
    change.appended = said;
  });
}

/** Replaces all messages. */
export async function replaceItems(cell: SessionCell, items: readonly Message[]): Promise<void> {
  const said = checkMessages(items).map((message) => storedForm(cell, message));
  await cell.update("session.replace", async (change) => {
    await removeAll(cell, change);
    putSaid(cell, change, said);
  });
}

function putSaid(cell: SessionCell, change: Change, said: readonly Message[]): void {
  putMessages(
    cell,
    change,
    said.map((message) => ({ message, isSaid: true })),
  );
  touch(change, said);
}

/** Removes every message. Positions are not reused. */
export async function clearItems(cell: SessionCell): Promise<void> {
  await cell.update("session.clear", async (change) => {
    if (change.head.message_count === 0) return;
    await removeAll(cell, change);
    touch(change);
  });
}

async function removeAll(cell: SessionCell, change: Change): Promise<void> {
  const { rows: access } = cell.context;
  for (const row of await access.readRaw("messages", { order: "said", prefix: [cell.id] })) {
    const opened = access.reporting(() => {}).open("messages", row);
    if (opened !== undefined) unsay(cell, change, opened);
    else change.writes.push({ table: "messages", remove: [cell.id, Number(row.seq)] });
  }
  noteUnsaid(cell, change, 0);
  change.head = { ...change.head, message_count: 0 };
}

// Removes a message from the conversation. With `persist: "everything"` it may be part of a tool trace, and stays there.
function unsay(cell: SessionCell, { writes }: Change, row: MessageRow): void {
  const isTrace = row.run_id !== null && row.step !== null && (row.role === "tool" || row.tool_calls !== null);
  if (isTrace) writes.push({ table: "messages", row: { ...row, stream: "done", position: null } });
  else writes.push({ table: "messages", remove: [cell.id, row.seq] });
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

function pop(cell: SessionCell, read: () => Promise<PlacedMessage[]>): Promise<Message[]> {
  return cell.update("session.pop", async (change) => {
    const placed = await read();
    remove(cell, change, placed);
    if (placed.length > 0) touch(change);
    return placed.map(({ message }) => message);
  });
}

// The messages from this position on are removed once the change is stored.
function noteUnsaid(cell: SessionCell, { head, onStored }: Change, from: number): void {
  onStored.push(() => cell.unsay({ from, before: head.next_position }));
}

function remove(cell: SessionCell, change: Change, placed: readonly PlacedMessage[]): void {
  const [first] = placed;
  if (first === undefined) return;
  noteUnsaid(cell, change, Number(first.row.position));
  for (const { row } of placed) unsay(cell, change, row);
  change.head = { ...change.head, message_count: change.head.message_count - placed.length };
}

async function readTurn(cell: SessionCell): Promise<PlacedMessage[]> {
  for (let count = 8; ; count *= 2) {
    const placed = await readLatest(cell, count);
    const start = placed.findLastIndex(({ message }) => message.role === "user");
    if (start >= 0) return placed.slice(start);
    if (placed.length < count) return [];
  }
}

/** The newest turn, which was removed. */
export interface RemovedTurn {
  /** The run that began it; undefined if no run did, or if there was no turn. */
  readonly runId: string | undefined;
  /** The conversation before it. */
  readonly history: readonly Message[];
}

/** Removes the newest turn; undefined if there is none. */
export async function removeTurn(
  cell: SessionCell,
  change: Change,
  options: HistoryOptions,
): Promise<RemovedTurn | undefined> {
  const turn = await readTurn(cell);
  const [first] = turn;
  if (first === undefined) return undefined;
  remove(cell, change, turn);
  const history = await loadHistoryBefore(cell, Number(first.row.position), options);
  return { runId: first.row.run_id ?? undefined, history };
}
