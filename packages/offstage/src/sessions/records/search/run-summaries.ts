// Summaries of runs for queries and exports: how they ended, what they cost, which instructions they had, and feedback on them.
import { isObject, parseJson } from "../../../base/json.ts";
import { type Message, textOf } from "../../../messages/message.ts";
import type { RunSummary } from "../../../query/run-summary.ts";
import { contentsOf } from "../../conversation/conversation.ts";
import type { SessionCells } from "../../head/session-cell.ts";
import type { AnnotationRow, RunRow, StepRow } from "../../ports/tables.ts";
import { keptRef, parseInput } from "../../rows/contents.ts";
import { readAnnotations } from "../annotations.ts";
import { readInfo } from "../run-reader.ts";

/** The summaries of these runs, in the same order. */
export async function summariesOf(cells: SessionCells, runs: readonly RunRow[]): Promise<RunSummary[]> {
  const bySession = Map.groupBy(runs, ({ session_id }) => session_id);
  const summaries = new Map<string, RunSummary>();
  for (const [sessionId, own] of bySession)
    for (const summary of await summariesIn(cells, sessionId, own)) summaries.set(summary.runId, summary);
  return runs.flatMap(({ run_id }) => summaries.get(run_id) ?? []);
}

async function summariesIn(cells: SessionCells, sessionId: string, runs: readonly RunRow[]): Promise<RunSummary[]> {
  const { rows: access } = cells.context;
  const wanted = new Set(runs.map(({ run_id }) => run_id));
  const [[head], steps, annotations] = await Promise.all([
    access.getAll("sessions", [[sessionId]]),
    access.read("steps", { prefix: [sessionId] }),
    access.read("annotations", { prefix: [sessionId] }),
  ]);
  const own = steps.filter(({ run_id }) => wanted.has(run_id));
  const instructions = await instructionsOf(cells, sessionId, own);
  const feedback = Map.groupBy(annotations, ({ run_id }) => run_id);
  return runs.flatMap((run) => {
    const found = readInfo(cells.context.rows, run, head);
    if (found === undefined) return [];
    const { notes: _, stepCount, errorCount: __, traceId: ___, ...info } = found;
    const finished = own.filter(({ run_id, finish_reason }) => run_id === run.run_id && finish_reason !== null);
    const text = instructions.get(run.run_id);
    return {
      ...info,
      steps: Math.max(stepCount, finished.length),
      ...(text !== undefined && { instructions: text }),
      ...feedbackOf(cells, feedback.get(run.run_id)),
    };
  });
}

function feedbackOf(cells: SessionCells, rows: readonly AnnotationRow[] = []): Pick<RunSummary, "annotations"> {
  if (rows.length === 0) return {};
  const annotations = readAnnotations(cells.context, rows).map(({ label, value, note, by, createdAt }) => ({
    label,
    ...(value !== undefined && { value }),
    ...(note !== undefined && { note }),
    ...(by !== undefined && { by }),
    createdAt,
  }));
  return { annotations };
}

// The system messages at the start of the first input of each run. They are contents, because they are stored nowhere else.
async function instructionsOf(
  cells: SessionCells,
  sessionId: string,
  steps: readonly StepRow[],
): Promise<ReadonlyMap<string, string>> {
  const first = steps.filter(({ step }) => step === 1);
  const kept = first.flatMap(({ input_ref }) => keptRef(input_ref) ?? []);
  const long = await contentsOf(cells.context, sessionId, kept);
  const refs = new Map(
    first.flatMap(({ run_id, input_ref }) => {
      const text = long.get(keptRef(input_ref) ?? "") ?? input_ref;
      const [ref] = (text && parseInput(text)?.messages) || [];
      return ref?.startsWith("#") ? [[run_id, ref.slice(1)] as const] : [];
    }),
  );
  const texts = await contentsOf(cells.context, sessionId, [...refs.values()]);
  return new Map(
    [...refs].flatMap(([runId, hash]) => {
      const text = systemText(texts.get(hash));
      return text === undefined ? [] : [[runId, text] as const];
    }),
  );
}

function systemText(content: string | undefined): string | undefined {
  const message = content === undefined ? undefined : parseJson(content);
  return isObject(message) && message.role === "system" ? textOf(message as unknown as Message) : undefined;
}
