// Run memory: the records of runs as plain objects, for sessions that live in memory. Not durable, and fast for it.
import { type AssistantMessage, type Message, type ToolMessage, toolCallsOf } from "../messages/message.ts";
import type { Mutable } from "../messages/mutable.ts";
import type {
  HeldSession,
  OpenStep,
  RunEnd,
  RunInfo,
  RunLog,
  RunRecord,
  RunStart,
  StepRecord,
  Written,
} from "./journal.ts";

/** One run as it is remembered. */
export interface RememberedRun {
  info: RunInfo;
  readonly input: readonly Message[];
  readonly steps: StepRecord[];
  readonly children: RememberedRun[];
  open: { readonly step: number; readonly message: AssistantMessage; readonly results: ToolMessage[] } | undefined;
}

type ChildStart = Omit<RunStart, "historyLimit" | "onBusy">;

/** What the session does with a run. */
export interface MemoryLogOptions {
  readonly runs: Map<string, RememberedRun>;
  readonly history: readonly Message[];
  readonly recorded?: RunRecord | undefined;
  readonly held?: HeldSession | undefined;
  /** Stores what joins the conversation before the run ends, where `onOver` does not. Asked once. */
  readonly store?: (answer: readonly Message[]) => Promise<void>;
  /** Called once, with what joins the conversation, when the run ends or is given up. */
  readonly onOver: (answer: readonly Message[]) => void;
}

/** A run that begins now, with `input` as its own. */
export function rememberRun(start: ChildStart, input: readonly Message[], sessionId: string): RememberedRun {
  const { runId, agent, parentRunId, parentToolCallId, traceId, startedAt, notes } = start;
  const info: Mutable<RunInfo> = { runId, agent, startedAt, sessionId, status: "running" };
  if (parentRunId !== undefined) info.parentRunId = parentRunId;
  if (parentToolCallId !== undefined) info.parentToolCallId = parentToolCallId;
  if (traceId !== undefined) info.traceId = traceId;
  if (notes !== undefined) info.notes = notes;
  return { info, input, steps: [], children: [], open: undefined };
}

/** The record of a run in memory, where everything is done at once. */
export class MemoryLog implements RunLog {
  // Declared, not defined: each is set once, by the constructor.
  declare readonly runId: string;
  declare readonly history: readonly Message[];
  declare readonly held: HeldSession | undefined;
  declare readonly recorded: RunRecord | undefined;
  readonly #run: RememberedRun;
  readonly #options: MemoryLogOptions;
  #storing: Promise<void> | undefined;
  #isOver = false;

  constructor(run: RememberedRun, options: MemoryLogOptions) {
    this.runId = run.info.runId;
    this.history = options.history;
    this.held = options.held;
    this.recorded = options.recorded;
    this.#run = run;
    this.#options = options;
  }

  async toolTraces(ids: readonly string[]): Promise<ReadonlyMap<string, readonly Message[]>> {
    const { runs } = this.#options;
    return new Map(ids.map((id) => [id, toolTraceOf(runs.get(id))]));
  }

  intend(step: number, message: AssistantMessage): undefined {
    this.#run.open ??= { step, message, results: [] };
  }

  settle(_: number, result: ToolMessage): undefined {
    const results = this.#run.open?.results;
    if (!results?.some((each) => each.tool_call_id === result.tool_call_id)) results?.push(result);
  }

  step(record: StepRecord): undefined {
    addStep(this.#run, record);
  }

  end(end: RunEnd): Written {
    this.#storing ??= this.#options.store?.(end.answer);
    if (this.#storing !== undefined) return this.#storing.then(() => this.#finish(end));
    this.#finish(end);
    return undefined;
  }

  #finish(end: RunEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const run = this.#run;
    if (end.lastStep !== undefined) addStep(run, end.lastStep);
    run.info = endedInfo(run.info, end);
    this.#options.onOver(end.answer);
  }

  child(start: ChildStart): RunLog {
    return openChild(this.#run, start, this.#options.runs);
  }

  async abandon(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    markInterrupted(this.#run);
    this.#options.onOver([]);
  }
}

function addStep(run: RememberedRun, record: StepRecord): void {
  for (let i = 0; i < run.steps.length; i++) if (run.steps[i]?.step === record.step) return;
  run.steps.push(record);
  run.open = undefined;
}

function openChild(parent: RememberedRun, start: ChildStart, runs: Map<string, RememberedRun>): RunLog {
  const known = runs.get(start.runId);
  const child = known ?? rememberRun({ ...start, parentRunId: parent.info.runId }, start.input, parent.info.sessionId);
  const recorded = known && recordOf(known);
  child.info = { ...child.info, status: "running" };
  if (known === undefined) {
    runs.set(start.runId, child);
    parent.children.push(child);
  }
  return new MemoryLog(child, { runs, history: [], onOver: () => {}, recorded });
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
