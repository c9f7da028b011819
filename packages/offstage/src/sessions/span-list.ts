// The spans of a store, found by the run, the trace or the session they belong to.
import type { SpanData } from "../tracing/span-data.ts";
import { listRuns } from "./run-list.ts";
import { readRunRows } from "./run-reader.ts";
import type { SessionCells } from "./session-cells.ts";
import { readSpans } from "./span-rows.ts";

/** Whose spans: one of the three. */
export type SpanPlace = { readonly runId: string } | { readonly traceId: string } | { readonly sessionId: string };

/** The spans of a place, in order of their start. */
export async function findSpans(cells: SessionCells, place: SpanPlace): Promise<SpanData[]> {
  const spans = await spansOf(cells, place);
  return spans.sort((a, b) => a.startTime - b.startTime);
}

async function spansOf(cells: SessionCells, place: SpanPlace): Promise<SpanData[]> {
  const { context } = cells;
  if ("traceId" in place) return readSpans(context, place.traceId);
  if ("runId" in place) {
    const [row] = await readRunRows(context, [place.runId]);
    return row?.traceId === undefined ? [] : readSpans(context, row.traceId, place.runId);
  }
  const runs = await listRuns(cells, place);
  const traceIds = new Set(runs.flatMap(({ traceId }) => traceId ?? []));
  return (await Promise.all(Array.from(traceIds, (id) => readSpans(context, id)))).flat();
}
