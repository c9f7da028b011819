// Model input: the input of a step, put together from the messages and contents that its reference names.
import { isObject, type JsonObject, type JsonValue, parseJson } from "../../base/json.ts";
import { checkRequired, wholeFrom } from "../../base/options.ts";
import type { Message } from "../../messages/message.ts";
import { promptMessage, promptMessages } from "../../models/prompt.ts";
import { contentsOf, messagesOf } from "../conversation/conversation.ts";
import { corrupt } from "../head/namespace-rows.ts";
import type { SessionCell, SessionCells, StoreContext } from "../head/session-cell.ts";
import type { InputSetup } from "../ports/run-record.ts";
import type { RunRow, StepRow } from "../ports/tables.ts";
import { type InputRef, keptRef, type MessageRef, type PlacedMessage, parseInput } from "../rows/message-row.ts";
import { findRun, readRun } from "./run-reader.ts";

/** The input of one model call, as it was sent. */
export interface RecordedInput {
  readonly messages: readonly Message[];
  readonly tools: readonly JsonValue[];
  readonly settings: JsonObject;
  readonly modelId: string;
  readonly provider: string;
  /** Some messages were removed from the conversation, or only their hashes were kept. */
  readonly isIncomplete?: boolean;
  /** The changes from another input to this one. */
  since(other: RecordedInput): InputChanges;
}

/** The changes from one input to another. */
export interface InputChanges {
  readonly added: readonly Message[];
  readonly removed: readonly Message[];
  /** The names of fields other than `messages` that differ. */
  readonly changed: readonly ("tools" | "settings" | "modelId" | "provider")[];
}

/** The input of a step of a run; undefined if there is no such step, or if its input was not kept. */
export async function readInput(cells: SessionCells, runId: string, step: number): Promise<RecordedInput | undefined> {
  checkRequired("step", step, wholeFrom(1));
  const run = await findRun(cells.context, runId);
  if (run === undefined) return undefined;
  const cell = cells.of(run.session_id);
  const steps = await cell.context.rows.read("steps", { prefix: [cell.id, runId], before: step + 1 });
  const row = steps.at(-1);
  const input = row?.step === step ? await inputOf(cell, row) : undefined;
  const refs = input && (await refsOf(cell, run, steps));
  if (row === undefined || input === undefined || refs === undefined) return undefined;
  const found = await messagesBehind(cell, run, refs);
  const messages = refs.flatMap((ref) => (typeof ref === "string" ? (found.get(ref) ?? []) : ref));
  const setup = parseSetup((await contentsOf(cell.context, cell.id, [input.setup])).get(input.setup));
  const isIncomplete = setup === undefined || messages.length < refs.length;
  return recordedInput(setup ?? unknownSetup(row, run), messages, isIncomplete);
}

/** The references of the inputs of these steps of a session, by step. Those that were not kept are left out. */
export async function inputsOf(
  context: StoreContext,
  sessionId: string,
  steps: readonly StepRow[],
): Promise<ReadonlyMap<StepRow, InputRef>> {
  const kept = steps.flatMap(({ input_ref }) => keptRef(input_ref) ?? []);
  const long = await contentsOf(context, sessionId, kept);
  const found = new Map<StepRow, InputRef>();
  for (const step of steps) {
    const input = parseInput(long.get(keptRef(step.input_ref) ?? "") ?? step.input_ref ?? "");
    if (input !== undefined) found.set(step, input);
  }
  return found;
}

async function inputOf({ context, id }: SessionCell, step: StepRow): Promise<InputRef | undefined> {
  return (await inputsOf(context, id, [step])).get(step);
}

// The messages of the last of these steps. A step that continues the one before has its messages too.
async function refsOf(
  cell: SessionCell,
  run: RunRow,
  steps: readonly StepRow[],
): Promise<readonly (MessageRef | Message)[] | undefined> {
  for (const first of steps.toReversed()) {
    const { messages } = (await inputOf(cell, first)) ?? {};
    if (messages === undefined) continue;
    const last = steps.at(-1);
    if (first === last) return messages;
    const record = await readRun(cell, run);
    const between = record?.steps.filter(({ step }) => step >= first.step && step < (last?.step ?? 0)) ?? [];
    return [...messages, ...between.flatMap((each) => each.messages)];
  }
  return undefined;
}

function parseSetup(text: string | undefined): InputSetup | undefined {
  const value = text === undefined ? undefined : parseJson(text);
  return isObject(value) ? (value as unknown as InputSetup) : undefined;
}

