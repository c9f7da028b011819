// Writes the messages and calls of a run's steps as rows. A step has one reply and one result per call, so each of them has one
// row, however often it is written.
import type { JsonValue } from "../../base/json.ts";
import {
  type AssistantMessage,
  type Message,
  resultStatus,
  type ToolMessage,
  toolCallsOf,
} from "../../messages/message.ts";
import { noUsage } from "../../tokens/usage.ts";
import type { SpanData } from "../../tracing/span-data.ts";
import { appendRows, newContent } from "../conversation/conversation.ts";
import type { SessionCell } from "../head/session-cell.ts";
import type { CallChange, StepInput } from "../ports/journal.ts";
import type { StepRecord } from "../ports/run-record.ts";
import type { Write } from "../ports/store-driver.ts";
import type { RunRow, SessionRow, ToolCallRow } from "../ports/tables.ts";
import { contentOf } from "../rows/contents.ts";
import { storeMessage } from "../rows/message-row.ts";
import { answeredQuestion, questionText } from "../rows/question.ts";
import {
  type MessageRedactor,
  messagesIn,
  redactOnce,
  redactSpans,
  redactStep,
  redactValue,
} from "../rows/redaction.ts";
import { isOpenCall, isoTime, putSpans, stepRow } from "../rows/run-row.ts";
import { type StoredInput, storeInput } from "./input-writer.ts";
import type { ResumedRun } from "./resumed-run.ts";

/** Rows to write, and the head after them. */
export interface Written {
  /** Undefined if it stays as it is. */
  readonly head?: SessionRow;
  readonly writes: Write[];
  /** Called when the rows are written. */
  readonly onWritten: () => void;
}

/** A written step, with the number of calls that failed so far. */
interface FinishedStep extends Appended {
  readonly errorCount: number;
}

interface Appended extends Written {
  readonly head: SessionRow;
}

/** A row of the step under way. */
interface OpenRow {
  readonly seq: number;
  /** The message as it was passed in. */
  readonly message: Message;
}

export class StepWriter {
  readonly #cell: SessionCell;
  readonly #row: Pick<RunRow, "namespace" | "session_id" | "run_id" | "agent" | "model">;
  readonly #redact: MessageRedactor | undefined;
  /** The rows of the step under way, by what they are: the reply, or the result of a call. */
  readonly #open = new Map<string, OpenRow>();
  #calls: ToolCallRow[] = [];
  /** The places of calls in this list, by id. */
  #places: ReadonlyMap<string, number> = new Map();
  #errorCount = 0;
  /** The reference of the input of the step under way, if it is written. */
  #inputRef: string | undefined;

  readonly #subagents: ReadonlySet<string>;
  /** The messages that were read from the store. */
  readonly #stored: ReadonlySet<Message>;

  constructor(cell: SessionCell, row: RunRow, { recorded, subagents }: StepWriterOptions) {
    this.#cell = cell;
    this.#row = row;
    this.#subagents = subagents;
    this.#stored = new Set(cell.context.redact && messagesIn(recorded?.record));
    this.#redact = redactOnce(cell.context.redact, recorded?.record);
    this.#errorCount = row.error_count;
    const open = recorded?.record.openStep;
    if (recorded === undefined || open === undefined) return;
    for (const message of [open.message, ...open.results])
      this.#open.set(kindOf(message) ?? "", { seq: recorded.seqs.get(message) ?? 0, message });
    this.#setCalls(recorded.calls.filter(({ step }) => step === open.step));
    this.#inputRef = recorded.openInput;
  }

  /** The number of calls that failed so far. */
  get errorCount(): number {
    return this.#errorCount;
  }

