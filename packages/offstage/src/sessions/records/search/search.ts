// Searches the messages of all sessions, newest first: sessions by last activity, and within a session from its end. A back end
// that can search narrows the rows; the same filter as `query().filter` decides.
import { checkOptions, type OptionRule, oneOf, someText, yesOrNo } from "../../../base/options.ts";
import { OffstageError } from "../../../errors.ts";
import { type Message, toolCallsOf } from "../../../messages/message.ts";
import { filterMessages, type MessageCriteria } from "../../../query/filter.ts";
import { messagesOf } from "../../conversation/conversation.ts";
import { isStorable } from "../../head/namespace-rows.ts";
import type { SessionCell, SessionCells } from "../../head/session-cell.ts";
import type { RunInfo } from "../../ports/run-record.ts";
import type { Condition } from "../../ports/store-driver.ts";
import type { MessageRow, SessionRow } from "../../ports/tables.ts";
import { isOneOf, isWithin, listRules, someCursor, type Time } from "../lists.ts";
import { findRun, readInfo } from "../run-reader.ts";
import { headPages, type SessionInfo, sessionInfo } from "../session-list.ts";

export interface SearchOptions {
  /** Text found anywhere in the content, in any case. */
  readonly text?: string | undefined;
  /** A pattern that the content matches; or `true`, to read `text` as one, under a time limit. */
  readonly regex?: RegExp | boolean | undefined;
  readonly role?: string | readonly string[] | undefined;
  /** Calls of this tool, and their results. */
  readonly toolName?: string | undefined;
  readonly agent?: string | undefined;
  readonly isError?: boolean | undefined;
  /** Only messages of this session. */
  readonly session?: string | undefined;
  /** Made at this time or later. */
  readonly since?: Time | undefined;
  /** Made at this time or earlier. */
  readonly until?: Time | undefined;
  /** Only what was said, or only what was done. Default: both. */
  readonly stream?: "said" | "done" | undefined;
  /** The maximum number of messages. Default: all. */
  readonly limit?: number | undefined;
  /** The `cursor` of the last message of the previous page. */
  readonly before?: string | undefined;
}

/** A message that was found. */
export interface FoundMessage {
  readonly session: SessionInfo;
  readonly message: Message;
  /** The run that the message belongs to; undefined if it was added by `addItems`. */
  readonly run: RunInfo | undefined;
  readonly stream: "said" | "done";
  /** The start of the next page: `search({ before: cursor })`. */
  readonly cursor: string;
}

const searchRules: Readonly<Record<keyof SearchOptions, OptionRule>> = {
  text: { isFit: (value) => typeof value === "string", words: "text" },
  regex: {
    isFit: (value) => typeof value === "boolean" || value instanceof RegExp,
    words: "a RegExp, or true beside a text",
  },
  role: {
    isFit: (value) => [value].flat().every((each) => typeof each === "string"),
    words: "a role or a list of roles",
  },
  toolName: someText,
  agent: someText,
  isError: yesOrNo,
  session: someText,
  since: listRules.since,
  until: listRules.until,
  stream: oneOf("said", "done"),
  limit: listRules.limit,
  before: someCursor(/^\d+\.\d+\..+$/),
};

/** Finds messages. Options are checked before it returns. */
export function search(cells: SessionCells, options: SearchOptions = {}): AsyncIterable<FoundMessage> {
  checkOptions(options, searchRules, "search()");
  if (options.regex === true && options.text === undefined)
    throw new OffstageError("invalid-argument", 'search() needs the pattern as "text" if "regex" is true.');
  // Checks the pattern too.
  filterMessages([], [criteriaOf(options)]);
  return { [Symbol.asyncIterator]: () => found(cells, options) };
}

const sessionsPerPage = 200;

/** A place in the order of a search. It names its session, which may have become active again since. */
interface Cursor {
  readonly activity: number;
  readonly seq: number;
  readonly sessionId: string;
}

function parseCursor(text: string): Cursor {
  const [, activity, seq, sessionId = ""] = /^(\d+)\.(\d+)\.(.+)$/.exec(text) ?? [];
  return { activity: Number(activity), seq: Number(seq), sessionId: decodeURIComponent(sessionId) };
}

function formatCursor({ activity, seq, sessionId }: Cursor): string {
  return `${activity}.${seq}.${encodeURIComponent(sessionId)}`;
}

