// The transcript of a session: everything that was said and done, subagents included, in the order in which it happened.
import type { Message } from "../../messages/message.ts";
import { messagesOf } from "../conversation/conversation.ts";
import type { SessionCell, SessionCells } from "../head/session-cell.ts";
import type { MessageRow, RunRow, SessionRow } from "../ports/tables.ts";
import type { PlacedMessage } from "../rows/message-row.ts";

/** The messages of both streams of a session, and its runs. */
export interface Transcript {
  readonly messages: readonly Message[];
  readonly runs: readonly RunRow[];
}

/**
 * Reads the transcript. The trace of a run whose question was removed from the conversation is left out. A branch has the traces
 * of the runs that its first messages came from.
 */
export async function readTranscript(cells: SessionCells, sessionId: string): Promise<Transcript> {
  const cell = cells.of(sessionId);
  const { head, rows, runs, rootOf } = await readStreams(cell);
  const placed = await messagesOf(cell, rows);
  const questions = questionsOf(placed);
  const hasSaid = placed.some(({ row }) => row.position !== null);
  const isShown = (run: RunRow) => questions.has(run.run_id) || (run.input_count === 0 && hasSaid);
  const shown = new Set(runs.filter(isShown).map(({ run_id }) => run_id));
  const own = weave(
    placed.filter(({ row }) => row.position !== null || shown.has(rootOf(row) ?? "")),
    (row) => questions.get(rootOf(row) ?? row.run_id ?? ""),
  );
  const copied = [...questions.keys()].filter((runId) => rootOf({ run_id: runId }) === undefined);
  const origin = await readOrigin(cells, head, copied);
  const messages = own.flatMap(({ row, message }) => {
    const isQuestion = row.position !== null && questions.get(row.run_id ?? "") === row.seq;
    return isQuestion ? [message, ...(origin.traces.get(row.run_id ?? "") ?? [])] : [message];
  });
  return { messages, runs: [...origin.runs, ...runs] };
}

interface Streams {
  readonly head: SessionRow | undefined;
  readonly rows: readonly MessageRow[];
  readonly runs: readonly RunRow[];
  /** The outermost run that a row belongs to; undefined if it is none of this session. */
  rootOf(row: Pick<MessageRow, "run_id">): string | undefined;
}

async function readStreams(cell: SessionCell): Promise<Streams> {
  const { rows: access } = cell.context;
  const [head, rows, runs] = await Promise.all([
    cell.head(),
    access.read("messages", { prefix: [cell.id] }),
    access.read("runs", { prefix: [cell.id] }),
  ]);
  const roots = new Map(runs.map((run) => [run.run_id, run.root_run_id ?? run.run_id]));
  return { head, rows, runs, rootOf: ({ run_id }) => roots.get(run_id ?? "") };
}

// The last row of each run's question, by run.
function questionsOf(placed: readonly PlacedMessage[]): ReadonlyMap<string, number> {
  const asked = placed.filter(({ row }) => row.position !== null && row.role === "user" && row.run_id !== null);
  return new Map(asked.map(({ row }) => [row.run_id ?? "", row.seq]));
}

// Sorts by write order. After `replaceItems` a question may have been written after its trace; the trace then follows the
// question.
function weave(placed: readonly PlacedMessage[], questionOf: (row: MessageRow) => number | undefined): PlacedMessage[] {
  const placeOf = ({ row }: PlacedMessage): number =>
    row.position === null ? Math.max(row.seq, questionOf(row) ?? 0) : row.seq;
  const isDone = ({ row }: PlacedMessage): number => Number(row.position === null);
  const said = new Set(placed.flatMap(({ row, identity }) => (row.position === null ? [] : (identity ?? []))));
  return placed
    .filter(({ row, identity }) => row.position !== null || !said.has(identity ?? ""))
    .sort((a, b) => placeOf(a) - placeOf(b) || isDone(a) - isDone(b));
}

interface Origin {
  readonly traces: ReadonlyMap<string, readonly Message[]>;
  readonly runs: readonly RunRow[];
}

// The runs of questions that a branch copied, with their traces: from the session that was branched, or from the origin of that one.
async function readOrigin(
  cells: SessionCells,
  branch: SessionRow | undefined,
  runIds: readonly string[],
): Promise<Origin> {
  const traces = new Map<string, readonly Message[]>();
  const found: RunRow[] = [];
  // Ids can be used again, so origins may form a circle.
  const visited = new Set([branch?.session_id]);
  let missing = new Set(runIds);
  for (let id = branch?.branched_from ?? undefined; id !== undefined && missing.size > 0 && !visited.has(id); ) {
    visited.add(id);
    const cell = cells.of(id);
    const { head, rows, runs, rootOf } = await readStreams(cell);
    const isWanted = (row: Pick<MessageRow, "run_id">) => missing.has(rootOf(row) ?? "");
    const done = rows.filter((row) => row.position === null && isWanted(row));
    const byRoot = Map.groupBy(await messagesOf(cell, done), ({ row }) => rootOf(row) ?? "");
    for (const [root, trace] of byRoot)
      traces.set(
        root,
        trace.map(({ message }) => message),
      );
    found.unshift(...runs.filter(isWanted));
    missing = new Set([...missing].filter((runId) => rootOf({ run_id: runId }) === undefined));
    id = head?.branched_from ?? undefined;
  }
  return { traces, runs: found };
}
