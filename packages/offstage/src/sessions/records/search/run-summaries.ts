// Summaries of runs for queries and exports: how they ended, what they cost, which instructions they had, and feedback on them.
import { isObject, parseJson } from "../../../base/json.ts";
import { type Message, textOf } from "../../../messages/message.ts";
import type { RunSummary } from "../../../query/run-summary.ts";
import { contentsOf } from "../../conversation/conversation.ts";
import type { SessionCells, StoreContext } from "../../head/session-cell.ts";
import type { RunRow, StepRow } from "../../ports/tables.ts";
import { type Annotation, annotationsIn } from "../annotations.ts";
import { inputsOf } from "../model-input.ts";
import { headsOf } from "../run-list.ts";
import { readInfo, withSteps } from "../run-reader.ts";

/** The summaries of these runs, in the same order. */
export async function summariesOf({ context }: SessionCells, runs: readonly RunRow[]): Promise<RunSummary[]> {
  const sessionIds = [...new Set(runs.map(({ session_id }) => session_id))];
  const heads = await headsOf(context.rows, runs);
  const feedback = Map.groupBy(await annotationsIn(context, sessionIds), ({ runId }) => runId);
  const stepsOf = new Map<string, StepRow[]>();
  const instructions = new Map<string, string>();
  for (const sessionId of sessionIds) {
    const steps = await context.rows.read("steps", { prefix: [sessionId] });
    for (const [runId, own] of Map.groupBy(steps, ({ run_id }) => run_id)) stepsOf.set(runId, own);
    for (const [runId, text] of await instructionsOf(context, sessionId, steps)) instructions.set(runId, text);
  }
  return runs.flatMap((run) => {
    const found = readInfo(context.rows, run, heads.get(run.session_id));
    if (found === undefined) return [];
    const known = withSteps(found, stepsOf.get(run.run_id) ?? []);
    const { notes: _, stepCount: steps, errorCount: __, traceId: ___, ...info } = known;
    const text = instructions.get(run.run_id);
    return {
      ...info,
      steps,
      ...(text !== undefined && { instructions: text }),
      ...feedbackOf(feedback.get(run.run_id)),
    };
  });
}

function feedbackOf(annotations: readonly Annotation[] | undefined): Pick<RunSummary, "annotations"> {
  if (annotations === undefined) return {};
  return { annotations: annotations.map(({ runId: _, sessionId: __, messageId: ___, ...feedback }) => feedback) };
}

// The system messages at the start of the first input of each run. They are contents, because they are stored nowhere else.
async function instructionsOf(
  context: StoreContext,
  sessionId: string,
  steps: readonly StepRow[],
): Promise<[string, string][]> {
  const inputs = await inputsOf(
    context,
    sessionId,
    steps.filter(({ step }) => step === 1),
  );
  const first = [...inputs].flatMap(([{ run_id }, { messages }]) => {
    const ref = messages?.[0];
    return ref?.startsWith("#") ? [{ runId: run_id, hash: ref.slice(1) }] : [];
  });
  const texts = await contentsOf(
    context,
    sessionId,
    first.map(({ hash }) => hash),
  );
  return first.flatMap(({ runId, hash }): [string, string][] => {
    const message = parseJson(texts.get(hash) ?? "");
    return isObject(message) && message.role === "system" ? [[runId, textOf(message as unknown as Message)]] : [];
  });
}
