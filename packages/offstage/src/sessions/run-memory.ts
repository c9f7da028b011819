// Records of runs as plain objects, for sessions in memory.

import type { Mutable } from "../base/mutable.ts";
import type { Message, ToolMessage } from "../messages/message.ts";
import type { NewRun, OpenStep, RunInfo, RunRecord, StepRecord } from "./journal.ts";
import { openStep } from "./open-step.ts";

/** A recorded run. */
export interface RememberedRun {
  info: RunInfo;
  readonly input: readonly Message[];
  readonly steps: StepRecord[];
  readonly children: RememberedRun[];
  open: RememberedStep | undefined;
}

/** An unfinished step. */
interface RememberedStep extends Pick<OpenStep, "step" | "message"> {
  readonly results: ToolMessage[];
  /** The ids of calls that wait for approval. */
  waiting: readonly string[] | undefined;
}

/** Creates the record of a run that begins. It keeps `input` as it is. */
export function rememberRun(
  start: NewRun,
  { input, sessionId }: Pick<RunRecord, "input" | "sessionId">,
): RememberedRun {
  const { runId, agent, parentRunId, parentToolCallId, traceId, startedAt, notes } = start;
  const info: Mutable<RunInfo> = { runId, agent, startedAt, sessionId, status: "running" };
  if (parentRunId !== undefined) info.parentRunId = parentRunId;
  if (parentToolCallId !== undefined) info.parentToolCallId = parentToolCallId;
  if (traceId !== undefined) info.traceId = traceId;
  if (notes !== undefined) info.notes = notes;
  return { info, input, steps: [], children: [], open: undefined };
}

/** Finds a run by id among these runs and their subagents' runs, newest first. */
export function findRun(runs: readonly RememberedRun[], runId: string): RememberedRun | undefined {
  for (let i = runs.length - 1; i >= 0; i--) {
    const run = runs[i] as RememberedRun;
    const found = run.info.runId === runId ? run : findRun(run.children, runId);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Adds a finished step. Idempotent. */
export function addStep(run: RememberedRun, record: StepRecord): void {
  if (run.steps.some(({ step }) => step === record.step)) return;
  run.steps.push(record);
  run.open = undefined;
}

/** Marks a run and its subagents' runs as interrupted. */
export function markInterrupted(run: RememberedRun): void {
  if (run.info.status === "running") run.info = { ...run.info, status: "interrupted" };
  for (const child of run.children) markInterrupted(child);
}

/** Everything recorded of a run. */
export function recordOf(run: RememberedRun): RunRecord {
  const { info, input, steps, children, open } = run;
  return {
    ...info,
    input,
    steps: [...steps],
    children: children.map((child) => child.info),
    ...(open === undefined ? undefined : { openStep: openStepOf(open) }),
  };
}

function openStepOf({ step, message, results, waiting = [] }: RememberedStep): OpenStep {
  return openStep({ step, message, results: [...results] }, waiting);
}

/** The messages of all steps with tool results. */
export function toolTraceOf(run: RememberedRun | undefined): readonly Message[] {
  return (run?.steps ?? []).flatMap(({ messages }) => (messages.some(({ role }) => role === "tool") ? messages : []));
}

/** The tool trace, including an unfinished step. */
export function wholeTraceOf(run: RememberedRun): readonly Message[] {
  const { open } = run;
  return open === undefined ? toolTraceOf(run) : [...toolTraceOf(run), open.message, ...open.results];
}
