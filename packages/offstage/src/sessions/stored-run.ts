// The log of one run on a store. Every write is fenced by the lease of the session.

import { OffstageError } from "../errors.ts";
import type { AssistantMessage, Message, ToolMessage } from "../messages/message.ts";
import { touched } from "./activity.ts";
import type { HeldSession, NewRun, OpenStep, RunEnd, RunLog, RunRecord, StepRecord } from "./journal.ts";
import { checkHeld, holdLease, type LeaseHold } from "./lease.ts";
import { encode } from "./message-rows.ts";
import { encodeWithSpans } from "./packed-span.ts";
import { deepFreeze } from "./plain-json.ts";
import { redactedEnd, redactedNotes, redactOnce } from "./redaction.ts";
import { stepKeys } from "./row-keys.ts";
import { endedRun, hasEnded, reopenedRun } from "./run-life.ts";
import { readToolTrace } from "./run-parts.ts";
import { findRuns, findToResume, readRunRow, readToResume } from "./run-reader.ts";
import {
  indexRun,
  keptSpans,
  knownOf,
  putMessage,
  putRun,
  putStep,
  type RunPlace,
  type RunRow,
  runRow,
  type Written,
} from "./run-rows.ts";
import { type Change, type SessionCell, storedMessages } from "./session-cell.ts";
import type { SessionHead } from "./session-head.ts";
import type { Write, WriteLabel } from "./store-driver.ts";

/** An open run. */
export interface StoredRunOptions {
  readonly cell: SessionCell;
  readonly row: RunRow;
  readonly fence: number;
  readonly history: readonly Message[];
  readonly recorded?: RunRecord | undefined;
  /** Admits the next run of this process. Undefined for a subagent's run. */
  readonly leave?: () => void;
}

/** A message of the current step, and the rows that are written with it. */
interface Recorded {
  readonly key: string;
  readonly message: Message;
  readonly waits: readonly Write[];
}

/** The log of a run that holds its session, or of a subagent's run inside it. */
export class StoredRun implements RunLog {
  readonly runId: string;
  readonly history: readonly Message[];
  readonly held: HeldSession | undefined;
  readonly recorded: RunRecord | undefined;
  readonly #options: StoredRunOptions;
  /** The last finished step that is written; 0 if none is. */
  #lastFinished: number;
  /** The written messages of the current step, with the keys of their rows. */
  readonly #open: Map<Message, string>;
  readonly #hold: LeaseHold | undefined;
  #isOver = false;
  #isEnded = false;
  #ending: Promise<void> | undefined;

  constructor(options: StoredRunOptions) {
    const { cell, row, history, recorded, leave } = options;
    this.runId = row.runId;
    this.history = history;
    this.held = leave && { place: leave, runId: row.runId };
    this.recorded = recorded;
    this.#options = options;
    this.#lastFinished = recorded?.steps.at(-1)?.step ?? 0;
    this.#open = recorded?.openStep === undefined ? new Map() : openRows(row, recorded.openStep);
    this.#hold = leave && holdLease(cell, options, leave);
  }

