// How the end of a stored run is written. The run until then is stored-run.ts.
import type { Message } from "../messages/message.ts";
import { touched } from "./activity.ts";
import type { RunEnd, RunRecord, StepRecord } from "./journal.ts";
import { checkHeld } from "./lease.ts";
import { encodeWithSpans } from "./packed-span.ts";
import { redactedEnd, redactOnce } from "./redaction.ts";
import { stepKeys } from "./row-keys.ts";
import { endedRun, hasEnded } from "./run-life.ts";
import { keptSpans, knownOf, putRun, putStep, type RunRow, type Written } from "./run-rows.ts";
import { type Change, type SessionCell, storedMessages } from "./session-cell.ts";
import type { SessionHead } from "./session-head.ts";
import type { Write } from "./store-driver.ts";

/** What ends: the run, how, and what of its last step is written already. */
export interface Ending {
  readonly cell: SessionCell;
  readonly row: RunRow;
  readonly fence: number;
  readonly recorded?: RunRecord | undefined;
  readonly end: RunEnd;
  readonly lastStep: StepRecord | undefined;
  readonly written: Written;
}

/** The answer joins the conversation, the run's row becomes final and the lease is given up: one write. */
export function endRun(ending: Ending, head: SessionHead): Change<undefined> {
  const { cell, end, recorded } = ending;
  checkHeld(cell, head, ending);
  const appended = storedMessages(redactOnce(cell.context.redact, recorded), end.answer, end);
  // Mostly empty by then: to go through an empty map takes longer than to make one.
  const written = new Map<Message, string | number>(ending.written.size === 0 ? undefined : ending.written);
  for (let i = 0; i < end.answer.length; i++) written.set(end.answer[i] as Message, head.next + i);
  const counts = { next: head.next + appended.length, count: head.count + appended.length, lease: undefined };
  const change = touched(cell, head, counts);
  change.writes.push(...endWrites({ ...ending, written }));
  return { result: undefined, appended, head: change.head, writes: change.writes };
}

/** The end of a run beneath another: its row becomes final, unless it was before its parent was taken up again. */
export function endChild(ending: Ending, head: SessionHead): Change<undefined> {
  checkHeld(ending.cell, head, ending);
  const writes = endWrites(ending);
  return { result: undefined, writes: hasEnded(ending.row.status) ? writes.slice(1) : writes };
}

// The row of the run comes first.
function endWrites({ cell, row, fence, end, lastStep, written }: Ending): Write[] {
  const { redact } = cell.context;
  const ended = putRun(cell, endedRun(row, redact === undefined ? end : redactedEnd(redact, end)));
  if (lastStep === undefined) {
    if (end.spans === undefined) return [ended];
    const key = stepKeys.spans(row.n, fence);
    const spans = keptSpans(cell, end.spans);
    return [
      ended,
      { list: cell.lists.steps, key, value: encodeWithSpans(spans, knownOf(cell, row), (packed) => packed) },
    ];
  }
  const record = end.spans === undefined ? lastStep : { ...lastStep, spans: [...(lastStep.spans ?? []), ...end.spans] };
  return [ended, ...putStep(cell, row, record, written)];
}
