// Writes the end of a stored run. The run until then is in stored-run.ts.
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
