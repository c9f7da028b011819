// Run memory: the records of runs as plain objects, for sessions that live in memory. Not durable, and fast for it.
import { type AssistantMessage, type Message, type ToolMessage, toolCallsOf } from "../messages/message.ts";
import type { Mutable } from "../messages/mutable.ts";
import type { HeldSession, OpenStep, RunEnd, RunInfo, RunLog, RunRecord, RunStart, StepRecord } from "./journal.ts";

/** One run as it is remembered. */
export interface RememberedRun {
  info: RunInfo;
  readonly input: readonly Message[];
  readonly steps: StepRecord[];
  readonly children: RememberedRun[];
  open: { readonly step: number; readonly message: AssistantMessage; readonly results: ToolMessage[] } | undefined;
}

/** What the session does with a run. */
export interface RunMemoryOptions {
  readonly runs: Map<string, RememberedRun>;
  readonly history: readonly Message[];
  readonly recorded?: RunRecord;
  readonly held?: HeldSession;
  /** Called once, with what joins the conversation, when the run ends or is given up. */
  readonly onOver: (answer: readonly Message[]) => void;
}

export function rememberRun(start: Omit<RunStart, "historyLimit" | "onBusy">, sessionId: string): RememberedRun {
  const { runId, agent, parentRunId, parentToolCallId, traceId, startedAt, notes, input } = start;
  const info: Mutable<RunInfo> = { runId, agent, startedAt, sessionId, status: "running" };
  if (parentRunId !== undefined) info.parentRunId = parentRunId;
  if (parentToolCallId !== undefined) info.parentToolCallId = parentToolCallId;
  if (traceId !== undefined) info.traceId = traceId;
  if (notes !== undefined) info.notes = notes;
  return { info, input, steps: [], children: [], open: undefined };
}

// One promise for all: what is in memory is done at once.
const done = Promise.resolve();

/** The record of a run in memory. */
export function memoryRun(run: RememberedRun, options: RunMemoryOptions): RunLog {
  const { runs, history, recorded, held, onOver } = options;
  let isOver = false;
  const addStep = (record: StepRecord): void => {
    for (let i = 0; i < run.steps.length; i++) if (run.steps[i]?.step === record.step) return;
    run.steps.push(record);
    run.open = undefined;
  };
  const log: Mutable<RunLog> = {
    runId: run.info.runId,
    history,
    toolTraces: async (ids) => new Map(ids.map((id) => [id, toolTraceOf(runs.get(id))])),
    intend: (step, message) => {
      run.open ??= { step, message, results: [] };
      return done;
    },
    settle: (_, result) => {
      const results = run.open?.results;
      if (!results?.some((each) => each.tool_call_id === result.tool_call_id)) results?.push(result);
      return done;
    },
    step: (record) => {
      addStep(record);
      return done;
    },
    end: async (end) => {
      if (isOver) return;
      isOver = true;
      if (end.lastStep !== undefined) addStep(end.lastStep);
      run.info = endedInfo(run.info, end);
      onOver(end.answer);
    },
    child: async (start) => openChild(run, start, runs),
    abandon: async () => {
      if (isOver) return;
      isOver = true;
      markInterrupted(run);
      onOver([]);
    },
  };
  if (held !== undefined) log.held = held;
  if (recorded !== undefined) log.recorded = recorded;
  return log;
}

function openChild(
  parent: RememberedRun,
  start: Omit<RunStart, "historyLimit" | "onBusy">,
  runs: Map<string, RememberedRun>,
): RunLog {
  const known = runs.get(start.runId);
  const child = known ?? rememberRun({ ...start, parentRunId: parent.info.runId }, parent.info.sessionId);
  const recorded = known && recordOf(known);
  child.info = { ...child.info, status: "running" };
  if (known === undefined) {
    runs.set(start.runId, child);
    parent.children.push(child);
  }
  return memoryRun(child, { runs, history: [], onOver: () => {}, ...(recorded && { recorded }) });
}

function endedInfo(info: RunInfo, end: RunEnd): RunInfo {
  const { status, reason, usage, endedAt, error } = end;
  const ended: Mutable<RunInfo> = { ...info, status, reason, usage, endedAt };
  if (error !== undefined) ended.error = error;
  if (end.notes !== undefined) ended.notes = { ...info.notes, ...end.notes };
  return ended;
}

function markInterrupted(run: RememberedRun): void {
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

function openStepOf({ step, message, results }: NonNullable<RememberedRun["open"]>): OpenStep {
  const settled = new Set(results.map((result) => result.tool_call_id));
  return {
    step,
    message,
    results: [...results],
    pending: toolCallsOf(message).filter((call) => !settled.has(call.id)),
  };
}

/** What the steps of a run with calls produced. */
export function toolTraceOf(run: RememberedRun | undefined): readonly Message[] {
  return (run?.steps ?? []).flatMap(({ messages }) => (messages.some(({ role }) => role === "tool") ? messages : []));
}

/** The same with the step that was cut off or waits, as far as it went. */
export function wholeTraceOf(run: RememberedRun): readonly Message[] {
  const { open } = run;
  return open === undefined ? toolTraceOf(run) : [...toolTraceOf(run), open.message, ...open.results];
}
