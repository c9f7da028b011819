// A stored run: the record of one run on a store while it happens. Every write is fenced by the session's lease.
import { OffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import { touched } from "./activity.ts";
import { renewMs } from "./holder.ts";
import type { RunEnd, RunLog, RunRecord, RunStart, StepRecord } from "./journal.ts";
import { checkHeld } from "./lease.ts";
import { runKeys } from "./row-keys.ts";
import { readRun, readRunRows, readToolTrace } from "./run-reader.ts";
import { endedRow, putIntent, putRun, putStep, type RunRow, runRow } from "./run-rows.ts";
import { type Change, type SessionCell, textsOf } from "./session-cell.ts";
import { type SessionHead, withoutLease } from "./session-head.ts";
import { putSpans } from "./span-rows.ts";
import type { Write, WriteLabel } from "./store-driver.ts";

/** What a run has to begin with. */
export interface StoredRunOptions {
  readonly cell: SessionCell;
  readonly row: RunRow;
  readonly fence: number;
  readonly history: readonly Message[];
  readonly recorded?: RunRecord;
  /** Lets the next run of this process in. A run beneath another has none. */
  readonly leave?: () => void;
}

/** The record of a run that holds its session, or of one beneath it. */
export function storedRun(options: StoredRunOptions): RunLog {
  const { cell, row, fence, history, recorded, leave } = options;
  const { context } = cell;
  const list = context.lists.run(row.runId);
  const finished = new Set(recorded?.steps.map(({ step }) => step));
  const results = resultKeys(recorded);
  let isOver = false;
  let ending: Promise<void> | undefined;
  const hold = leave === undefined ? undefined : holdLease(cell, fence, leave);

  const write = (label: WriteLabel, writes: readonly Write[]): Promise<void> => {
    if (isOver) return Promise.reject(overError(row.runId));
    return cell.update(label, (head) => {
      checkHeld(cell, head, fence);
      return { result: undefined, writes };
    });
  };

  const finish = async (end: RunEnd): Promise<void> => {
    const lastStep = end.lastStep !== undefined && !finished.has(end.lastStep.step) ? end.lastStep : undefined;
    const plan = { ...options, end, lastStep, results };
    await cell.update("run.end", (head) => (leave === undefined ? endChild(plan, head) : endRun(plan, head)));
    isOver = true;
    hold?.stop();
  };

  return {
    runId: row.runId,
    history,
    ...(recorded === undefined ? undefined : { recorded }),

    async toolTraces(runIds) {
      const traces = await Promise.all(runIds.map((id) => readToolTrace(context, id)));
      return new Map(runIds.map((id, index) => [id, traces[index] ?? []]));
    },

    async intend(step, message) {
      if (!finished.has(step)) await write("tool.intent", [putIntent(context, row, step, message)]);
    },

    async settle(step, result) {
      const key = runKeys.result(step, result.tool_call_id);
      if (finished.has(step) || results.has(key)) return;
      const [value = ""] = textsOf(context, [result]);
      await write("tool.result", [{ list, key, value }]);
      results.add(key);
    },

    async step(record) {
      if (finished.has(record.step)) return;
      await write("step.commit", stepWrites(options, record, results));
      finished.add(record.step);
      results.clear();
    },

    end(end) {
      if (isOver && ending === undefined) return Promise.reject(overError(row.runId));
      ending ??= finish(end).catch((error) => {
        ending = undefined;
        throw error;
      });
      return ending;
    },

    child: (start) => openChild(options, start),

    async abandon() {
      if (isOver) return;
      isOver = true;
      await hold?.abandon();
    },
  };
}

function overError(runId: string): OffstageError {
  return new OffstageError("session-conflict", `Run "${runId}" is over; nothing further is written.`);
}

function resultKeys(recorded: RunRecord | undefined): Set<string> {
  const open = recorded?.openStep;
  return new Set(open?.results.map((result) => runKeys.result(open.step, result.tool_call_id)));
}

function stepWrites(
  { cell, row }: StoredRunOptions,
  record: StepRecord,
  results: ReadonlySet<string>,
  said?: ReadonlyMap<string, number>,
): Write[] {
  const { context } = cell;
  const list = context.lists.run(row.runId);
  return [
    ...putStep(context, row, record, said === undefined ? {} : { said }),
    ...putSpans(context, record.spans, row.runId),
    ...Array.from(results, (key) => ({ list, key })),
  ];
}

interface Ending extends StoredRunOptions {
  readonly end: RunEnd;
  readonly lastStep: StepRecord | undefined;
  readonly results: ReadonlySet<string>;
}

// The answer joins the conversation, the run's row becomes final and the lease is given up: one write.
function endRun(ending: Ending, head: SessionHead): Change<void> {
  const { cell, fence, end } = ending;
  checkHeld(cell, head, fence);
  const appended = textsOf(cell.context, end.answer);
  const said = new Map(appended.map((text, index) => [text, head.next + index]));
  const counts = { next: head.next + appended.length, count: head.count + appended.length };
  const change = touched(cell, withoutLease(head), counts);
  return { result: undefined, appended, head: change.head, writes: [...change.writes, ...endWrites(ending, said)] };
}

function endChild(ending: Ending, head: SessionHead): Change<void> {
  checkHeld(ending.cell, head, ending.fence);
  return { result: undefined, writes: endWrites(ending) };
}

function endWrites(ending: Ending, said?: ReadonlyMap<string, number>): Write[] {
  const { cell, row, end, lastStep, results } = ending;
  return [
    putRun(cell.context, endedRow(row, end)),
    ...(lastStep === undefined ? [] : stepWrites(ending, lastStep, results, said)),
    ...putSpans(cell.context, end.spans, row.runId),
  ];
}

async function openChild(parent: StoredRunOptions, start: Omit<RunStart, "historyLimit" | "onBusy">): Promise<RunLog> {
  const { cell, fence } = parent;
  const { context } = cell;
  const [known] = await readRunRows(context, [start.runId]);
  const rootRunId = parent.row.rootRunId ?? parent.row.runId;
  const fresh = runRow({ ...start, parentRunId: parent.row.runId }, cell.id, context.stamp());
  const row: RunRow = { ...(known ?? { ...fresh, rootRunId, prompt: start.input }), status: "running" };
  const recorded = known === undefined ? undefined : await readRun(cell, known);
  const childKey = { list: context.lists.run(parent.row.runId), key: runKeys.child(start.runId) };
  await cell.update("run.child", (head) => {
    checkHeld(cell, head, fence);
    return { result: undefined, writes: [putRun(context, row), { ...childKey, value: JSON.stringify(start.runId) }] };
  });
  return storedRun({ cell, row, fence, history: [], ...(recorded === undefined ? undefined : { recorded }) });
}

interface Hold {
  stop(): void;
  abandon(): Promise<void>;
}

// Signs of life while the run lasts, so that others know the session is not free.
function holdLease(cell: SessionCell, fence: number, leave: () => void): Hold {
  const renew = (): void => {
    cell.update("lease.renew", (head) => renewed(cell, head, fence)).catch(() => {});
  };
  const timer = setInterval(renew, renewMs).unref();
  const stop = (): void => {
    clearInterval(timer);
    cell.context.holds.delete(abandon);
    leave();
  };
  const abandon = async (): Promise<void> => {
    await cell.update("run.abandon", (head) => released(head, fence)).catch(() => {});
    stop();
  };
  cell.context.holds.add(abandon);
  return { stop, abandon };
}

function renewed(cell: SessionCell, head: SessionHead, fence: number): Change<void> {
  checkHeld(cell, head, fence);
  const { lease } = head;
  return { result: undefined, writes: [], ...(lease && { head: { ...head, lease: { ...lease, seen: Date.now() } } }) };
}

function released(head: SessionHead, fence: number): Change<void> {
  if (head.lease?.fence !== fence) return { result: undefined, writes: [] };
  return { result: undefined, writes: [], head: withoutLease(head) };
}
