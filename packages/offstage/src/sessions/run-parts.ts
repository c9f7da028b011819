// The parts of a run: what it did, read from the rows of its steps. Which runs there are is in run-reader.ts.
import { type Message, toolCallsOf } from "../messages/message.ts";
import type { Usage } from "../tokens/usage.ts";
import type { SpanData } from "../tracing/span-data.ts";
import type { OpenStep, StepRecord } from "./journal.ts";
import { decode } from "./message-rows.ts";
import { type Known, type PackedMessage, unpackMessage, unpackUsage } from "./packed-message.ts";
import { type PackedSpan, type SpanRun, unpackSpans } from "./packed-span.ts";
import { keyNumber, numberKey, stepKeys } from "./row-keys.ts";
import { knownOf, type RunRow, type StepRow } from "./run-rows.ts";
import type { SessionCell } from "./session-cell.ts";
import type { Report } from "./store-context.ts";
import type { Row } from "./store-driver.ts";

/** A step, where a number stands for a message of the conversation. */
export type ReadStep = Omit<StepRecord, "messages"> & { readonly messages: readonly (Message | number)[] };

export interface RunParts {
  readonly steps: readonly ReadStep[];
  readonly openStep: OpenStep | undefined;
  readonly children: readonly number[];
  /** Spans that came with no step. */
  readonly spans: readonly SpanData[];
}

/** Everything a run did, as far as it can be read. */
export async function readRunParts(cell: SessionCell, run: RunRow, report?: Report): Promise<RunParts> {
  const range = { from: `${numberKey(run.n)}.`, before: stepKeys.values(run.n) };
  const rows = await cell.context.driver.read(cell.lists.steps, range);
  const known = knownOf(cell, run);
  // A row whose key is damaged may be of any kind.
  for (const row of rows) if (row.damaged && !kinds.includes(kindOf(row.key))) parseRow(cell, row, report);
  const parts = <T>(kind: string): { key: string; step: number; value: T }[] =>
    rows.flatMap((row) => {
      const key = row.key.slice(row.key.indexOf(".") + 1);
      // Spans are not what a run did.
      const told = kind === "t" ? undefined : report;
      const value = kindOf(row.key) === kind ? parseRow<T>(cell, row, told) : undefined;
      return value === undefined ? [] : [{ key, step: keyNumber(key.slice(1)), value }];
    });
  const written = [...parts<PackedMessage>("i"), ...parts<PackedMessage>("r")].map(({ key, step, value }) => {
    return { key, step, message: unpackMessage(value, known) };
  });
  const byKey = new Map(written.map(({ key, message }) => [key, message]));
  const steps = parts<StepRow>("s").map(({ step, value }) => readStep(step, value, { byKey, known }));
  const finished = new Set(steps.map(({ step }) => step));
  return {
    steps,
    openStep: openStepOf(written.filter(({ step }) => !finished.has(step))),
    children: parts<number>("c").map(({ value }) => value),
    spans: parts<PackedSpan[]>("t").flatMap(({ value }) => unpackSpans(value, known)),
  };
}

const kinds = ["c", "i", "r", "s", "t"];

// The letter behind the number of the run.
function kindOf(key: string): string {
  return key.charAt(key.indexOf(".") + 1);
}

interface Reading {
  readonly byKey: ReadonlyMap<string, Message>;
  readonly known: Known & SpanRun;
}

function readStep(step: number, row: StepRow, { byKey, known }: Reading): ReadStep {
  const [kept, usage, finishReason, startedAt, durationMs, spans, rest] = row;
  const messages = kept.flatMap((message): (Message | number)[] => {
    if (typeof message === "number") return [message];
    const whole = typeof message === "string" ? byKey.get(message) : unpackMessage(message, known);
    return whole === undefined ? [] : [whole];
  });
  const record = { step, messages, usage: unpackUsage(usage) as Usage, finishReason, startedAt, durationMs, ...rest };
  return spans === 0 ? record : { ...record, spans: unpackSpans(spans, known) };
}

function openStepOf(written: readonly { readonly step: number; readonly message: Message }[]): OpenStep | undefined {
  const { step, message } = written.find((each) => each.message.role === "assistant") ?? {};
  if (step === undefined || message?.role !== "assistant") return undefined;
  const results = written.flatMap((each) => (each.step === step && each.message.role === "tool" ? each.message : []));
  const settled = new Set(results.map((result) => result.tool_call_id));
  return { step, message, results, pending: toolCallsOf(message).filter((call) => !settled.has(call.id)) };
}

/** The value of a row of a session's runs or their steps. */
export function parseRow<T>(cell: SessionCell, row: Row, report: Report = cell.context.report): T | undefined {
  const name = `"${row.key}" of the runs of session "${cell.id}" in ${cell.context.driver.name}`;
  return decode<T>({ row, name }, report);
}

/** The tool messages of a run: what its steps with calls produced, the conversation left out. */
export async function readToolTrace(cell: SessionCell, run: RunRow): Promise<readonly Message[]> {
  return traceOf(await readRunParts(cell, run));
}

/** The same with the step that was cut off or waits, as far as it went. */
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

/** The spans that were kept with a run. */
export async function readRunSpans(cell: SessionCell, run: RunRow): Promise<SpanData[]> {
  const { steps, spans } = await readRunParts(cell, run);
  return [...steps.flatMap((step) => step.spans ?? []), ...spans];
}
