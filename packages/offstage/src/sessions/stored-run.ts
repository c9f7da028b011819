// A stored run: the record of one run on a store while it happens. Every write is fenced by the session's lease.
import { OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import type { Mutable } from "../messages/mutable.ts";
import { touched } from "./activity.ts";
import type { NewRun, OpenStep, RunEnd, RunLog, RunRecord, StepRecord, Writing } from "./journal.ts";
import { checkHeld, holdLease } from "./lease.ts";
import { encodeWithSpans } from "./packed-span.ts";
import { deepFreeze } from "./plain-json.ts";
import { stepKeys } from "./row-keys.ts";
import { findRuns, readRun, readRunRow, readToolTrace } from "./run-reader.ts";
import {
  endedRow,
  indexRun,
  knownOf,
  putMessage,
  putRun,
  putStep,
  type RunPlace,
  type RunRow,
  runRow,
  type Written,
} from "./run-rows.ts";
import { type Change, type Changing, type SessionCell, storedMessages } from "./session-cell.ts";
import type { SessionHead } from "./session-head.ts";
import type { Write, WriteLabel } from "./store-driver.ts";

/** What a run has to begin with. */
export interface StoredRunOptions {
  readonly cell: SessionCell;
  readonly row: RunRow;
  readonly fence: number;
  readonly history: readonly Message[];
  readonly recorded?: RunRecord | undefined;
  /** Lets the next run of this process in. A run beneath another has none. */
  readonly leave?: () => void;
}

/** The record of a run that holds its session, or of one beneath it. */
export function storedRun(options: StoredRunOptions): RunLog {
  const { cell, row, fence, history, recorded, leave } = options;
  const { context } = cell;
  const finished = new Set(recorded?.steps.map(({ step }) => step));
  const open = recorded?.openStep === undefined ? new Map<Message, string>() : openRows(row, recorded.openStep);
  const keys = new Set(open.values());
  let isOver = false;
  let isEnded = false;
  let ending: Promise<void> | undefined;
  const hold = leave === undefined ? undefined : holdLease(cell, fence, leave);

  const write = (label: WriteLabel, writes: readonly Write[]): Writing => {
    if (isOver) return Promise.reject(overError(row.runId));
    return changing(cell, label, (head) => {
      checkHeld(cell, head, fence);
      return { result: undefined, writes };
    });
  };

  const record = (step: number, label: WriteLabel, recorded: { key: string; message: Message }): Writing => {
    if (finished.has(step) || keys.has(recorded.key)) return undefined;
    return after(write(label, [putMessage(cell, row, recorded)]), () => {
      keys.add(recorded.key);
      open.set(recorded.message, recorded.key);
    });
  };

  const finish = (end: RunEnd): Writing => {
    const lastStep = end.lastStep !== undefined && !finished.has(end.lastStep.step) ? end.lastStep : undefined;
    const plan = { ...options, end, lastStep, written: open };
    const change = (head: SessionHead) => (leave === undefined ? endChild(plan, head) : endRun(plan, head));
    return after(changing(cell, "run.end", change), () => {
      isOver = true;
      isEnded = true;
      hold?.stop();
    });
  };

  const log: Mutable<RunLog> = {
    runId: row.runId,
    history,

    async toolTraces(runIds) {
      const places = await findRuns(context, runIds);
      const traces = await Promise.all(places.map((place) => traceAt(cell, place)));
      return new Map(runIds.map((id, index) => [id, traces[index] ?? []]));
    },

    intend: (step, message) => record(step, "tool.intent", { key: stepKeys.intent(row.n, step), message }),

    settle: (step, result) => {
      return record(step, "tool.result", { key: stepKeys.result(row.n, step, result.tool_call_id), message: result });
    },

    step(record) {
      if (finished.has(record.step)) return undefined;
      return after(write("step.commit", putStep(cell, row, record, open)), () => {
        finished.add(record.step);
        open.clear();
        keys.clear();
      });
    },

    end(end) {
      if (isEnded || ending !== undefined) return ending;
      if (isOver) return Promise.reject(overError(row.runId));
      ending = finish(end)?.finally(() => {
        ending = undefined;
      });
      return ending;
    },

    child: (start) => openChild(options, start),

    async abandon() {
      if (isOver) return;
      isOver = true;
      await hold?.release();
    },
  };
  if (leave !== undefined) log.held = { place: leave, runId: row.runId };
  if (recorded !== undefined) log.recorded = recorded;
  return log;
}

function changing(cell: SessionCell, label: WriteLabel, change: Changing<undefined>): Writing {
  try {
    return cell.change(label, change);
  } catch (error) {
    return Promise.reject(error);
  }
}

// What is to happen once a write is done: now, where it is.
function after(writing: Writing, next: () => void): Writing {
  if (writing !== undefined) return writing.then(next);
  next();
  return undefined;
}

async function traceAt(cell: SessionCell, place: RunPlace | undefined): Promise<readonly Message[]> {
  if (place?.[0] !== cell.id) return [];
  const known = cell.traces.get(place[1]);
  if (known !== undefined) return known;
  const run = await readRunRow(cell, place[1]);
  if (run === undefined) return [];
  const trace = await readToolTrace(cell, run);
  if (run.status === "completed" || run.status === "stopped") keepTrace(cell, run.n, trace);
  return trace;
}

// What ended for good never changes. Only small ones are kept, and not many: the next turn asks for the same again.
function keepTrace({ traces }: SessionCell, n: number, trace: readonly Message[]): void {
  if (JSON.stringify(trace).length > 8_192) return;
  const [oldest] = traces.keys();
  if (traces.size >= 64 && oldest !== undefined) traces.delete(oldest);
  traces.set(n, deepFreeze(trace));
}

function overError(runId: string): OffstageError {
  return new OffstageError("session-conflict", `Run "${runId}" is over; nothing further is written.`);
}

// What is written of the step that is under way: its messages, and the keys of their rows.
function openRows({ n }: RunRow, { step, message, results }: OpenStep): Map<Message, string> {
  const rows = new Map<Message, string>([[message, stepKeys.intent(n, step)]]);
  for (const result of results) rows.set(result, stepKeys.result(n, step, result.tool_call_id));
  return rows;
}

interface Ending extends StoredRunOptions {
  readonly end: RunEnd;
  readonly lastStep: StepRecord | undefined;
  readonly written: Written;
}

// The answer joins the conversation, the run's row becomes final and the lease is given up: one write.
function endRun(ending: Ending, head: SessionHead): Change<undefined> {
  const { cell, fence, end } = ending;
  checkHeld(cell, head, fence);
  const appended = storedMessages(cell.context, end.answer);
  const said = end.answer.map((message, index) => [message, head.next + index] as const);
  const counts = { next: head.next + appended.length, count: head.count + appended.length, lease: undefined };
  const change = touched(cell, head, counts);
  change.writes.push(...endWrites({ ...ending, written: new Map([...ending.written, ...said]) }));
  return { result: undefined, appended, head: change.head, writes: change.writes };
}

function endChild(ending: Ending, head: SessionHead): Change<undefined> {
  checkHeld(ending.cell, head, ending.fence);
  return { result: undefined, writes: endWrites(ending) };
}

function endWrites({ cell, row, fence, end, lastStep, written }: Ending): Write[] {
  const ended = putRun(cell, endedRow(row, end));
  if (lastStep === undefined) {
    if (end.spans === undefined) return [ended];
    const key = stepKeys.spans(row.n, fence);
    return [
      ended,
      { list: cell.lists.steps, key, value: encodeWithSpans(end.spans, knownOf(cell, row), (packed) => packed) },
    ];
  }
  const record = end.spans === undefined ? lastStep : { ...lastStep, spans: [...(lastStep.spans ?? []), ...end.spans] };
  return [ended, ...putStep(cell, row, record, written)];
}

async function openChild(parent: StoredRunOptions, start: NewRun): Promise<RunLog> {
  const { cell, fence } = parent;
  const [place] = await findRuns(cell.context, [start.runId]);
  const known = place?.[0] === cell.id ? await readRunRow(cell, place[1]) : undefined;
  const recorded = known && (await readRun(cell, known));
  const row = await cell.update("run.child", (head) => {
    checkHeld(cell, head, fence);
    return known === undefined ? beginChild(parent, head, start) : againChild(cell, known);
  });
  return storedRun({ cell, row, fence, history: [], recorded });
}

function beginChild({ cell, row: parent }: StoredRunOptions, head: SessionHead, start: NewRun): Change<RunRow> {
  const n = head.nextRun;
  const rootRunId = parent.rootRunId ?? parent.runId;
  const place = { n, stamp: cell.context.stamp(), prompt: start.input, rootRunId };
  const row = runRow({ ...start, parentRunId: parent.runId }, place);
  const listed = { list: cell.lists.steps, key: stepKeys.child(parent.n, n), value: String(n) };
  return {
    result: row,
    head: { ...head, nextRun: n + 1 },
    writes: [putRun(cell, row), listed, ...indexRun(cell, row)],
  };
}

function againChild(cell: SessionCell, known: RunRow): Change<RunRow> {
  const row: RunRow = { ...known, status: "running" };
  return { result: row, writes: [putRun(cell, row)] };
}