  /** The rows of a reply whose calls are about to run; undefined if they are written already. */
  intend(head: SessionRow, step: number, { message, waiting, input }: Intent): Written | undefined {
    if (this.#open.has("reply")) return undefined;
    const stored = this.#kept(message);
    const calls = this.#callRows(step, stored, waiting);
    const written = this.#append(head, step, [message], { isSaid: () => false });
    const begun = input && this.unfinished(input);
    return {
      ...written,
      writes: [...written.writes, ...calls.map(putCall), ...(begun?.writes ?? [])],
      onWritten: () => {
        written.onWritten();
        this.#setCalls(calls);
        this.#inputRef = begun?.ref;
      },
    };
  }

  /** The row of a step that is not finished: it has an input or failed attempts, and no finish reason. */
  unfinished({ step, startedAt, input, retries }: StepInput): Partial<StoredInput> | undefined {
    const stored = storeInput(this.#cell, input, this.#stored);
    if (stored === undefined && retries === undefined) return undefined;
    const { redact } = this.#cell.context;
    const { modelId: model, provider } = input.setup;
    const call = { step, messages: [], usage: noUsage, finishReason: "", startedAt, durationMs: 0, model, provider };
    const record = redact === undefined ? { ...call, retries } : redactStep(redact, { ...call, retries });
    const row = { ...stepRow(this.#row, record, stored?.ref), finish_reason: null };
    return { ...stored, writes: [...(stored?.writes ?? []), { table: "steps", row }] };
  }

  /** The rows of a result; undefined if it is written already. */
  settle(head: SessionRow, step: number, result: ToolMessage): Written | undefined {
    if (this.#open.has(kindOf(result) ?? "")) return undefined;
    const written = this.#append(head, step, [result], { isSaid: () => false });
    const index = this.#places.get(result.tool_call_id) ?? -1;
    const call = this.#calls[index];
    if (call === undefined || !isOpenCall(call.status)) return written;
    const settled = settleCall(call, result);
    return {
      ...written,
      writes: [...written.writes, putCall(settled)],
      onWritten: () => {
        written.onWritten();
        this.#calls[index] = settled;
        if (settled.status === "error") this.#errorCount++;
      },
    };
  }

  /** The rows of a call about which a person decided while the run works. */
  decide(
    step: number,
    { toolCallId, editedInput, answers }: Omit<CallChange, "runId">,
    message: AssistantMessage,
  ): Written {
    const kept = this.#kept(message);
    const edited = toolCallsOf(kept).find(({ id }) => id === toolCallId)?.function.arguments;
    const changed = this.changeCall(toolCallId, {
      ...(editedInput !== undefined && { edited_arguments: edited ?? null }),
      ...(answers && { question: questionText(answeredQuestion(answers), this.#cell.context.redact) }),
    });
    const reply = this.#open.get("reply");
    if (editedInput === undefined || reply === undefined) return changed;
    const { namespace, session_id: sessionId, run_id: runId, agent } = this.#row;
    const place = { namespace, sessionId, seq: reply.seq, run: { runId, agent, step }, hasher: this.#cell.hasher };
    return {
      writes: [...changed.writes, storeMessage(kept, place).put],
      onWritten: () => {
        changed.onWritten();
        this.#open.set("reply", { ...reply, message });
      },
    };
  }

  /** The row of a call that waits for approval, or that a subagent's run answers. */
  changeCall(toolCallId: string | undefined, change: Partial<ToolCallRow>): Written {
    const index = this.#places.get(toolCallId ?? "") ?? -1;
    const call = this.#calls[index];
    const changed = call && { ...call, ...change };
    return {
      writes: changed === undefined ? [] : [putCall(changed)],
      onWritten: () => {
        if (changed !== undefined) this.#calls[index] = changed;
      },
    };
  }

  #setCalls(calls: ToolCallRow[]): void {
    this.#calls = calls;
    this.#places = new Map(calls.map(({ call_id }, place) => [call_id, place]));
  }

  /** The rows of calls without a result, for a run that ends here and is never resumed. */
  interruptCalls(): Write[] {
    return this.#calls
      .filter(({ status }) => isOpenCall(status))
      .map((call) => putCall({ ...call, status: "interrupted" }));
  }

  /** The rows of a finished step. `isSaid` tells which of its messages join the conversation. */
  finish(head: SessionRow, record: StepRecord, isSaid: (message: Message) => boolean = () => false): FinishedStep {
    const { step, messages, values = {} } = record;
    const { redact } = this.#cell.context;
    const kept = redact === undefined ? record : redactStep(redact, record);
    const fresh = messages.filter((message) => this.#open.get(kindOf(message) ?? "")?.message !== message);
    const written = this.#append(head, step, fresh, { isSaid });
    const { calls, failed } = this.#settledCalls(step, messages);
    const refs = this.#values(values, messages);
    const input = storeInput(this.#cell, record.input, this.#stored);
    const settled = calls.map((call) => {
      const ref = refs.get(call.call_id);
      return ref === undefined ? call : { ...call, result_ref: ref.hash };
    });
    const known = new Set(this.#calls);
    const changed = settled.filter((call) => !known.has(call));
    const errorCount = this.#errorCount + failed;
    return {
      head: written.head,
      errorCount,
      writes: [
        ...written.writes,
        { table: "steps", row: stepRow(this.#row, kept, input?.ref ?? this.#inputRef) },
        ...changed.map(putCall),
        ...[...refs.values()].flatMap(({ writes }) => writes),
        ...(input?.writes ?? []),
        ...this.spans(record.spans),
      ],
      onWritten: () => {
        this.#open.clear();
        this.#setCalls([]);
        this.#inputRef = undefined;
        this.#errorCount = errorCount;
      },
    };
  }

  /** The rows of spans. */
  spans(spans: readonly SpanData[] = []): Write[] {
    const { redact, report } = this.#cell.context;
    const kept = redact === undefined ? spans : redactSpans(redact, spans, report);
    const { namespace, session_id: sessionId, run_id: runId } = this.#row;
    return putSpans({ namespace, sessionId, runId }, kept, this.#subagents);
  }

  // A message that has a row already, in another form, is put there again.
  #append(
    head: SessionRow,
    step: number,
    messages: readonly Message[],
    { isSaid }: { isSaid: (message: Message) => boolean },
  ): Appended {
    const { namespace, session_id: sessionId, run_id: runId, agent } = this.#row;
    const run = { runId, agent, step };
    const isKnown = (message: Message) => this.#open.has(kindOf(message) ?? "");
    const again = messages.filter(isKnown).map((message): Write => {
      const { seq } = this.#open.get(kindOf(message) ?? "") as OpenRow;
      return storeMessage(this.#kept(message), { namespace, sessionId, seq, run, hasher: this.#cell.hasher }).put;
    });
    const fresh = messages.filter((message) => !isKnown(message));
    const added = fresh.map((given) => ({ message: this.#kept(given), given, run, isSaid: isSaid(given) }));
    const appended = appendRows(this.#cell, head, added);
    return {
      head: appended.head,
      writes: [...again, ...appended.writes],
      onWritten: () => {
        for (const [index, message] of fresh.entries()) {
          const kind = kindOf(message);
          if (kind !== undefined) this.#open.set(kind, { seq: head.next_seq + index, message });
        }
      },
    };
  }

  #kept(message: Message): Message {
    return this.#redact === undefined ? message : this.#redact(message);
  }

  #callRows(step: number, reply: Message, waiting: readonly string[]): ToolCallRow[] {
    const { namespace, session_id, run_id, agent, model } = this.#row;
    return toolCallsOf(reply).map(({ id, function: called }, position) => ({
      namespace,
      session_id,
      run_id,
      step,
      position,
      call_id: id,
      tool: called.name,
      agent,
      model,
      arguments: called.arguments,
      status: waiting.includes(id) ? "waiting" : "intended",
      started_at: isoTime(),
      duration_ms: null,
      child_run_id: null,
      result_ref: null,
      edited_arguments: null,
      question: null,
      exact: null,
    }));
  }

  // The calls of a step with the status of their results, and how many failed that were not settled before.
  #settledCalls(step: number, messages: readonly Message[]): { calls: ToolCallRow[]; failed: number } {
    const reply = messages.find(({ role }) => role === "assistant");
    const rows =
      this.#calls.length > 0 || reply === undefined ? this.#calls : this.#callRows(step, this.#kept(reply), []);
    const tools = messages.filter((message) => message.role === "tool");
    const results = new Map(tools.map((message) => [message.tool_call_id, message]));
    const calls = rows.map((call) => {
      const result = isOpenCall(call.status) && results.get(call.call_id);
      return result ? settleCall(call, result) : call;
    });
    const failed = calls.filter((call, index) => call !== rows[index] && call.status === "error").length;
    return { calls, failed };
  }

  #values(values: Readonly<Record<string, JsonValue>>, messages: readonly Message[]): ReadonlyMap<string, Value> {
    const { redact } = this.#cell.context;
    return new Map(
      Object.entries(values).map(([id, whole]) => {
        const value = redact === undefined ? whole : redactValue(redact, whole, resultOf(messages, id));
        const content = contentOf(JSON.stringify(value), this.#cell.hasher);
        return [id, { hash: content.hash, writes: newContent(this.#cell, content) }];
      }),
    );
  }
}

export interface StepWriterOptions {
  /** The rows from before the run was resumed. */
  readonly recorded: ResumedRun | undefined;
  /** The runs of subagents that this run and those below it have started. */
  readonly subagents: ReadonlySet<string>;
}

interface Value {
  readonly hash: string;
  readonly writes: readonly Write[];
}

interface Intent {
  readonly message: AssistantMessage;
  /** The ids of calls that will not start without approval. */
  readonly waiting: readonly string[];
  readonly input?: StepInput | undefined;
}

/** Identifies the reply and each result of a step. Undefined for notes: a step may have several. */
function kindOf(message: Message): string | undefined {
  if (message.role === "assistant") return "reply";
  return message.role === "tool" ? `result ${message.tool_call_id}` : undefined;
}

function settleCall(call: ToolCallRow, { metadata = {} }: ToolMessage): ToolCallRow {
  const { durationMs, childRunId } = metadata;
  return {
    ...call,
    status: resultStatus({ metadata }),
    duration_ms: typeof durationMs === "number" && Number.isFinite(durationMs) ? durationMs : null,
    child_run_id: typeof childRunId === "string" ? childRunId : call.child_run_id,
  };
}

function putCall(row: ToolCallRow): Write {
  return { table: "tool_calls", row };
}

function resultOf(messages: readonly Message[], id: string): Message {
  const isResult = (message: Message) => message.role === "tool" && message.tool_call_id === id;
  return messages.find(isResult) ?? { role: "tool", tool_call_id: id, content: "" };
}
