// The tool traces of finished runs, for `toolHistory`. Cached, because the next turn asks for them again.
import type { Message } from "../../messages/message.ts";
import type { SessionCell } from "../head/session-cell.ts";
import { deepFreeze } from "../rows/plain-json.ts";
import { readRun } from "./run-reader.ts";

const mostTraces = 64;
const mostCharacters = 8_192;

/** The messages of all steps with tool results that are not part of the conversation, by run id. */
export async function readToolTraces(
  cell: SessionCell,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, readonly Message[]>> {
  const traces = await Promise.all(runIds.map((runId) => traceOf(cell, runId)));
  return new Map(runIds.map((id, index) => [id, traces[index] ?? []]));
}

async function traceOf(cell: SessionCell, runId: string): Promise<readonly Message[]> {
  const known = cell.traces.get(runId);
  if (known !== undefined) return known;
  const [row] = await cell.context.rows.read("runs", { order: "id", prefix: [runId], limit: 1 });
  if (row?.session_id !== cell.id) return [];
  const { steps = [], status } = (await readRun(cell, row)) ?? {};
  const trace = steps.flatMap(({ messages }) => (messages.some(({ role }) => role === "tool") ? messages : []));
  if (status === "completed" || status === "stopped") keepTrace(cell, runId, trace);
  return trace;
}

// The trace of a finished run never changes. Only a few small ones are cached.
function keepTrace({ traces }: SessionCell, runId: string, trace: readonly Message[]): void {
  if (JSON.stringify(trace).length > mostCharacters) return;
  const [oldest] = traces.keys();
  if (traces.size >= mostTraces && oldest !== undefined) traces.delete(oldest);
  traces.set(runId, deepFreeze(trace));
}
