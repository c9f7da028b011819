// The messages of persistent memories: a list by id, apart from sessions.
import { parseJson } from "../../base/json.ts";
import { type Message, parseMessage, textOf } from "../../messages/message.ts";
import { checkMessages } from "../conversation/conversation.ts";
import { checkId, type NamespaceRows } from "../head/namespace-rows.ts";
import type { StoreContext } from "../head/session-cell.ts";
import { SessionConflictError } from "../ports/session.ts";
import type { MemoryRow } from "../ports/tables.ts";
import { isoTime } from "../rows/run-row.ts";

/** The messages of one persistent memory. */
export interface MemoryRows {
  /** All messages, oldest first. */
  getItems(): Promise<Message[]>;
  /** Adds messages, all or none. */
  addItems(items: readonly Message[]): Promise<void>;
  /** Removes all messages. */
  clear(): Promise<void>;
}

const mostAttempts = 100;

export function memoryRows(context: StoreContext, id: string): MemoryRows {
  checkId(id, "memory id");
  const { rows: access } = context;
  return {
    getItems: async () => {
      const rows = await access.read("memories", { prefix: [id] });
      return rows.flatMap((row) => readMemory(access, row));
    },
    addItems: async (items) => {
      const messages = checkMessages(items).map((message) => context.redact?.(message) ?? message);
      if (messages.length > 0) await add(context, id, messages);
      else await access.ready();
    },
    clear: async () => {
      await access.commit({ label: "memory.clear", checks: [], writes: [{ table: "memories", remove: [id] }] });
    },
  };
}

// Processes add at the same time: the first one gets the next places, and the others try again behind it.
async function add({ rows: access }: StoreContext, id: string, messages: readonly Message[]): Promise<void> {
  const sending = { isRepeated: false };
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const [last] = await access.readRaw("memories", { prefix: [id], limit: 1, reverse: true });
    const first = Number(last?.seq ?? 0) + 1;
    const added = messages.map((message, index) => rowOf(message, access.namespace, id, first + index));
    const checks = added.map(({ seq }) => ({ table: "memories" as const, key: [id, seq] }));
    const writes = added.map((row) => ({ table: "memories" as const, row }));
    const { refused } = await access.commit({ label: "memory.add", checks, writes }, sending);
    if (refused === undefined) return;
    // The reply of the first attempt was lost, and the rows are there.
    const isThere = ({ message, created_at }: MemoryRow, index: number): boolean =>
      refused[index]?.message === message && refused[index]?.created_at === created_at;
    if (sending.isRepeated && added.every(isThere)) return;
    sending.isRepeated = false;
  }
  throw new SessionConflictError(
    `Memory "${id}" could not be changed because other writers kept changing it. Try again.`,
  );
}

function rowOf(message: Message, namespace: string, id: string, seq: number): MemoryRow {
  return {
    namespace,
    memory_id: id,
    seq,
    role: message.role,
    content: textOf(message),
    message: JSON.stringify(message),
    created_at: isoTime(message.metadata?.createdAt),
    exact: null,
  };
}

/** The message of a row; none if it cannot be read, which is reported. */
export function readMemory(rows: NamespaceRows, row: MemoryRow): Message[] {
  const message = rows.parse("memories", row, () => parseMessage(parseJson(row.message ?? "")));
  return message === undefined ? [] : [message];
}
