// Recording: what a run tells its journal, its listeners and its agent's own list, and when.
import { isoNow } from "../messages/iso-now.ts";
import type { JsonObject } from "../messages/json.ts";
import type { Message } from "../messages/message.ts";
import type { Mutable } from "../messages/mutable.ts";
import type { RunLog, RunStart, StepRecord } from "../sessions/journal.ts";
import { journalFor } from "../sessions/plain-journal.ts";
import type { SessionPort } from "../sessions/session.ts";
import type { Step } from "../state/step.ts";
import type { SpanData } from "../tracing/span-data.ts";
import { withSpan } from "../tracing/with-span.ts";
import type { Run } from "./run.ts";
import { historyLimit } from "./shown-input.ts";

/** True where the run has a session or a journaled parent. */
export function isLogged(run: Run): boolean {
  return sessionOf(run) !== undefined || run.parent?.log !== undefined;
}

function sessionOf({ parent, options, config }: Run): SessionPort | undefined {
  return parent === undefined ? (options.session ?? config.options.session) : undefined;
}

/** Makes input and run row durable and reads the conversation, of a run that is logged. */
export async function openLog(run: Run, input: readonly Message[]): Promise<void> {
  const signal = abortSignalOf(run);
  const start: Mutable<RunStart> = {
    runId: run.runId,
    agent: run.config.name,
    startedAt: isoNow(),
    input,
    historyLimit: historyLimit(run),
    onBusy: run.options.onBusy ?? "queue",
  };
  if (run.parent !== undefined) start.parentRunId = run.parent.runId;
  if (run.parentToolCallId !== undefined) start.parentToolCallId = run.parentToolCallId;
  if (run.isTraced) start.traceId = run.span.traceId;
  if (signal !== undefined) start.signal = signal;
  run.log = await journaling(run, "session.open", () => openUnlessAborted(run, opening(run, start)));
}

function opening(run: Run, start: RunStart): Promise<RunLog> {
  const session = sessionOf(run);
  if (session !== undefined) return journalFor(session).open(start);
  // A run without a session of its own is logged beneath its parent.
  const { log } = run.parent as Run;
  return (log as RunLog).child(start);
}

/** Work of the journal, in a span of its own where the run is traced. */
export function journaling<T>(run: Run, name: string, work: () => Promise<T>): Promise<T> {
  if (!run.isTraced) return work();
  return withSpan(name, { kind: "session", signal: abortSignalOf(run) }, work);
}

// Made only for a run that can be aborted.
function abortSignalOf({ cancellation }: Run): AbortSignal | undefined {
  return cancellation.isAbortable ? cancellation.signal : undefined;
}

// A session that does not listen is not waited for; should it open after all, it is let go again.
function openUnlessAborted({ cancellation }: Run, opening: Promise<RunLog>): Promise<RunLog> {
  if (!cancellation.isAbortable) return opening;
  return cancellation.race(opening).catch((error) => {
    if (cancellation.isAborted) opening.then((log) => log.abandon()).catch(() => undefined);
    throw error;
  });
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
  const record = { ...stepRecord(step), ...notesOf(run), ...spansOf(run) };
  return journaling(run, "session.step", () => log.step(record)).then(() => {
    run.recordedSteps = step.index;
  });
}

function announce(run: Run, step: Step): void {
  const about = { runId: run.runId, agent: run.config.name, step: step.index };
  for (const message of step.messages) run.emit?.({ type: "message-added", ...about, message });
  run.emit?.({ type: "step-end", ...about, result: step });
}

/** The notes that the next write takes along. */
export function notesOf(run: Run): { readonly notes?: JsonObject } | undefined {
  const { stepNotes: notes } = run;
  run.stepNotes = undefined;
  return notes === undefined ? undefined : { notes };
}

/** The spans that the next write takes along. */
export function spansOf(run: Run): { readonly spans?: readonly SpanData[] } | undefined {
  return run.endedSpans.length === 0 ? undefined : { spans: run.endedSpans.splice(0) };
}

/** A step as the journal keeps it. */
export function stepRecord(step: Step): StepRecord {
  const { index, messages, usage, finishReason, startedAt, durationMs, toolResults } = step;
  const record = { step: index, messages, usage, finishReason, startedAt, durationMs };
  const clipped = toolResults.filter((result) => result.clippedBytes !== undefined);
  if (clipped.length === 0) return record;
  return { ...record, values: Object.fromEntries(clipped.map((result) => [result.toolCallId, result.output])) };
}
