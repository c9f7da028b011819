// The messages of persistent memories: a list by id, apart from sessions.
import { parseJson } from "../../base/json.ts";
import { parseMessage } from "../../messages/codec.ts";
import { type Message, textOf } from "../../messages/message.ts";
import { checkMessages } from "../conversation/conversation.ts";
import type { StoreContext } from "../head/session-cell.ts";
import { SessionConflictError } from "../ports/session.ts";
import type { MemoryRow } from "../ports/tables.ts";
import { checkId } from "../rows/check-row.ts";
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
      return rows.flatMap((row) => readMemory(context, row));
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
async function add(context: StoreContext, id: string, messages: readonly Message[]): Promise<void> {
  const { rows: access } = context;
  const sending = { isRepeated: false };
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    const [last] = await access.readRaw("memories", { prefix: [id], limit: 1, reverse: true });
    const first = Number(last?.seq ?? 0) + 1;
    const added = messages.map((message, index) =>
      rowOf(message, { namespace: access.namespace, id, seq: first + index }),
    );
    const checks = [{ table: "memories" as const, key: [id, first] }];
    const writes = added.map((row) => ({ table: "memories" as const, row }));
    const { refused } = await access.commit({ label: "memory.add", checks, writes }, sending);
    if (refused === undefined) return;
    // The reply of the first attempt was lost, and the rows are there.
    if (sending.isRepeated && (await isThere(context, id, added))) return;
    sending.isRepeated = false;
  }
  throw new SessionConflictError(
    `Memory "${id}" could not be changed because other writers kept changing it. Try again.`,
  );
}

async function isThere({ rows: access }: StoreContext, id: string, added: readonly MemoryRow[]): Promise<boolean> {
  const found = await access.getAll(
    "memories",
    added.map(({ seq }) => [id, seq]),
  );
  return added.every(
    (row, index) => found[index]?.message === row.message && found[index]?.created_at === row.created_at,
  );
}

interface Place {
  readonly namespace: string;
  readonly id: string;
  readonly seq: number;
}

function rowOf(message: Message, { namespace, id, seq }: Place): MemoryRow {
  const created_at = isoTime(message.metadata?.createdAt);
  const { role } = message;
  return {
    namespace,
    memory_id: id,
    seq,
    role,
    content: textOf(message),
    message: JSON.stringify(message),
    created_at,
    exact: null,
  };
}

/** The message of a row; none if it cannot be read, which is reported. */
export function readMemory({ rows, report }: Pick<StoreContext, "rows" | "report">, row: MemoryRow): Message[] {
  const message = rows.parse("memories", row, () => parseMessage(parseJson(row.message ?? "")), report);
  return message === undefined ? [] : [message];
}
