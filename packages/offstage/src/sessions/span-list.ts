// Finds spans by run, trace or session.

import { checkOptions, someText } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { SpanData } from "../tracing/span-data.ts";
import { readRunSpans } from "./run-parts.ts";
import { findRun, readRunRow, readRunRows, runsInTrace } from "./run-reader.ts";
import type { RunPlace } from "./run-rows.ts";
import type { SessionCells } from "./session-cell.ts";
import { readLooseSpans } from "./span-rows.ts";

/** Selects spans by one of the three. */
export type SpanPlace = { readonly runId: string } | { readonly traceId: string } | { readonly sessionId: string };

/** The selected spans, ordered by start time. */
export async function findSpans(cells: SessionCells, place: SpanPlace): Promise<SpanData[]> {
  const spans = await spansOf(cells, place);
  // Spans of a subagent's run are stored with both runs.
  const byId = new Map(spans.map((span) => [`${span.traceId} ${span.spanId}`, span]));
  return [...byId.values()].sort((a, b) => a.startTime - b.startTime);
}

async function spansOf(cells: SessionCells, place: SpanPlace): Promise<SpanData[]> {
  checkOptions(place, placeRules, "spans.list()");
  const { runId, traceId, sessionId }: { [Name in keyof typeof placeRules]?: string } = place;
  if ([runId, traceId, sessionId].filter((id) => id !== undefined).length !== 1)
    throw new OffstageError("invalid-argument", "spans.list() needs one of { runId }, { traceId } and { sessionId }.");
  if (traceId !== undefined) return spansOfTrace(cells, traceId);
  if (runId !== undefined) return spansOfRuns(cells, [await findRun(cells.context, runId)]);
  return spansOfSession(cells, sessionId as string);
}

const placeRules = { runId: someText, traceId: someText, sessionId: someText } as const;

// A resumed run has spans in more than one trace.
async function spansOfSession(cells: SessionCells, sessionId: string): Promise<SpanData[]> {
  const cell = cells.of(sessionId);
  const runs = await readRunRows(cell);
  const ofRuns = (await Promise.all(runs.map((run) => readRunSpans(cell, run)))).flat();
  const traceIds = new Set([...runs, ...ofRuns].flatMap(({ traceId }) => traceId ?? []));
  const loose = await Promise.all(Array.from(traceIds, (id) => readLooseSpans(cells.context, id)));
  return [...ofRuns, ...loose.flat()];
}

async function spansOfTrace(cells: SessionCells, traceId: string): Promise<SpanData[]> {
  const places = await runsInTrace(cells.context, traceId);
  const [ofRuns, loose] = await Promise.all([spansOfRuns(cells, places), readLooseSpans(cells.context, traceId)]);
  return [...ofRuns.filter((span) => span.traceId === traceId), ...loose];
}

async function spansOfRuns(cells: SessionCells, places: readonly (RunPlace | undefined)[]): Promise<SpanData[]> {
  const spans = places.map(async (place) => {
    const cell = place && cells.of(place[0]);
    const run = cell && (await readRunRow(cell, place[1]));
    return cell && run ? readRunSpans(cell, run) : [];
  });
  return (await Promise.all(spans)).flat();
}