async function* found(cells: SessionCells, options: SearchOptions): AsyncGenerator<FoundMessage, void> {
  const { limit = Number.POSITIVE_INFINITY } = options;
  const cursor = options.before === undefined ? undefined : parseCursor(options.before);
  const runs = new Map<string, RunInfo | undefined>();
  let count = 0;
  if (limit === 0) return;
  for await (const page of pagesOf(cells, options, cursor)) {
    const rows = await candidates(cells, page, options);
    for (const head of page) {
      const own = rows.get(head.session_id) ?? [];
      const isBegun = head.session_id === cursor?.sessionId;
      // The page goes on where the session was when the search began.
      const activity = isBegun ? cursor.activity : head.activity;
      for (const row of isBegun ? own.filter(({ seq }) => seq < cursor.seq) : own) {
        const message = await matchRow(cells, row, options);
        if (message === undefined) continue;
        count++;
        const run = await runOf(cells, row, { runs, head });
        const stream = row.position === null ? "done" : "said";
        const next = formatCursor({ activity, seq: row.seq, sessionId: head.session_id });
        yield { session: sessionInfo(head), message, run, stream, cursor: next };
        if (count >= limit) return;
      }
    }
  }
}

// Sessions by last activity, in pages. A search without a limit takes one snapshot of the list.
async function* pagesOf(
  cells: SessionCells,
  { session, limit }: SearchOptions,
  cursor: Cursor | undefined,
): AsyncGenerator<SessionRow[], void> {
  const begun = session ?? cursor?.sessionId;
  const head = begun === undefined ? undefined : await cells.of(begun).head();
  if (head !== undefined) yield [head];
  if (session !== undefined) return;
  const part = { before: cursor && String(cursor.activity), limit: limit && sessionsPerPage };
  for await (const heads of headPages(cells, part))
    for (let start = 0; start < heads.length; start += sessionsPerPage)
      yield heads.slice(start, start + sessionsPerPage);
}

// The rows of these sessions that may match, newest first, by session.
async function candidates(
  cells: SessionCells,
  heads: readonly SessionRow[],
  options: SearchOptions,
): Promise<ReadonlyMap<string, MessageRow[]>> {
  const isOfThese = isOneOf(
    "session_id",
    heads.map(({ session_id }) => session_id),
  );
  const rows = await cells.context.rows.select({ table: "messages", where: [...isOfThese, ...conditionsOf(options)] });
  return Map.groupBy(
    rows.sort((a, b) => b.seq - a.seq),
    ({ session_id }) => session_id,
  );
}

function conditionsOf(options: SearchOptions): Condition[] {
  const { text, regex, role, agent, isError, stream, toolName } = options;
  const isText = text !== undefined && text !== "" && regex !== true && isStorable(text);
  return [
    ...(isText ? [{ column: "content", contains: text }] : []),
    ...isOneOf("role", role),
    ...isOneOf("agent", agent),
    ...isOneOf("is_error", isError),
    ...isOneOf("stream", stream),
    ...(toolName === undefined ? [] : isOneOf("role", ["assistant", "tool"])),
    ...isWithin("created_at", options),
  ];
}

function criteriaOf({ text, regex, role, toolName, isError }: SearchOptions): MessageCriteria {
  return { ...(text !== undefined && { content: text }), regex, role, toolName, isError };
}

// The message of a row that meets the conditions, if its content and its tool do too. The text is that of the row, which a back end can
// search.
async function matchRow(cells: SessionCells, row: MessageRow, options: SearchOptions): Promise<Message | undefined> {
  const cell = cells.of(row.session_id);
  const [placed] = await messagesOf(cell, [row]);
  if (placed === undefined) return undefined;
  const name = options.toolName === undefined ? undefined : await nameOfTool(cell, row);
  const read = { ...placed.message, content: row.content, ...(name !== undefined && { name }) } as Message;
  return filterMessages([read], [criteriaOf(options)]).length > 0 ? placed.message : undefined;
}

// A result that does not name its tool has the name of the call that it answers.
async function nameOfTool(
  cell: SessionCell,
  { role, tool_name, tool_call_id, seq }: MessageRow,
): Promise<string | undefined> {
  if (role !== "tool" || tool_name !== null) return undefined;
  const rows = await cell.context.rows.read("messages", { prefix: [cell.id], before: seq });
  const replies = await messagesOf(
    cell,
    rows.filter(({ tool_calls }) => tool_calls !== null),
  );
  const calls = replies.flatMap(({ message }) => toolCallsOf(message));
  return calls.findLast(({ id }) => id === tool_call_id)?.function.name;
}

interface RunSource {
  readonly runs: Map<string, RunInfo | undefined>;
  readonly head: SessionRow;
}

async function runOf(
  cells: SessionCells,
  { run_id }: MessageRow,
  { runs, head }: RunSource,
): Promise<RunInfo | undefined> {
  if (run_id === null) return undefined;
  if (!runs.has(run_id)) {
    const row = await findRun(cells.context, run_id);
    // The run of a message that a branch copied belongs to another session.
    const own = row === undefined || row.session_id === head.session_id ? head : await cells.of(row.session_id).head();
    runs.set(run_id, row && readInfo(cells.context.rows, row, own));
  }
  return runs.get(run_id);
}