// Only the hash of the setup was kept. The step tells the model.
function unknownSetup(step: StepRow, run: RunRow): InputSetup {
  const modelId = step.model ?? run.model ?? "";
  return { modelId, provider: step.provider ?? run.provider ?? "", tools: [], settings: {} };
}

async function messagesBehind(
  cell: SessionCell,
  run: RunRow,
  refs: readonly (MessageRef | Message)[],
): Promise<ReadonlyMap<string, Message>> {
  const placesOf = (kind: string) =>
    refs.flatMap((ref) => (typeof ref === "string" && ref.startsWith(kind) ? [ref.slice(1)] : []));
  const done = await readDone(cell, run, placesOf("m").map(Number));
  const said = await readSaid(cell, placesOf("p").map(Number));
  return new Map([
    ...said.map(({ row, message }) => [`p${row.position}`, message] as const),
    ...done.map(({ row, message }) => [`m${row.seq}`, message] as const),
    ...(await readContents(cell, placesOf("#"))),
  ]);
}

// Messages of the conversation, which are sent without the provider's own parts.
async function readSaid(cell: SessionCell, positions: readonly number[]): Promise<PlacedMessage[]> {
  if (positions.length === 0) return [];
  const bounds = { from: Math.min(...positions), before: Math.max(...positions) + 1 };
  const rows = await cell.context.rows.read("messages", { order: "said", prefix: [cell.id], ...bounds });
  return messagesOf(cell, rows);
}

// Only the messages of the run itself are sent with the parts of their provider.
async function readDone(cell: SessionCell, { run_id }: RunRow, seqs: readonly number[]): Promise<PlacedMessage[]> {
  const keys = seqs.map((seq) => [cell.id, seq]);
  const rows = (await cell.context.rows.getAll("messages", keys)).filter((row) => row !== undefined);
  const own = rows.filter((row) => row.run_id === run_id);
  const others = rows.filter((row) => row.run_id !== run_id);
  return [...(await messagesOf(cell, own, { withProviderParts: true })), ...(await messagesOf(cell, others))];
}

async function readContents(cell: SessionCell, hashes: readonly string[]): Promise<[string, Message][]> {
  const contents = await contentsOf(cell.context, cell.id, hashes);
  return [...contents].flatMap(([hash, content]): [string, Message][] => {
    const message = parseJson(content);
    if (isObject(message)) return [[`#${hash}`, message as unknown as Message]];
    cell.context.report(corrupt(`content "${hash}" of ${cell.name}`, new Error("it is no message")));
    return [];
  });
}

function recordedInput(setup: InputSetup, stored: readonly Message[], isIncomplete: boolean): RecordedInput {
  const { modelId, provider, tools, settings } = setup;
  const input = { messages: asSent(stored), tools, settings, modelId, provider, ...(isIncomplete && { isIncomplete }) };
  // Not enumerable, so that the input is plain data when it is printed or compared.
  return Object.defineProperty(input, "since", {
    value: (other: RecordedInput) => changes(other, input),
  }) as unknown as RecordedInput;
}

// Messages in the form in which a model gets them: without metadata, and with the names of tools.
function asSent(messages: readonly Message[]): Message[] {
  const names = new Map<string, string>();
  return messages.flatMap((message) => {
    if (isSent(message)) return [message];
    if (message.role === "assistant")
      for (const { id, function: called } of message.tool_calls ?? []) names.set(id, called.name);
    return promptMessages([promptMessage(message, (callId) => names.get(callId) ?? "unknown_tool")]);
  });
}

// A driver with a protocol of its own records messages as they were sent. Files then have the form of a prompt.
function isSent({ content }: Message): boolean {
  return Array.isArray(content) && content.some((part) => "mediaType" in part && "data" in part);
}

function changes(before: RecordedInput, after: Omit<RecordedInput, "since">): InputChanges {
  const fields = ["tools", "settings", "modelId", "provider"] as const;
  return {
    added: without(after.messages, before.messages),
    removed: without(before.messages, after.messages),
    changed: fields.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field])),
  };
}

// The messages of one list that are not in the other, each as often as it occurs.
function without(messages: readonly Message[], others: readonly Message[]): Message[] {
  const counts = new Map<string, number>();
  for (const other of others) {
    const text = JSON.stringify(other);
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return messages.filter((message) => {
    const text = JSON.stringify(message);
    const count = counts.get(text) ?? 0;
    counts.set(text, count - 1);
    return count <= 0;
  });
}
