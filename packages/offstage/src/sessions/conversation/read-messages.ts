// Turns message rows into messages, with the contents that they refer to, and cuts a history to whole turns. A row that cannot be read
// is reported and skipped.
import type { Message } from "../../messages/message.ts";
import type { SessionCell } from "../head/session-cell.ts";
import type { StoreContext } from "../head/store-context.ts";
import type { MessageRow } from "../ports/tables.ts";
import { corrupt, type Report } from "../rows/check-row.ts";
import { referencesIn } from "../rows/contents.ts";
import { readMessage } from "../rows/message-row.ts";

/** A message, and the row it was read from. */
export interface PlacedMessage {
  readonly row: MessageRow;
  readonly message: Message;
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
  const references = rows.flatMap(({ parts }) => referencesIn(parts));
  const contents = await contentsOf(cell.context, cell.id, references);
  return rows.flatMap((row) => {
    try {
      return [{ row, message: readMessage(row, { contents, withProviderParts }) }];
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
