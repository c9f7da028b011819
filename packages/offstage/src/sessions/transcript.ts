// Exchanged: conversation and tool traces of a session as one list, in order of time. Computed, not stored.
import { type Message, toolCallsOf } from "../messages/message.ts";
import { type PlacedMessage, readLatest } from "./conversation.ts";
import { keyNumber } from "./row-keys.ts";
import { readWholeTrace } from "./run-parts.ts";
import { readRunRows } from "./run-reader.ts";
import type { RunRow } from "./run-rows.ts";
import type { SessionCell } from "./session-cell.ts";

/** The tool trace of a run, and what it belongs to. */
export interface TracedRun {
  readonly runId: string;
  readonly trace: readonly Message[];
  /** It was asked something; one that only went on with the conversation was not. */
  readonly hasInput: boolean;
  /** The index of the message behind which it stands, where its question is told by its place and not by its run. */
  readonly behind?: number | undefined;
}

/** Everything that was said and done in a session. */
export async function readTranscript(cell: SessionCell): Promise<Message[]> {
  const rows = (await readRunRows(cell)).filter(({ parentRunId }) => parentRunId === undefined);
  const traces = await Promise.all(rows.map((row) => readWholeTrace(cell, row)));
  const placed = await readLatest(cell);
  const unread = await unreadPositions(cell, placed);
  const places = new Map(placed.map(({ position }, index) => [position, index]));
  const runs = rows.map((row, index): TracedRun => {
    const { runId, input } = row;
    return {
      runId,
      trace: traces[index] ?? [],
      hasInput: input !== undefined,
      behind: placeOf(row, { placed, places, unread }),
    };
  });
  return weave(
    placed.map(({ message }) => message),
    runs,
  );
}

/**
 * Conversation and traces as one list. The trace of a run follows its question, and goes with it: what was removed is not there.
 * One that was asked nothing stands before its answer. What the conversation has of a trace stands where it is there.
 */
export function weave(conversation: readonly Message[], runs: readonly TracedRun[]): Message[] {
  const said = new Map(conversation.map((message, index) => [identityOf(message), index]));
  const questions = new Map<unknown, number>();
  const firsts = new Map<unknown, number>();
  for (const [index, { role, metadata }] of conversation.entries()) {
    if (role === "user") questions.set(metadata?.runId, index);
    if (!firsts.has(metadata?.runId)) firsts.set(metadata?.runId, index);
  }
  const behind = new Map<number, Message[]>();
  const put = (message: Message, place: number): void => {
    const there = behind.get(place);
    if (there === undefined) behind.set(place, [message]);
    else there.push(message);
  };
  for (const run of runs) {
    const unasked = run.hasInput ? run.behind : (firsts.get(run.runId) ?? conversation.length) - 1;
    let place = questions.get(run.runId) ?? unasked;
    if (place === undefined) continue;
    for (const message of run.trace) {
      const index = message.metadata?.id === undefined ? undefined : said.get(identityOf(message));
      if (index === undefined) put(message, place);
      else place = index;
    }
  }
  // Nothing was said, or nothing of it is left.
  if (conversation.length === 0 && runs.every((run) => run.behind === undefined)) return [];
  return [
    ...(behind.get(-1) ?? []),
    ...conversation.flatMap((message, index) => [message, ...(behind.get(index) ?? [])]),
  ];
}

// Rows that are there and cannot be read, which others were told of.
async function unreadPositions(cell: SessionCell, placed: readonly PlacedMessage[]): Promise<readonly number[]> {
  const { count = 0 } = (await cell.head()) ?? {};
  if (count <= placed.length) return [];
  const read = new Set(placed.map(({ position }) => position));
  const rows = await cell.context.driver.read(cell.lists.messages);
  return rows.map(({ key }) => keyNumber(key)).filter((position) => !read.has(position));
}

interface Read {
  readonly placed: readonly PlacedMessage[];
  /** Indexes by position. */
  readonly places: ReadonlyMap<number, number>;
  readonly unread: readonly number[];
}

// Where the question of a run stands; undefined where it was removed.
function placeOf({ input }: RunRow, { placed, places, unread }: Read): number | undefined {
  if (input === undefined) return undefined;
  const [first, last] = input;
  for (let position = last; position >= first; position--) if (places.has(position)) return places.get(position);
  const isUnread = unread.some((position) => position >= first && position <= last);
  return isUnread ? placed.findLastIndex(({ position }) => position < first) : undefined;
}

/** Whether a message of a run is not in its conversation as well, as everything is where a run recorded everything. */
export function notAmong(conversation: readonly Message[]): (message: Message) => boolean {
  const said = new Set(conversation.map(identityOf));
  return (message) => message.metadata?.id === undefined || !said.has(identityOf(message));
}

// Partial text has the id of the message whose text it is, and not its calls.
function identityOf(message: Message): string {
  return `${message.metadata?.id} ${toolCallsOf(message).length}`;
}
