// The transcript of a session: everything that was said and done, subagents included, in the order in which it happened.
import type { Message } from "../../messages/message.ts";
import { messagesOf } from "../conversation/conversation.ts";
import type { SessionCells } from "../head/session-cell.ts";
import type { RunRow } from "../ports/tables.ts";
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
  const { rows: access } = cell.context;
  const [head, rows, runs] = await Promise.all([
    cell.head(),
    access.read("messages", { prefix: [sessionId] }),
    access.read("runs", { prefix: [sessionId] }),
  ]);
  const placed = await messagesOf(cell, rows);
  const questions = questionsOf(placed);
  const hasSaid = placed.some(({ row }) => row.position !== null);
  const isShown = (run: RunRow) => questions.has(run.run_id) || (run.input_count === 0 && hasSaid);
  const roots = new Map(runs.map((run) => [run.run_id, run.root_run_id ?? run.run_id]));
  const shown = new Set(runs.filter(isShown).map(({ run_id }) => run_id));
  const own = woven(
    placed.filter(({ row }) => row.position !== null || shown.has(roots.get(row.run_id ?? "") ?? "")),
    (runId) => questions.get(roots.get(runId) ?? runId),
  );
  const origin = head?.branched_from ?? undefined;
  const foreign = origin === undefined ? [] : [...questions.keys()].filter((runId) => !roots.has(runId));
  if (origin === undefined || foreign.length === 0) return { messages: own.map(({ message }) => message), runs };
  const behind = await originOf(cells, origin, { wanted: new Set(foreign), visited: new Set([sessionId]) });
  const messages = own.flatMap(({ row, message }) => {
    const isQuestion = row.position !== null && questions.get(row.run_id ?? "") === row.seq;
    return isQuestion ? [message, ...(behind.traces.get(row.run_id ?? "") ?? [])] : [message];
  });
  return { messages, runs: [...behind.runs, ...runs] };
}

// The last row of each run's question, by run.
function questionsOf(placed: readonly PlacedMessage[]): ReadonlyMap<string, number> {
  const asked = placed.filter(({ row }) => row.position !== null && row.role === "user" && row.run_id !== null);
  return new Map(asked.map(({ row }) => [row.run_id ?? "", row.seq]));
}

// Sorts by write order. After `replaceItems` a question may have been written after its trace; the trace then follows the
// question.
function woven(placed: readonly PlacedMessage[], questionOf: (runId: string) => number | undefined): PlacedMessage[] {
  const placeOf = ({ row }: PlacedMessage): number =>
    row.position === null ? Math.max(row.seq, questionOf(row.run_id ?? "") ?? 0) : row.seq;
  const said = new Set(placed.flatMap(({ row, identity }) => (row.position === null ? [] : (identity ?? []))));
  return placed
    .filter(({ row, identity }) => row.position !== null || !said.has(identity ?? ""))
    .map((each, index) => ({ each, index, place: placeOf(each) }))
    .sort(
      (a, b) =>
        a.place - b.place ||
        Number(a.each.row.position === null) - Number(b.each.row.position === null) ||
        a.index - b.index,
    )
    .map(({ each }) => each);
}

interface Origin {
  readonly traces: ReadonlyMap<string, readonly Message[]>;
  readonly runs: readonly RunRow[];
}

interface Tracing {
  readonly wanted: ReadonlySet<string>;
  /** Sessions that were read before: ids can be used again, so origins may form a circle. */
  readonly visited: ReadonlySet<string>;
}

// Reads the traces of these runs from the session that was branched, or from its own origin.
async function originOf(cells: SessionCells, sessionId: string, { wanted, visited }: Tracing): Promise<Origin> {
  if (visited.has(sessionId)) return { traces: new Map(), runs: [] };
  const cell = cells.of(sessionId);
  const { rows: access } = cell.context;
  const runs = (await access.read("runs", { prefix: [sessionId] })).filter((run) =>
    wanted.has(run.root_run_id ?? run.run_id),
  );
  const roots = new Map(runs.map((run) => [run.run_id, run.root_run_id ?? run.run_id]));
  const traces = new Map<string, Message[]>();
  if (runs.length > 0) {
    const rows = await access.read("messages", { prefix: [sessionId] });
    const done = rows.filter(({ position, run_id }) => position === null && roots.has(run_id ?? ""));
    for (const { row, message } of await messagesOf(cell, done)) {
      const root = roots.get(row.run_id ?? "") ?? "";
      traces.set(root, [...(traces.get(root) ?? []), message]);
    }
  }
  const missing = new Set([...wanted].filter((runId) => !roots.has(runId)));
  const next = missing.size === 0 ? undefined : (await cell.head())?.branched_from;
  if (next === undefined || next === null) return { traces, runs };
  const earlier = await originOf(cells, next, { wanted: missing, visited: new Set([...visited, sessionId]) });
  return { traces: new Map([...earlier.traces, ...traces]), runs: [...earlier.runs, ...runs] };
}
