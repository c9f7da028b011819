// Changes the calls of a run that is resumed, and of its subagents' runs, as a person decided: rows for the same write, and the
// record as it is after it.
import {
  type AssistantMessage,
  type Message,
  toolCallsOf,
  withEditedCall,
  withMetadata,
} from "../../messages/message.ts";
import type { SessionCell } from "../head/session-cell.ts";
import type { CallChange } from "../ports/journal.ts";
import type { OpenStep } from "../ports/run-record.ts";
import type { Row, Write } from "../ports/store-driver.ts";
import type { ToolCallRow } from "../ports/tables.ts";
import { storeMessage } from "../rows/message-row.ts";
import { answeredQuestion, questionText } from "../rows/question.ts";
import type { ResumedRun } from "./resumed-run.ts";

export interface ChangedRun {
  /** The run to resume, after the changes. */
  readonly resumed: ResumedRun;
  readonly writes: readonly Write[];
}

/** Applies changes to the open steps of a run and of the runs beneath it. */
export function changeCalls(cell: SessionCell, resumed: ResumedRun, changes: readonly CallChange[] = []): ChangedRun {
  const { runId: ownId } = resumed.record;
  const runs = new Map([...resumed.beneath, [ownId, resumed]]);
  const writes = new Map<string, Write>();
  for (const change of changes) {
    const run = runs.get(change.runId);
    const changed = run && changeCall(cell, run, change);
    if (changed === undefined) continue;
    runs.set(change.runId, changed.resumed);
    // Two changes of one reply are one write.
    for (const write of changed.writes) writes.set(keyOf(write), write);
  }
  return { resumed: runs.get(ownId) ?? resumed, writes: [...writes.values()] };
}

function keyOf(write: Write): string {
  const row: Row = "row" in write ? write.row : {};
  return JSON.stringify([write.table, row.run_id, row.seq, row.step, row.position]);
}

function changeCall(cell: SessionCell, run: ResumedRun, change: CallChange): ChangedRun | undefined {
  const { openStep } = run.record;
  const row = run.calls.find(({ call_id, step }) => call_id === change.toolCallId && step === openStep?.step);
  if (openStep === undefined || row === undefined) return undefined;
  const { toolCallId, editedInput } = change;
  const edited = editedInput === undefined ? undefined : editReply(cell, run, { openStep, toolCallId, editedInput });
  const question = change.answers && questionText(answeredQuestion(change.answers), cell.context.redact);
  const call: ToolCallRow = {
    ...row,
    ...(edited && { edited_arguments: edited.arguments }),
    // It no longer waits: from now on it may take effect.
    ...(question !== undefined && { question, status: "intended" }),
  };
  const resumed = edited?.resumed ?? run;
  const calls = run.calls.map((each) => (each === row ? call : each));
  return { resumed: { ...resumed, calls }, writes: [{ table: "tool_calls", row: call }, ...(edited?.writes ?? [])] };
}

interface Edit {
  readonly openStep: OpenStep;
  readonly toolCallId: string;
  readonly editedInput: string;
}

interface EditedReply extends ChangedRun {
  /** The changed arguments as they are stored. */
  readonly arguments: string | null;
}

// Puts the reply again, at its own place, with the changed input.
function editReply(cell: SessionCell, run: ResumedRun, { openStep, toolCallId, editedInput }: Edit): EditedReply {
  const { record } = run;
  const before = openStep.message;
  const seq = run.seqs.get(before) ?? 0;
  const message = redacted(cell, withEditedCall(before, toolCallId, editedInput));
  const place = { namespace: cell.namespace, sessionId: cell.id, seq, hasher: cell.hasher };
  const owner = { runId: record.runId, agent: record.agent, step: openStep.step };
  const { put } = storeMessage(message, { ...place, run: owner });
  cell.refs.set(message, { seq });
  const resumed: ResumedRun = {
    ...run,
    record: { ...record, openStep: { ...openStep, message } },
    seqs: new Map([...run.seqs, [message, seq]]),
    done: run.done.map((each) => (each.message === before ? { ...each, message } : each)),
  };
  const stored = toolCallsOf(message).find(({ id }) => id === toolCallId);
  return { resumed, writes: [put], arguments: stored?.function.arguments ?? null };
}

// The other calls were redacted when they were first written, and keep their marks.
function redacted({ context }: SessionCell, message: AssistantMessage): AssistantMessage {
  const { redact } = context;
  if (redact === undefined) return message;
  const kept: Message = redact(message);
  const marks = [...(message.metadata?.redactedCalls ?? []), ...(kept.metadata?.redactedCalls ?? [])];
  const redactedCalls = [...new Set(marks)].sort((a, b) => a - b);
  return (redactedCalls.length === 0 ? kept : withMetadata(kept, { redactedCalls })) as AssistantMessage;
}
