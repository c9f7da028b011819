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
export function endRun(ending: Ending, head: SessionHead): Change<void> {
  const { cell, end, recorded } = ending;
  checkHeld(cell, head, ending);
  const appended = storedMessages(redactOnce(cell.context.redact, recorded), end.answer);
  // Mostly empty by then: to go through an empty map takes longer than to make one.
  const written = new Map<Message, string | number>(ending.written.size === 0 ? undefined : ending.written);
  for (let i = 0; i < end.answer.length; i++) written.set(end.answer[i] as Message, head.next + i);
  const counts = { next: head.next + appended.length, count: head.count + appended.length, lease: undefined };
  const change = touched(cell, head, counts);
  change.writes.push(endedRow(ending), ...lastWrites({ ...ending, written }));
  return { result: undefined, appended, head: change.head, writes: change.writes };
}

/** The end of a run beneath another: its row becomes final, unless the run had ended already. */
export function endChild(ending: Ending, head: SessionHead): Change<void> {
  checkHeld(ending.cell, head, ending);
  const writes = lastWrites(ending);
  return { result: undefined, writes: hasEnded(ending.row.status) ? writes : [endedRow(ending), ...writes] };
}

function endedRow({ cell, row, end }: Ending): Write {
  const { redact } = cell.context;
  return putRun(cell, endedRun(row, redact === undefined ? end : redactedEnd(redact, end)));
}

// What is written with the end beside the row of the run: the last step, or spans that came with none.
function lastWrites({ cell, row, fence, end, lastStep, written }: Ending): Write[] {
  if (lastStep !== undefined) {
    const spans = end.spans === undefined ? undefined : { spans: [...(lastStep.spans ?? []), ...end.spans] };
    return putStep(cell, row, spans === undefined ? lastStep : { ...lastStep, ...spans }, written);
  }
  if (end.spans === undefined) return [];
  const value = encodeWithSpans(keptSpans(cell, end.spans), knownOf(cell, row), (packed) => packed);
  return [{ list: cell.lists.steps, key: stepKeys.spans(row.n, fence), value }];
}
