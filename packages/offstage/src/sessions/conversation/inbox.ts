// The inbox of a session: what users say while a run works. A run takes it in between two steps, or when it begins. A message is in the
// inbox or in the conversation, never in both and never in neither.
import { shownValue } from "../../base/options.ts";
import { poll } from "../../base/poll.ts";
import { OffstageError } from "../../errors.ts";
import { parseMessages } from "../../messages/codec.ts";
import { user } from "../../messages/makers.ts";
import { type Message, textOf, withMetadata } from "../../messages/message.ts";
import { checkNewContent } from "../../messages/new-content.ts";
import { liveRun } from "../head/hold.ts";
import type { Change, SessionCell } from "../head/session-cell.ts";
import type { Steering } from "../ports/journal.ts";
import type { PendingMessage } from "../ports/session.ts";
import type { Write } from "../ports/store-driver.ts";
import type { InboxRow, SessionRow } from "../ports/tables.ts";
import { frozenCopy } from "../rows/plain-json.ts";
import { isoTime } from "../rows/run-row.ts";
import { appendRows, messagesOf, touch } from "./conversation.ts";

export interface SayOptions {
  /** Says it only if a run works on the session. */
  readonly onlyIfBusy?: boolean | undefined;
}

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

/** Puts messages into the inbox, durably. Undefined if none was put, because no run works. */
export async function say(
  cell: SessionCell,
  messages: readonly Message[],
  { onlyIfBusy = false }: SayOptions = {},
): Promise<Steering | undefined> {
  const { redact } = cell.context;
  const id = crypto.randomUUID();
  const kept = messages.map((given) => {
    const message = withMetadata(given, { createdAt: isoTime(), ...given.metadata, sentId: id });
    return frozenCopy(redact === undefined ? message : redact(message));
  });
  const put = await cell.update("inbox.add", async (head): Promise<Change<Put | undefined>> => {
    const runId = liveRun(head);
    if (onlyIfBusy && runId === undefined) return { result: undefined };
    const rows = kept.map((message, index) => inboxRow(cell, message, head.next_seq + index));
    const next = {
      ...head,
      next_seq: head.next_seq + rows.length,
      inbox_count: head.inbox_count + rows.length,
    };
    const result = { runId, seqs: rows.map(({ seq }) => seq), position: head.next_position };
    return { result, head: next, writes: rows.map((row) => ({ table: "inbox", row })), isActive: true };
  });
  return put && sentMessage(cell, id, put);
}

interface Put {
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

function sentMessage(cell: SessionCell, id: string, put: Put): Steering {
  let joined: Promise<"run" | "next"> | undefined;
  const takenBy = () => takerOf(cell, id, put);
  return {
    runId: put.runId,
    // Polls only if it is read.
    get joined() {
      joined ??= whereJoined(cell, put, takenBy);
      return joined;
    },
    takenBy,
    withdraw: () => withdraw(cell, put),
  };
}

async function whereJoined(
  cell: SessionCell,
  { runId, seqs }: Put,
  takenBy: () => Promise<string | undefined>,
): Promise<"run" | "next"> {
  const [seq = 0] = seqs;
  if (runId === undefined) return "next";
  const readPlace = async (): Promise<"run" | "next" | undefined> => {
    const [head, row] = await Promise.all([cell.head(), cell.context.rows.get("inbox", [cell.id, seq])]);
    if (row === undefined) return (await takenBy()) === runId ? "run" : "next";
    return head === undefined || liveRun(head) !== runId ? "next" : undefined;
  };
  return poll(readPlace, { firstMs: 10, longestMs: 200 });
}

// The run that took the message: the conversation says so, or the record of a run that a guardrail kept from it.
async function takerOf(cell: SessionCell, id: string, { runId, seqs, position }: Put): Promise<string | undefined> {
  const { rows: access } = cell.context;
  const [seq = 0] = seqs;
  if ((await access.get("inbox", [cell.id, seq])) !== undefined) return undefined;
  const said = await access.read("messages", { order: "said", prefix: [cell.id], from: position });
  const found = (await messagesOf(cell, said)).find(({ message }) => message.metadata?.sentId === id);
  return found?.row.run_id ?? runId;
}

function withdraw(cell: SessionCell, { seqs }: Put): Promise<boolean> {
  return cell.update("inbox.withdraw", async (head) => {
    const rows = await cell.context.rows.getAll(
      "inbox",
      seqs.map((seq) => [cell.id, seq]),
    );
    if (rows.some((row) => row === undefined)) return { result: false };
    return { result: true, ...removal(cell, head, seqs) };
  });
}

function removal(cell: SessionCell, head: SessionRow, seqs: readonly number[]): { head: SessionRow; writes: Write[] } {
  return {
    head: { ...head, inbox_count: Math.max(0, head.inbox_count - seqs.length) },
    writes: seqs.map((seq) => ({ table: "inbox", remove: [cell.id, seq] })),
  };
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

/** The rows that move messages from the inbox to the conversation, and the head after them. */
export function joinRows(
  cell: SessionCell,
  head: SessionRow,
  { joining, place }: { readonly joining: readonly PendingMessage[]; readonly place: JoinPlace },
): { readonly head: SessionRow; readonly writes: Write[] } {
  const { runId, agent, step, isBlocked } = place;
  const added = joining.map(({ message }) => ({ message, run: { runId, agent, step }, isSaid: !isBlocked }));
  const removed = removal(
    cell,
    head,
    joining.map(({ seq }) => seq),
  );
  const appended = appendRows(cell, removed.head, added);
  const said = isBlocked ? [] : joining.map(({ message }) => message);
  return { head: touch(appended.head, said), writes: [...removed.writes, ...appended.writes] };
}
