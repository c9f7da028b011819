// The log of a run in memory. Its record is in run-memory.ts.
import type { AssistantMessage, Message, ToolMessage } from "../messages/message.ts";
import type { HeldSession, NewRun, RunEnd, RunLog, RunRecord, StepRecord } from "./journal.ts";
import { endedRun, hasEnded, reopenedRun } from "./run-life.ts";
import {
  addStep,
  findRun,
  markInterrupted,
  type RememberedRun,
  recordOf,
  rememberRun,
  toolTraceOf,
} from "./run-memory.ts";

/** How a session takes part in a run. */
export interface MemoryLogOptions {
  /** The runs of the session, to read tool traces from. */
  readonly runs: readonly RememberedRun[];
  readonly history: readonly Message[];
  readonly recorded?: RunRecord | undefined;
  readonly held?: HeldSession | undefined;
  /** Stores the messages that join the conversation, before the run ends. Called once. */
  readonly store?: (answer: readonly Message[]) => Promise<void>;
  /** Called once, with the messages that join the conversation, when the run ends or is abandoned. */
  readonly onOver: (answer: readonly Message[]) => void;
}

/** The log of a run in memory. */
export class MemoryLog implements RunLog {
  readonly runId: string;
  readonly history: readonly Message[];
  readonly held: HeldSession | undefined;
  readonly recorded: RunRecord | undefined;
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
    return new Map(ids.map((id) => [id, toolTraceOf(findRun(runs, id))]));
  }

  async intend(step: number, message: AssistantMessage, waiting?: readonly string[]): Promise<void> {
    this.#run.open ??= { step, message, results: [], waiting };
  }

  async settle(_: number, result: ToolMessage): Promise<void> {
    const results = this.#run.open?.results;
    if (!results?.some((each) => each.tool_call_id === result.tool_call_id)) results?.push(result);
  }

  async wait(_: number, toolCallId: string): Promise<void> {
    const { open } = this.#run;
    if (open !== undefined) open.waiting = [...(open.waiting ?? []), toolCallId];
  }

  async step(record: StepRecord): Promise<void> {
    addStep(this.#run, record);
  }

  async end(end: RunEnd): Promise<void> {
    this.#storing ??= this.#options.store?.(end.answer);
    // Without a store the run ends within this call, so that `abandon` cannot come between.
    if (this.#storing !== undefined) await this.#storing;
    this.#finish(end);
  }

  #finish(end: RunEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const run = this.#run;
    if (end.lastStep !== undefined) addStep(run, end.lastStep);
    try {
      this.#options.onOver(end.answer);
      if (!hasEnded(run.info.status)) run.info = endedRun(run.info, end);
    } catch (error) {
      markInterrupted(run);
      throw error;
    }
  }

  async child(start: NewRun): Promise<RunLog> {
    return openChild(this.#run, start, this.#options.runs);
  }

  async abandon(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    markInterrupted(this.#run);
    this.#options.onOver([]);
  }
}

function openChild(parent: RememberedRun, start: NewRun, runs: readonly RememberedRun[]): RunLog {
  const known = findRun(parent.children, start.runId);
  const child =
    known ??
    rememberRun({ ...start, parentRunId: parent.info.runId }, { input: start.input, sessionId: parent.info.sessionId });
  const recorded = known && recordOf(known);
  // A subagent's run that ended stays ended when its parent is resumed.
  if (known !== undefined && !hasEnded(known.info.status)) known.info = reopenedRun(known.info);
  if (known === undefined) parent.children.push(child);
  return new MemoryLog(child, { runs, history: [], onOver: () => {}, recorded });
}
