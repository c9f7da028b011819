// Recording: what a run tells its journal, its listeners and its agent's own list, and when.
import { isoNow } from "../../base/clock.ts";
import type { JsonValue } from "../../base/json.ts";
import type { Mutable } from "../../base/mutable.ts";
import type { Message } from "../../messages/message.ts";
import type { RunLog, RunStart, StepRecord } from "../../sessions/journal.ts";
import { journalFor } from "../../sessions/plain-journal.ts";
import type { Step, ToolResult } from "../../state/step.ts";
import { noUsage } from "../../tokens/usage.ts";
import { startSpan } from "../../tracing/trace-span.ts";
import { endAfter, runInSpan } from "../../tracing/with-span.ts";
import { historyLimit } from "../input/shown-input.ts";
import type { Run } from "./run.ts";

/** How many earlier messages a run loads where nobody says otherwise. */
export const defaultHistory: number = 50;

/** True where the run has a session or a journaled parent. */
export function isLogged({ session, parent }: Run): boolean {
  return session !== undefined || parent?.log !== undefined;
}

/** The log of a run that has one. Makes input and run row durable, and reads the conversation. */
export function openLog(run: Run, input: readonly Message[]): RunLog | Promise<RunLog> {
  const { options, config, cancellation } = run;
  const start: Mutable<RunStart> = {
    runId: run.runId,
    isFresh: true,
    agent: config.name,
    startedAt: run.startedAt,
    input,
    // Who was shown the list may have put another message into it.
    isFrozen: input.length === 1 && input[0] === run.frozenInput,
    historyLimit: config.isShortened ? historyLimit(run) : (options.historyLimit ?? defaultHistory),
    onBusy: options.onBusy ?? "queue",
  };
  if (run.parent !== undefined) start.parentRunId = run.parent.runId;
  if (run.parentToolCallId !== undefined) start.parentToolCallId = run.parentToolCallId;
  if (run.isTraced) start.traceId = run.span.traceId;
  start.signal = cancellation.signal;
  return run.isTraced ? journaling(run, "session.open", () => opening(run, start)) : opening(run, start);
}

function opening(run: Run, start: RunStart): RunLog | Promise<RunLog> {
  const { session, parent } = run;
  // A run without a session of its own is logged beneath its parent.
  const above = parent?.log as RunLog;
  const opened = session === undefined ? above.child(start) : journalFor(session).open(start);
  return "then" in opened ? unlessAborted(run, opened) : opened;
}

/**
 * Work of the journal of a run that is traced, timed by a span of its own. Done at once where the work is. On a store of ours the
 * span is current only for a bridge, whose world may time what a driver does: nothing else is started within it.
 */
export function journaling<Work extends object | undefined>(run: Run, name: string, work: () => Work): Work {
  const span = startSpan(run.span, { name, kind: "session" });
  const { signal } = run.cancellation;
  const { bridge, keep } = span.settings;
  const isOurs = bridge === undefined && keep !== undefined;
  return isOurs ? endAfter(span, work, signal) : runInSpan(span, () => endAfter(span, work, signal));
}

/** The log, or the abort: a session that does not listen is not waited for. Should it open after all, the run ends there too. */
export function unlessAborted({ cancellation }: Run, opening: Promise<RunLog>): Promise<RunLog> {
  return cancellation.race(opening).catch((error) => {
    if (cancellation.isAborted) opening.then(endAborted).catch(() => undefined);
    throw error;
  });
}

// An end, where it can be written: a run that reads as interrupted is taken up again by whoever starts next.
async function endAborted(log: RunLog): Promise<void> {
  const { usage = noUsage } = log.recorded ?? {};
  try {
    await log.end({ status: "stopped", reason: "aborted", usage, endedAt: isoNow(), answer: [] });
  } catch {
    await log.abandon();
  }
}

/** Tells of the newest step, and journals it unless the run's end will. */
export function recordStep(run: Run): Promise<void> | undefined {
  const step = run.state.currentStep as Step;
  run.partialText = "";
  run.underWay = undefined;
  run.tracked.add(step.messages);
  if (run.emit !== undefined) announce(run, step);
  if (run.log === undefined || run.state.outcome !== undefined) return undefined;
  const { log } = run;
  const record = newestRecord(run, step);
  if (run.endedSpans.length > 0) record.spans = run.endedSpans.splice(0);
  const written = run.isTraced ? journaling(run, "session.step", () => log.step(record)) : log.step(record);
  if (written !== undefined) return written.then(() => markRecorded(run, step));
  markRecorded(run, step);
  return undefined;
}

function markRecorded(run: Run, step: Step): void {
  run.recordedSteps = step.index;
}

function announce(run: Run, step: Step): void {
  const about = { runId: run.runId, agent: run.config.name, step: step.index };
  for (const message of step.messages) run.emit?.({ type: "message-added", ...about, message });
  run.emit?.({ type: "step-end", ...about, result: step });
}

/** The newest step as the journal keeps it, with the notes that go with this write and no other. */
export function newestRecord(run: Run, step: Step): Mutable<StepRecord> {
  const record = stepRecord(step);
  if (run.stepNotes !== undefined) record.notes = run.stepNotes;
  run.stepNotes = undefined;
  return record;
}

/** A step as the journal keeps it. */
export function stepRecord(step: Step): Mutable<StepRecord> {
  const { index, messages, usage, finishReason, startedAt, durationMs, toolResults } = step;
  const record: Mutable<StepRecord> = { step: index, messages, usage, finishReason, startedAt, durationMs };
  if (toolResults.some(isClipped)) record.values = clippedValues(toolResults);
  return record;
}

function isClipped({ clippedBytes }: ToolResult): boolean {
  return clippedBytes !== undefined;
}

function clippedValues(results: readonly ToolResult[]): Record<string, JsonValue> {
  return Object.fromEntries(results.filter(isClipped).map((result) => [result.toolCallId, result.output]));
}
