// The rows of a run and its steps. A message that is also in the conversation is stored there, and here only as its position.
import type { Message } from "../messages/message.ts";
import type { Usage } from "../tokens/usage.ts";
import { traceIdOf } from "../tracing/trace-span.ts";
import type { NewRun, RunInfo, StepRecord } from "./journal.ts";
import { encode } from "./message-rows.ts";
import { type Known, type PackedMessage, packMessage, packUsage, unpackUsage } from "./packed-message.ts";
import { encodeWithSpans, type PackedSpan, type SpanRun, thousandths } from "./packed-span.ts";
import { redactedSpans, redactedValue } from "./redaction.ts";
import { behindNumber, idKey, numberKey, stepKeys } from "./row-keys.ts";
import type { SessionCell } from "./session-cell.ts";
import type { Write } from "./store-driver.ts";

/** A stored run. Status `running` may be stale; see run-reader.ts. */
export interface RunRow extends Omit<RunInfo, "sessionId"> {
  /** The number of the run in its session. */
  readonly n: number;
  /** Epoch microseconds of the start. */
  readonly stamp: number;
  /** For a subagent's run: the outermost run, which holds the lease. */
  readonly rootRunId?: string;
  /** The traces in which the run was resumed. */
  readonly resumedIn?: readonly string[];
  /** Positions of the first and the last input message in the conversation. */
  readonly input?: readonly [number, number];
  /** The input of a subagent's run, which has no conversation of its own. */
  readonly prompt?: readonly Message[];
}

/** A message, its position in the conversation, or the end of the key of the row that contains it. */
export type KeptMessage = PackedMessage | Message | number | string;

/** The stored form of a step; 0 means no spans, and rare fields come last. */
export type StepRow = readonly [
  messages: readonly KeptMessage[],
  usage: unknown,
  finishReason: string | null,
  startedAt: string,
  durationMs: number | null,
  spans: readonly PackedSpan[] | 0,
  rest?: Pick<StepRecord, "notes">,
];

/** The place of a run: its session, and its number there. */
export type RunPlace = readonly [sessionId: string, n: number];

type RunRowOptions = Pick<RunRow, "n" | "stamp" | "prompt" | "rootRunId"> & {
  readonly input?: RunRow["input"] | undefined;
};

/** The row of a run that begins. */
export function runRow(start: NewRun, { n, stamp, input, prompt, rootRunId }: RunRowOptions): RunRow {
  const { runId, agent, startedAt, parentRunId, parentToolCallId, traceId, notes } = start;
  const row = { n, runId, agent, status: "running", startedAt, stamp, input, traceId, notes, prompt, rootRunId };
  return parentRunId === undefined ? (row as RunRow) : ({ ...row, parentRunId, parentToolCallId } as RunRow);
}

/** The stored form of a run; 0 means a missing field, and rare fields come last. */
export type PackedRun = readonly [
  runId: string,
  agent: string,
  status: RunRow["status"],
  startedAt: string,
  stamp: number,
  input: RunRow["input"] | 0,
  traceId: string | 0,
  endedAt: string | 0,
  reason: string | 0,
  usage: unknown,
  rest?: Pick<RunRow, RareField>,
];

// A row that is padded for its end can be rewritten in place.
const roomForEnd = 64;

export function putRun(cell: SessionCell, row: RunRow): Write {
  const { n, runId, agent, status, startedAt, stamp, input, traceId, endedAt, reason, usage } = row;
  const packed: unknown[] = [
    runId,
    agent,
    status,
    startedAt,
    stamp,
    input ?? 0,
    traceId ?? 0,
    endedAt ?? 0,
    reason ?? 0,
    packUsage(usage) ?? 0,
  ];
  const rest = rareOf(row);
  if (rest !== undefined) packed.push(rest);
  const text = encode(packed);
  const value = endedAt === undefined ? text.padEnd(text.length + roomForEnd) : text;
  return { list: cell.lists.runs, key: numberKey(n), value };
}

type UsualField = "n" | "runId" | "agent" | "status" | "startedAt" | "stamp" | "input" | "traceId" | EndField;
type EndField = "endedAt" | "reason" | "usage";
/** A field that few runs have. */
export type RareField = Exclude<keyof RunRow, UsualField>;

const isRare: Readonly<Record<RareField, true>> = {
  error: true,
  notes: true,
  parentRunId: true,
  parentToolCallId: true,
  prompt: true,
  resumedIn: true,
  rootRunId: true,
};
const rareFields = Object.keys(isRare) as RareField[];

