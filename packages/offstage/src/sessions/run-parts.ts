// Reads the rows of a run: steps, open step, children and spans. The run row itself is read in run-reader.ts.
import type { Message } from "../messages/message.ts";
import type { Usage } from "../tokens/usage.ts";
import type { SpanData } from "../tracing/span-data.ts";
import type { OpenStep, StepRecord } from "./journal.ts";
import { decode, readMessage } from "./message-rows.ts";
import { openStep } from "./open-step.ts";
import { type Known, unpackUsage } from "./packed-message.ts";
import { isPackedSpans, type SpanRun, unpackSpans } from "./packed-span.ts";
import { behindNumber, keyNumber, numberKey, type RowKind, rowKinds, stepKeys } from "./row-keys.ts";
import { knownOf, type RunRow } from "./run-rows.ts";
import { isStepRow } from "./run-shapes.ts";
import type { SessionCell } from "./session-cell.ts";
import { otherForm, shaped } from "./shape.ts";
import type { Report } from "./store-context.ts";
import type { Row } from "./store-driver.ts";

/** A step in which a number stands for a message of the conversation. */
export type ReadStep = Omit<StepRecord, "messages"> & { readonly messages: readonly (Message | number)[] };

export interface RunParts {
  readonly steps: readonly ReadStep[];
  readonly openStep: OpenStep | undefined;
  readonly children: readonly number[];
  /** Spans that belong to no step. */
  readonly spans: readonly SpanData[];
}

/** Everything readable that a run did. */
export async function readRunParts(cell: SessionCell, run: RunRow, report?: Report): Promise<RunParts> {
  const range = { from: `${numberKey(run.n)}.`, before: stepKeys.values(run.n) };
  const rows = await cell.context.driver.read(cell.lists.steps, range);
  const known = knownOf(cell, run);
  // Report a row with a damaged key: it may be of any kind.
  for (const row of rows)
    if (row.damaged && !kinds.includes(kindOf(row.key))) parseRow(cell, row, { report, read: String });
  const parts = <T>(kind: RowKind, read: ReadPart<T>): Part<T>[] =>
    rows.flatMap((row) => {
      if (kindOf(row.key) !== kind) return [];
      const key = behindNumber(row.key);
      const number = keyNumber(key.slice(1));
      // Damaged spans do not prevent resuming a run.
      const reported = kind === rowKinds.spans ? undefined : report;
      const value = parseRow(cell, row, { report: reported, read: (each) => read(each, number, key) });
      return value === undefined ? [] : [{ key, number, value }];
    });
  const ofRole = (role: Message["role"]) => (value: unknown) => messageOfRole(role, readMessage(value, known));
  const written = [...parts(rowKinds.intent, ofRole("assistant")), ...parts(rowKinds.result, ofRole("tool"))];
  const byKey = new Map<string, Message | undefined>(rows.map((row) => [behindNumber(row.key), undefined]));
  for (const { key, value } of written) byKey.set(key, value);
  const steps = parts(rowKinds.step, (value, step) => readStep(step, value, { byKey, known })).map(
    ({ value }) => value,
  );
  const finished = new Set(steps.map(({ step }) => step));
  return {
    steps,
    openStep: openStepOf(
      written.filter(({ number }) => !finished.has(number)),
      parts(rowKinds.approval, waitingId),
    ),
    children: parts(rowKinds.child, childNumber).map(({ value }) => value),
    spans: parts(rowKinds.spans, shaped(isPackedSpans)).flatMap(({ value }) => unpackSpans(value, known)),
  };
}

/** A row of a run: the key without the run number, the number in it, and the value. */
interface Part<T> {
  readonly key: string;
  readonly number: number;
  readonly value: T;
}

type ReadPart<T> = (value: unknown, number: number, key: string) => T;

function messageOfRole(role: Message["role"], message: Message): Message {
  if (message.role !== role) throw otherForm();
  return message;
}

// The key contains the number too; the two must match.
function childNumber(value: unknown, number: number): number {
  if (value !== number) throw otherForm();
  return number;
}

// The key contains the id too; the two must match.
function waitingId(value: unknown, step: number, key: string): string {
  if (typeof value !== "string" || key !== behindNumber(stepKeys.approval(0, step, value))) throw otherForm();
  return value;
}

const kinds: readonly string[] = Object.values(rowKinds);

// The letter after the run number.
function kindOf(key: string): string {
  return behindNumber(key).charAt(0);
}

interface Reading {
  /** The messages of other rows; undefined for a row that cannot be read or contains no message. */
  readonly byKey: ReadonlyMap<string, Message | undefined>;
  readonly known: Known & SpanRun;
}

function readStep(step: number, row: unknown, { byKey, known }: Reading): ReadStep {
  if (!isStepRow(row)) throw otherForm();
  const [kept, usage, finishReason, startedAt, durationMs, spans, rest] = row;
  const messages = kept.flatMap((message): (Message | number)[] => {
    if (typeof message === "number") return [message];
    if (typeof message === "string" && !byKey.has(message))
      throw new Error(`it refers to row "${message}", which is missing`);
    const whole = typeof message === "string" ? byKey.get(message) : readMessage(message, known);
    return whole === undefined ? [] : [whole];
  });
  const record = {
    step,
    messages,
    usage: unpackUsage(usage) as Usage,
    finishReason: finishReason ?? "",
    startedAt,
    durationMs: durationMs ?? 0,
    ...rest,
  };
  return spans === 0 ? record : { ...record, spans: unpackSpans(spans, known) };
}

function openStepOf(written: readonly Part<Message>[], waits: readonly Part<string>[]): OpenStep | undefined {
  const { number: step, value: message } = written.find(({ value }) => value.role === "assistant") ?? {};
  if (step === undefined || message?.role !== "assistant") return undefined;
  const results = written.flatMap(({ number, value }) => (number === step && value.role === "tool" ? value : []));
  const waited = waits.flatMap(({ number, value }) => (number === step ? value : []));
  return openStep({ step, message, results }, waited);
}

/** Decodes a row of the runs of a session or of their steps. */
export function parseRow<T>(cell: SessionCell, row: Row, { report, read }: ParseRowOptions<T>): T | undefined {
  const { context } = cell;
  const name = `"${row.key}" of the runs of session "${cell.id}" in ${context.driver.name}`;
  return decode({ row, name }, report ?? context.report, read);
}

export interface ParseRowOptions<T> {
  /** Converts the value; throws if it has an unexpected form. */
  readonly read: (value: unknown) => T;
  /** Default: the report function of the store. */
  readonly report?: Report | undefined;
}

/** The messages of all steps with tool results, without those that are in the conversation. */
export async function readToolTrace(cell: SessionCell, run: RunRow): Promise<readonly Message[]> {
  return traceOf(await readRunParts(cell, run));
}

/** The tool trace, including an unfinished step. */
export async function readWholeTrace(cell: SessionCell, run: RunRow): Promise<readonly Message[]> {
  const parts = await readRunParts(cell, run);
  const { openStep } = parts;
  return openStep === undefined ? traceOf(parts) : [...traceOf(parts), openStep.message, ...openStep.results];
}

function traceOf({ steps }: RunParts): readonly Message[] {
  return steps.flatMap((step) => {
    const messages = step.messages.filter((message) => typeof message !== "number");
    return messages.some(({ role }) => role === "tool") ? messages : [];
  });
}

/** The spans that are stored with a run. */
export async function readRunSpans(cell: SessionCell, run: RunRow): Promise<SpanData[]> {
  const { steps, spans } = await readRunParts(cell, run);
  return [...steps.flatMap((step) => step.spans ?? []), ...spans];
}
