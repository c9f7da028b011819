// Model input: the input of a step, put together from the messages and contents that its reference names.
import { isObject, type JsonObject, type JsonValue, parseJson } from "../../base/json.ts";
import { shownValue, wholeFrom } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import { promptMessage, promptMessages } from "../../models/prompt.ts";
import { contentsOf, messagesOf } from "../conversation/conversation.ts";
import type { SessionCell, SessionCells } from "../head/session-cell.ts";
import type { InputSetup } from "../ports/run-record.ts";
import type { RunRow, StepRow } from "../ports/tables.ts";
import { corrupt } from "../rows/check-row.ts";
import { keptRef, type MessageRef, parseInput } from "../rows/contents.ts";
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
  if (!wholeFrom(1).isFit(step))
    throw new OffstageError(
      "invalid-argument",
      `"step" must be a whole number of at least 1; found ${shownValue(step)}.`,
    );
  const run = await findRun(cells.context, runId);
  if (run === undefined) return undefined;
  const cell = cells.of(run.session_id);
  const rows = await cell.context.rows.read("steps", { prefix: [cell.id, runId], before: step + 1 });
  const reading = new InputReader(cell, run, rows);
  return rows.at(-1)?.step === step ? reading.read(step) : undefined;
}

class InputReader {
  readonly #cell: SessionCell;
  readonly #run: RunRow;
  readonly #steps: readonly StepRow[];
  #isIncomplete = false;

  constructor(cell: SessionCell, run: RunRow, steps: readonly StepRow[]) {
    this.#cell = cell;
    this.#run = run;
    this.#steps = steps;
  }

  async read(step: number): Promise<RecordedInput | undefined> {
    const found = await this.#refs(step);
    if (found === undefined) return undefined;
    const setup = (await this.#setup(found.setup)) ?? this.#unknownSetup(step);
    const messages = await this.#messages(found.refs);
    return recordedInput(setup, messages, this.#isIncomplete);
  }

  // The references of a step's messages. A step that continues the one before has its messages too.
  async #refs(step: number): Promise<{ setup: string; refs: readonly (MessageRef | Message)[] } | undefined> {
    const parsed = await this.#parse(step);
    if (parsed === undefined || parsed.messages !== undefined)
      return parsed && { setup: parsed.setup, refs: parsed.messages ?? [] };
    let first = step - 1;
    for (; first >= 1; first--) if ((await this.#parse(first))?.messages !== undefined) break;
    const base = await this.#parse(first);
    if (base?.messages === undefined) return undefined;
    const { steps = [] } = (await readRun(this.#cell, this.#run)) ?? {};
    const between = steps.filter((each) => each.step >= first && each.step < step).flatMap(({ messages }) => messages);
    return { setup: parsed.setup, refs: [...base.messages, ...between] };
  }

  async #parse(step: number): Promise<ReturnType<typeof parseInput>> {
    const ref = this.#steps.find((each) => each.step === step)?.input_ref;
    if (ref === undefined || ref === null) return undefined;
    const kept = keptRef(ref);
    const text = kept === undefined ? ref : await this.#content(kept);
    return text === undefined ? undefined : parseInput(text);
  }

  async #setup(hash: string): Promise<InputSetup | undefined> {
    const text = await this.#content(hash);
    const value = text === undefined ? undefined : parseJson(text);
    return isObject(value) ? (value as unknown as InputSetup) : undefined;
  }

  // Only the hash of the setup was kept. The step tells the model.
  #unknownSetup(step: number): InputSetup {
    this.#isIncomplete = true;
    const { model, provider } = this.#steps.find((each) => each.step === step) ?? {};
    return {
      modelId: model ?? this.#run.model ?? "",
      provider: provider ?? this.#run.provider ?? "",
      tools: [],
      settings: {},
    };
  }

  async #content(hash: string): Promise<string | undefined> {
    return (await contentsOf(this.#cell.context, this.#cell.id, [hash])).get(hash);
  }

  async #messages(refs: readonly (MessageRef | Message)[]): Promise<Message[]> {
    const numbersOf = (kind: string) =>
      refs.flatMap((ref) => (typeof ref === "string" && ref.startsWith(kind) ? [ref.slice(1)] : []));
    const found = new Map<MessageRef, Message>([
      ...(await this.#said(numbersOf("p").map(Number))),
      ...(await this.#done(numbersOf("m").map(Number))),
      ...(await this.#contents(numbersOf("#"))),
    ]);
    return refs.flatMap((ref) => {
      const message = typeof ref === "object" ? ref : found.get(ref);
      if (message === undefined) this.#isIncomplete = true;
      return message ?? [];
    });
  }

  // Messages of the conversation, which are sent without the provider's own parts.
  async #said(positions: readonly number[]): Promise<[MessageRef, Message][]> {
    if (positions.length === 0) return [];
    const bounds = { from: Math.min(...positions), before: Math.max(...positions) + 1 };
    const rows = await this.#cell.context.rows.read("messages", { order: "said", prefix: [this.#cell.id], ...bounds });
    const placed = await messagesOf(this.#cell, rows);
    return placed.map(({ row, message }) => [`p${row.position ?? 0}`, message]);
  }

  async #done(seqs: readonly number[]): Promise<[MessageRef, Message][]> {
    const rows = await this.#cell.context.rows.getAll(
      "messages",
      seqs.map((seq) => [this.#cell.id, seq]),
    );
    const present = rows.filter((row) => row !== undefined);
    // Only the messages of the run itself are sent with the parts of their provider.
    const [own, others] = [true, false].map((isOwn) =>
      present.filter(({ run_id }) => (run_id === this.#run.run_id) === isOwn),
    );
    const placed = [
      ...(await messagesOf(this.#cell, own ?? [], { withProviderParts: true })),
      ...(await messagesOf(this.#cell, others ?? [])),
    ];
    return placed.map(({ row, message }) => [`m${row.seq}`, message]);
  }

  async #contents(hashes: readonly string[]): Promise<[MessageRef, Message][]> {
    const contents = await contentsOf(this.#cell.context, this.#cell.id, hashes);
    return [...contents].flatMap(([hash, content]): [MessageRef, Message][] => {
      const message = parseJson(content);
      if (isObject(message)) return [[`#${hash}`, message as unknown as Message]];
      this.#cell.context.report(corrupt(`content "${hash}" of ${this.#cell.name}`, new Error("it is no message")));
      return [];
    });
  }
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
