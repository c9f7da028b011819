// The inbox of a session: what users say while a run works. A run takes it in between two steps, or when it begins. A message is in the
// inbox or in the conversation, never in both and never in neither.
import { shownValue } from "../../base/options.ts";
import { poll } from "../../base/poll.ts";
import { OffstageError } from "../../errors.ts";
import { user } from "../../messages/makers.ts";
import { type Message, parseMessages, textOf, withMetadata } from "../../messages/message.ts";
import { checkNewContent } from "../../messages/new-content.ts";
import { liveRun } from "../head/hold.ts";
import type { Change, SessionCell } from "../head/session-cell.ts";
import type { Steering } from "../ports/journal.ts";
import type { PendingMessage } from "../ports/session.ts";
import type { InboxRow } from "../ports/tables.ts";
import { isoTime } from "../rows/run-row.ts";
import { messagesOf, putMessages, storedForm, touch } from "./conversation.ts";

/** Reads what a user says. Throws `invalid-argument` unless it is text or a user message. */
export function parseSaid(said: unknown): Message {
  if (typeof said === "string" && said.trim() !== "") return user(said);
  const [message] = typeof said === "object" && said !== null ? parseMessages([said], { name: "message" }) : [];
  if (message?.role === "user") {
    checkNewContent(message.content, "message.content");
    return message;
  }
  throw new OffstageError("invalid-argument", `say() needs text or a user message; found ${shownValue(said)}.`);
}

/** Puts messages into the inbox, durably. Undefined if none was put, because `onlyIfBusy` is true and no run works. */
export async function say(
  cell: SessionCell,
  messages: readonly Message[],
  onlyIfBusy = false,
): Promise<Steering | undefined> {
  const id = crypto.randomUUID();
  const kept = messages.map((given) =>
    storedForm(cell, withMetadata(given, { createdAt: isoTime(), ...given.metadata, sentId: id })),
  );
  return cell.update("inbox.add", async (change) => {
    const { head } = change;
    const runId = liveRun(head);
    if (onlyIfBusy && runId === undefined) return undefined;
    const rows = kept.map((message, index) => inboxRow(cell, message, head.next_seq + index));
    for (const row of rows) change.writes.push({ table: "inbox", row });
    const { length } = rows;
    change.head = { ...head, next_seq: head.next_seq + length, inbox_count: head.inbox_count + length };
    change.isActive = true;
    return sentMessage(cell, { id, runId, seqs: rows.map(({ seq }) => seq), position: head.next_position });
  });
}

/** Messages that were put into the inbox. */
interface Sent {
  readonly id: string;
  readonly runId: string | undefined;
  readonly seqs: readonly number[];
  /** The next place in the conversation when it was said. */
  readonly position: number;
}

function inboxRow({ namespace, id }: SessionCell, message: Message, seq: number): InboxRow {
  return {
    namespace,
    session_id: id,
    seq,
    content: textOf(message),
    message: JSON.stringify(message),
    created_at: isoTime(message.metadata?.createdAt),
    exact: null,
  };
}

function sentMessage(cell: SessionCell, sent: Sent): Steering {
  let joined: Promise<"run" | "next"> | undefined;
  return {
    runId: sent.runId,
    // Polls only if it is read.
    get joined() {
      joined ??= poll(() => whereJoined(cell, sent), { firstMs: 10, longestMs: 200 });
      return joined;
    },
    takenBy: () => takerOf(cell, sent),
    withdraw: () => withdraw(cell, sent),
  };
}

// Undefined while the message waits for the run that works.
async function whereJoined(cell: SessionCell, sent: Sent): Promise<"run" | "next" | undefined> {
  const { runId } = sent;
  if (runId === undefined) return "next";
  const [head, isWaiting] = await Promise.all([cell.head(), isInInbox(cell, sent)]);
  if (!isWaiting) return (await takerOf(cell, sent)) === runId ? "run" : "next";
  return head === undefined || liveRun(head) !== runId ? "next" : undefined;
}

// All messages that were said together are in the inbox, or none is.
async function isInInbox(cell: SessionCell, { seqs: [seq = 0] }: Sent): Promise<boolean> {
  return (await cell.context.rows.get("inbox", [cell.id, seq])) !== undefined;
}

// The run that took the message: the conversation says so, or the record of a run that a guardrail kept from it.
async function takerOf(cell: SessionCell, sent: Sent): Promise<string | undefined> {
  if (await isInInbox(cell, sent)) return undefined;
  const range = { order: "said", prefix: [cell.id], from: sent.position } as const;
  const said = await messagesOf(cell, await cell.context.rows.read("messages", range));
  const found = said.find(({ message }) => message.metadata?.sentId === sent.id);
  return found?.row.run_id ?? sent.runId;
}

function withdraw(cell: SessionCell, sent: Sent): Promise<boolean> {
  return cell.update("inbox.withdraw", async (change) => {
    const isWaiting = await isInInbox(cell, sent);
    if (isWaiting) removeFromInbox(cell, change, sent.seqs);
    return isWaiting;
  });
}

function removeFromInbox(cell: SessionCell, change: Change, seqs: readonly number[]): void {
  for (const seq of seqs) change.writes.push({ table: "inbox", remove: [cell.id, seq] });
  change.head = { ...change.head, inbox_count: Math.max(0, change.head.inbox_count - seqs.length) };
}

/** The messages in the inbox, oldest first. A row that cannot be read is reported and stays. */
export async function readInbox(cell: SessionCell): Promise<PendingMessage[]> {
  const { rows: access, report } = cell.context;
  const rows = await access.read("inbox", { prefix: [cell.id] });
  return rows.flatMap((row) => {
    try {
      const [message] = parseMessages([JSON.parse(row.message ?? "null")], { name: "inbox" });
      return message === undefined ? [] : [{ seq: row.seq, message }];
    } catch (error) {
      report(error as OffstageError);
      return [];
    }
  });
}

export interface JoinPlace {
  readonly runId: string;
  readonly agent: string;
  /** The step that they follow; undefined if they are part of the input of the run. */
  readonly step: number | undefined;
  /** A guardrail blocked them: they are recorded, and do not join the conversation. */
  readonly isBlocked: boolean;
}

/** Moves messages from the inbox to the conversation. */
export function joinMessages(
  cell: SessionCell,
  change: Change,
  joining: readonly PendingMessage[],
  { runId, agent, step, isBlocked }: JoinPlace,
): void {
  const run = { runId, agent, step };
  const messages = joining.map(({ message }) => message);
  removeFromInbox(
    cell,
    change,
    joining.map(({ seq }) => seq),
  );
  putMessages(
    cell,
    change,
    messages.map((message) => ({ message, run, isSaid: !isBlocked })),
  );
  touch(change, isBlocked ? [] : messages);
}