/** The rare fields of a run; undefined if it has none. */
function rareOf(row: RunRow): Pick<RunRow, RareField> | undefined {
  const present = rareFields.filter((field) => row[field] !== undefined);
  return present.length === 0 ? undefined : Object.fromEntries(present.map((field) => [field, row[field]]));
}

/** Unpacks the run with this number. */
export function unpackRun(packed: PackedRun, n: number): RunRow {
  const [runId, agent, status, startedAt, stamp, input, traceId, endedAt, reason, usage, rest] = packed;
  const row = { ...rest, n, runId, agent, status, startedAt, stamp };
  if (input !== 0) Object.assign(row, { input });
  if (traceId !== 0) Object.assign(row, { traceId });
  if (endedAt !== 0) Object.assign(row, { endedAt });
  if (reason !== 0) Object.assign(row, { reason });
  return usage === 0 ? row : { ...row, usage: unpackUsage(usage) as Usage };
}

/** The index rows of a new run: by its id, and by its trace unless the trace has the same id. */
export function indexRun(cell: SessionCell, { runId, n, traceId }: RunRow): Write[] {
  const at = { list: cell.context.lists.run(runId), key: "at", value: JSON.stringify([cell.id, n]) };
  return traceId === undefined || traceId === traceIdOf(runId) ? [at] : [at, traceRow(cell, n, traceId)];
}

/** The index row of a run by a trace that contains some of its spans. */
export function traceRow({ id, context }: SessionCell, n: number, traceId: string): Write {
  const value = JSON.stringify([id, n]);
  return { list: context.lists.trace(traceId), key: traceKey(id, n), value };
}

/** The key of the index row of a run by trace. */
export function traceKey(sessionId: string, n: number): string {
  return `run.${idKey(sessionId)}.${numberKey(n)}`;
}

/** All traces that contain spans of a run. */
export function tracesOf({ traceId, resumedIn = [] }: RunRow): readonly string[] {
  return traceId === undefined ? resumedIn : [traceId, ...resumedIn];
}

/** Messages that are already written, as objects: with the key of their row, or their position in the conversation. */
export type Written = ReadonlyMap<Message, string | number>;

/** The fields of messages and spans that follow from the run row. */
export function knownOf(cell: SessionCell, { runId, agent, traceId }: RunRow): Known & SpanRun {
  return { runId, agent, traceId, traceName: agent, groupId: cell.id };
}

/** The rows of a finished step: one with its messages and spans, and one for each full value. */
export function putStep(cell: SessionCell, run: RunRow, record: StepRecord, written: Written): Write[] {
  const { step, messages, values, usage, finishReason, startedAt, durationMs, notes } = record;
  const list = cell.lists.steps;
  const known = knownOf(cell, run);
  const kept = messages.map((message) => shortKey(written.get(message)) ?? ownMessage(cell, message, known));
  const row = [kept, packUsage(usage), finishReason, startedAt, thousandths(durationMs)];
  const value = encodeWithSpans(keptSpans(cell, record.spans), known, (packed) =>
    notes === undefined ? [...row, packed ?? 0] : [...row, packed ?? 0, { notes }],
  );
  const writes = [{ list, key: stepKeys.step(run.n, step), value }];
  for (const [id, whole] of values === undefined ? [] : Object.entries(values)) {
    const { redact } = cell.context;
    const value = encode(redact === undefined ? whole : redactedValue(redact, whole, resultOf(messages, id)));
    writes.push({ list, key: stepKeys.value(run.n, id), value });
  }
  return writes;
}

/** Redacts spans. */
export function keptSpans({ context }: SessionCell, spans: StepRecord["spans"]): StepRecord["spans"] {
  const { redact, report } = context;
  return redact === undefined || spans === undefined ? spans : redactedSpans(redact, spans, report);
}

function resultOf(messages: readonly Message[], id: string): Message {
  const isResult = (message: Message) => message.role === "tool" && message.tool_call_id === id;
  return messages.find(isResult) ?? { role: "tool", tool_call_id: id, content: "" };
}

// All keys of a run start with its number, which is left out.
function shortKey(place: string | number | undefined): string | number | undefined {
  return typeof place === "string" ? behindNumber(place) : place;
}

/** The row of a message of an unfinished step. */
export function putMessage(cell: SessionCell, run: RunRow, { key, message }: { key: string; message: Message }): Write {
  return { list: cell.lists.steps, key, value: encode(ownMessage(cell, message, knownOf(cell, run))) };
}

function ownMessage({ context: { redact } }: SessionCell, message: Message, known: Known): PackedMessage | Message {
  return packMessage(redact === undefined ? message : redact(message), known);
}