  async toolTraces(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly Message[]>> {
    const { cell } = this.#options;
    const places = await findRuns(cell.context, runIds);
    const traces = await Promise.all(places.map((place) => traceAt(cell, place)));
    return new Map(runIds.map((id, index) => [id, traces[index] ?? []]));
  }

  async intend(step: number, message: AssistantMessage, waiting: readonly string[] = []): Promise<void> {
    const key = stepKeys.intent(this.#options.row.n, step);
    const waits = waiting.map((id) => this.#waitingRow(step, id));
    await this.#record(step, "tool.intent", { key, message, waits });
  }

  async settle(step: number, message: ToolMessage): Promise<void> {
    const key = stepKeys.result(this.#options.row.n, step, message.tool_call_id);
    await this.#record(step, "tool.result", { key, message, waits: [] });
  }

  async wait(step: number, toolCallId: string): Promise<void> {
    await this.#write("tool.wait", [this.#waitingRow(step, toolCallId)]);
  }

  #waitingRow(step: number, toolCallId: string): Write {
    const { cell, row } = this.#options;
    const key = stepKeys.approval(row.n, step, toolCallId);
    return { list: cell.lists.steps, key, value: encode(toolCallId) };
  }

  async #record(step: number, label: WriteLabel, recorded: Recorded): Promise<void> {
    const { message, key, waits } = recorded;
    if (step <= this.#lastFinished || [...this.#open.values()].includes(key)) return;
    const { cell, row } = this.#options;
    await this.#write(label, [putMessage(cell, row, recorded), ...waits]);
    this.#open.set(message, key);
  }

  async step(record: StepRecord): Promise<void> {
    if (record.step <= this.#lastFinished) return;
    const { cell, row } = this.#options;
    this.#adopt(record);
    const kept = withKeptNotes(record, this.#options);
    await this.#write("step.commit", putStep(cell, row, kept, this.#open));
    this.#lastFinished = record.step;
    this.#open.clear();
  }

  // A run that was resumed by its state has its own copies of the messages that are already written.
  #adopt({ messages }: StepRecord): void {
    if (this.recorded?.openStep !== undefined) adoptCopies(this.#open, messages);
  }

  async #write(label: WriteLabel, writes: readonly Write[]): Promise<void> {
    const options = this.#options;
    const { cell } = options;
    if (this.#isOver) throw overError(this.runId);
    await cell.update(label, async (head) => {
      checkHeld(cell, head, options);
      return { result: undefined, writes };
    });
  }

  async end(end: RunEnd): Promise<void> {
    if (this.#isEnded) return;
    if (this.#isOver && this.#ending === undefined) throw overError(this.runId);
    this.#ending ??= this.#finish(end).finally(() => {
      this.#ending = undefined;
    });
    await this.#ending;
  }

  async #finish(end: RunEnd): Promise<void> {
    const { cell, row, fence, leave } = this.#options;
    const lastStep = end.lastStep !== undefined && end.lastStep.step > this.#lastFinished ? end.lastStep : undefined;
    if (lastStep !== undefined) this.#adopt(lastStep);
    const plan = {
      cell,
      row,
      fence,
      recorded: this.recorded,
      end: withKeptNotes(end, this.#options),
      lastStep: lastStep && withKeptNotes(lastStep, this.#options),
      written: this.#open,
    };
    const ending = leave === undefined ? endChild : endRun;
    await cell.update("run.end", async (head) => ending(plan, head));
    this.#isOver = true;
    this.#isEnded = true;
    this.#hold?.stop();
  }

  child(start: NewRun): Promise<RunLog> {
    return openChild(this.#options, start);
  }

  async abandon(): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    await this.#hold?.release();
  }
}

async function traceAt(cell: SessionCell, place: RunPlace | undefined): Promise<readonly Message[]> {
  if (place?.[0] !== cell.id) return [];
  const known = cell.traces.get(place[1]);
  if (known !== undefined) return known;
  const run = await readRunRow(cell, place[1]);
  if (run === undefined) return [];
  const trace = await readToolTrace(cell, run);
  if (hasEnded(run.status)) keepTrace(cell, run.n, trace);
  return trace;
}

// The trace of a finished run never changes, and the next turn asks for it again. Only a few small ones are cached.
function keepTrace({ traces }: SessionCell, n: number, trace: readonly Message[]): void {
  if (JSON.stringify(trace).length > 8_192) return;
  const [oldest] = traces.keys();
  if (traces.size >= 64 && oldest !== undefined) traces.delete(oldest);
  traces.set(n, deepFreeze(trace));
}

function overError(runId: string): OffstageError {
  return new OffstageError("session-conflict", `Run "${runId}" has ended; nothing was written.`);
}

function openRows({ n }: RunRow, { step, message, results }: OpenStep): Map<Message, string> {
  const rows = new Map<Message, string>([[message, stepKeys.intent(n, step)]]);
  for (const result of results) rows.set(result, stepKeys.result(n, step, result.tool_call_id));
  return rows;
}

// Redacts the notes of a step or an end.
function withKeptNotes<Part extends StepRecord | RunEnd>(part: Part, options: StoredRunOptions): Part {
  const { redact } = options.cell.context;
  if (redact === undefined || part.notes === undefined) return part;
  return { ...part, notes: redactedNotes(redact, part.notes, options) };
}

function adoptCopies(open: Map<Message, string>, messages: readonly Message[]): void {
  const written = Array.from(open);
  for (const message of messages) {
    const { id } = message.metadata ?? {};
    if (id === undefined || open.has(message)) continue;
    const [, key] = written.find(([{ metadata }]) => metadata?.id === id) ?? [];
    if (key !== undefined) open.set(message, key);
  }
}

async function openChild(parent: StoredRunOptions, start: NewRun): Promise<RunLog> {
  const { cell, fence } = parent;
  const known = await findToResume(cell, start.runId);
  const recorded = known && (await readToResume(cell, known));
  const row = await cell.update("run.child", async (head) => {
    checkHeld(cell, head, parent);
    return known === undefined ? beginChild(parent, head, start) : againChild(cell, known);
  });
  return new StoredRun({ cell, row, fence, history: [], recorded });
}

function beginChild({ cell, row: parent }: StoredRunOptions, head: SessionHead, start: NewRun): Change<RunRow> {
  const n = head.nextRun;
  const rootRunId = parent.rootRunId ?? parent.runId;
  const { redact } = cell.context;
  const prompt = redact === undefined ? start.input : start.input.map(redact);
  const place = { n, stamp: cell.context.stamp(), prompt, rootRunId };
  const row = runRow({ ...start, parentRunId: parent.runId }, place);
  const listed = { list: cell.lists.steps, key: stepKeys.child(parent.n, n), value: String(n) };
  return {
    result: row,
    head: { ...head, nextRun: n + 1 },
    writes: [putRun(cell, row), listed, ...indexRun(cell, row)],
  };
}

// A subagent's run that ended stays ended when its parent is resumed.
function againChild(cell: SessionCell, known: RunRow): Change<RunRow> {
  if (hasEnded(known.status)) return { result: known, writes: [] };
  const row = reopenedRun(known);
  return { result: row, writes: [putRun(cell, row)] };
}

/** The run that ends, how it ends, and which messages of its last step are already written. */
export interface Ending {
  readonly cell: SessionCell;
  readonly row: RunRow;
  readonly fence: number;
  readonly recorded?: RunRecord | undefined;
  readonly end: RunEnd;
  readonly lastStep: StepRecord | undefined;
  readonly written: Written;
}

/** One write: appends the answer to the conversation, makes the run row final, and releases the lease. */
export function endRun(ending: Ending, head: SessionHead): Change<void> {
  const { cell, end, recorded } = ending;
  checkHeld(cell, head, ending);
  const appended = storedMessages(redactOnce(cell.context.redact, recorded), end.answer);
  const written = new Map<Message, string | number>(ending.written);
  for (const [index, message] of end.answer.entries()) written.set(message, head.next + index);
  const counts = { next: head.next + appended.length, count: head.count + appended.length, lease: undefined };
  const change = touched(cell, head, counts);
  change.writes.push(endedRow(ending), ...lastWrites({ ...ending, written }));
  return { result: undefined, appended, head: change.head, writes: change.writes };
}

/** Makes the row of a subagent's run final, unless the run had already ended. */
export function endChild(ending: Ending, head: SessionHead): Change<void> {
  checkHeld(ending.cell, head, ending);
  const writes = lastWrites(ending);
  return { result: undefined, writes: hasEnded(ending.row.status) ? writes : [endedRow(ending), ...writes] };
}

function endedRow({ cell, row, end }: Ending): Write {
  const { redact } = cell.context;
  return putRun(cell, endedRun(row, redact === undefined ? end : redactedEnd(redact, end)));
}

// The rows written beside the run row: the last step, or spans that belong to no step.
function lastWrites({ cell, row, fence, end, lastStep, written }: Ending): Write[] {
  if (lastStep !== undefined) {
    const spans = end.spans === undefined ? undefined : { spans: [...(lastStep.spans ?? []), ...end.spans] };
    return putStep(cell, row, spans === undefined ? lastStep : { ...lastStep, ...spans }, written);
  }
  if (end.spans === undefined) return [];
  const value = encodeWithSpans(keptSpans(cell, end.spans), knownOf(cell, row), (packed) => packed);
  return [{ list: cell.lists.steps, key: stepKeys.spans(row.n, fence), value }];
}
