// The transcript of a session: conversation and tool traces as one list, in chronological order. Computed, not stored.
import { type Message, toolCallsOf } from "../messages/message.ts";
import { type PlacedMessage, readLatest } from "./conversation.ts";
import { keyNumber } from "./row-keys.ts";
import { readWholeTrace } from "./run-parts.ts";
import { readRunRows } from "./run-reader.ts";
import type { RunRow } from "./run-rows.ts";
import type { SessionCell } from "./session-cell.ts";

/** The tool trace of a run, and its place in the conversation. */
export interface TracedRun {
  readonly runId: string;
  readonly trace: readonly Message[];
  /** False for a run that continued the conversation without new input. */
  readonly hasInput: boolean;
  /** The index of the message that the trace follows. Used if no user message carries the id of the run. */
  readonly behind?: number | undefined;
}

/** Everything that was said and done in a session, in chronological order. */
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
 * Merges conversation and traces. The trace of a run follows its question; if the question was removed, the trace is left out.
 * The trace of a run without input precedes its answer. A message that is in both keeps its place in the conversation.
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
  // The conversation was empty, or all of it was removed.
  if (conversation.length === 0 && runs.every((run) => run.behind === undefined)) return [];
  return [
    ...(behind.get(-1) ?? []),
    ...conversation.flatMap((message, index) => [message, ...(behind.get(index) ?? [])]),
  ];
}

// The positions of rows that cannot be read; they were reported before.
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

// The index of the question of a run; undefined if it was removed.
function placeOf({ input }: RunRow, { placed, places, unread }: Read): number | undefined {
  if (input === undefined) return undefined;
  const [first, last] = input;
  for (let position = last; position >= first; position--) if (places.has(position)) return places.get(position);
  const isUnread = unread.some((position) => position >= first && position <= last);
  return isUnread ? placed.findLastIndex(({ position }) => position < first) : undefined;
}

/** A predicate for messages of a run that are not in its conversation too. */
export function notAmong(conversation: readonly Message[]): (message: Message) => boolean {
  const said = new Set(conversation.map(identityOf));
  return (message) => message.metadata?.id === undefined || !said.has(identityOf(message));
}

// A message with partial text has the id of the original message, but no calls.
function identityOf(message: Message): string {
  return `${message.metadata?.id} ${toolCallsOf(message).length}`;
}
