// The step under way: its messages and the rows of its calls, and the rows that each write of the run changes of them.
import type { JsonValue } from "../../base/json.ts";
import {
  type AssistantMessage,
  type Message,
  resultStatus,
  type ToolMessage,
  toolCallsOf,
  withMetadata,
} from "../../messages/message.ts";
import { putMessages, putNewContent } from "../conversation/conversation.ts";
import type { Change, SessionCell } from "../head/session-cell.ts";
import type { CallChange } from "../ports/journal.ts";
import type { InputRecord, InputSetup } from "../ports/run-record.ts";
import type { RunRow, ToolCallRow } from "../ports/tables.ts";
import { type Content, contentOf, formatInput, type RowRef } from "../rows/message-row.ts";
import { answeredQuestion, questionText } from "../rows/question.ts";
import { type MessageRedactor, redactValue } from "../rows/redaction.ts";
import { isOpenCall, isoTime } from "../rows/run-row.ts";

export interface OpenStep {
  /** The reply and the results as they were passed in, by name: each has one row. */
  readonly messages: Map<string, Message>;
  /** By call id. */
  readonly calls: Map<string, ToolCallRow>;
  /** The reference of the model input. */
  inputRef?: string | undefined;
}

/** The parts of a step that a write adds or replaces. */
export interface StepChange {
  readonly messages?: readonly Message[] | undefined;
  readonly calls?: readonly ToolCallRow[] | undefined;
}

export function newStep({ messages = [], calls = [] }: StepChange = {}): OpenStep {
  const step: OpenStep = { messages: new Map(), calls: new Map() };
  applyChange(step, { messages, calls });
  return step;
}

/** Changes a step once the rows of the change are stored. */
export function applyChange(step: OpenStep, { messages = [], calls = [] }: StepChange): void {
  for (const message of messages) step.messages.set(nameOf(message) ?? "", message);
  for (const call of calls) step.calls.set(call.call_id, call);
}

/** Identifies the reply and each result of a step. Undefined for a note: a step may have several. */
export function nameOf(message: Message): string | undefined {
  if (message.role === "assistant") return "reply";
  return message.role === "tool" ? `result ${message.tool_call_id}` : undefined;
}

/** The rows of the calls of a reply, which is passed in as it is stored; those in `waiting` will not start without approval. */
export function callsOf(
  stored: Message,
  { row, step, waiting = [] }: { readonly row: RunRow; readonly step: number; readonly waiting?: readonly string[] },
): ToolCallRow[] {
  const { namespace, session_id, run_id, agent, model } = row;
  return toolCallsOf(stored).map(({ id, function: called }, position) => ({
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

/** A call changed; nothing if there is no such call. */
export function changedCall(
  { calls }: Pick<OpenStep, "calls">,
  toolCallId: string | undefined,
  change: Partial<ToolCallRow>,
): StepChange {
  const call = calls.get(toolCallId ?? "");
  return { calls: call && [{ ...call, ...change }] };
}

/** The call with its result. The status of a call that had one before stays. */
export function settledCall(call: ToolCallRow, { metadata = {} }: ToolMessage): ToolCallRow {
  if (!isOpenCall(call.status)) return call;
  const { durationMs, childRunId } = metadata;
  return {
    ...call,
    status: resultStatus({ metadata }),
    duration_ms: typeof durationMs === "number" && Number.isFinite(durationMs) ? durationMs : null,
    child_run_id: typeof childRunId === "string" ? childRunId : call.child_run_id,
  };
}

/** The decision of a person about a call. `reply` is the reply with the changed input, and as it is stored. */
export function decidedCall(
  step: OpenStep,
  { toolCallId, editedInput, answers }: Omit<CallChange, "runId">,
  { reply, stored, redact }: Decision,
): StepChange {
  const edited = toolCallsOf(stored).find(({ id }) => id === toolCallId)?.function.arguments;
  const { calls } = changedCall(step, toolCallId, {
    ...(editedInput !== undefined && { edited_arguments: edited ?? null }),
    // It no longer waits: from now on it may take effect.
    ...(answers && { question: questionText(answeredQuestion(answers), redact), status: "intended" }),
  });
  return { calls, messages: editedInput === undefined ? [] : [reply] };
}

interface Decision {
  readonly reply: Message;
  readonly stored: Message;
  readonly redact: MessageRedactor | undefined;
}

/** A reply that a person edited, as it is stored. Its other calls may have been read from the store, and keep their marks. */
export function redactedEdit(redact: MessageRedactor | undefined, message: AssistantMessage): AssistantMessage {
  if (redact === undefined) return message;
  const kept = redact(message) as AssistantMessage;
  const marks = new Set([...(message.metadata?.redactedCalls ?? []), ...(kept.metadata?.redactedCalls ?? [])]);
  return marks.size === 0 ? kept : withMetadata(kept, { redactedCalls: [...marks].sort((a, b) => a - b) });
}

/** The run and the number of a step. */
export interface StepOwner {
  readonly runId: string;
  readonly agent: string;
  readonly step: number;
}

export interface PutOptions {
  /** The step before the change. */
  readonly step: OpenStep;
  readonly run: StepOwner;
  readonly redact: MessageRedactor | undefined;
}

/** Puts the rows of a change of a step, which has changed once they are stored. A message that has a row already is put there again. */
export function putStepChange(
  cell: SessionCell,
  change: Change,
  changed: StepChange,
  { step, run, redact }: PutOptions,
): void {
  const { messages = [], calls = [] } = changed;
  for (const given of messages) {
    const known = step.messages.get(nameOf(given) ?? "");
    if (known === given) continue;
    const seq = known && cell.refs.get(known)?.seq;
    putMessages(cell, change, [{ message: redact?.(given) ?? given, given, run, isSaid: false, seq }]);
  }
  for (const row of calls) change.writes.push({ table: "tool_calls", row });
  change.onStored.push(() => applyChange(step, changed));
}

/** A longer reference is itself kept as a content. */
const longestRef = 400;

/**
 * Puts the contents of a model input, and returns its reference; undefined if the store keeps no inputs. The messages in `stored` were
 * read from the store, so they are redacted already. The reader is records/model-input.ts.
 */
export function putInput(
  cell: SessionCell,
  change: Change,
  input: InputRecord | undefined,
  stored: ReadonlySet<Message>,
): string | undefined {
  const { keepInput, redact } = cell.context;
  if (input === undefined || keepInput === false) return undefined;
  const keep = (content: Content): string => {
    if (keepInput === "all") putNewContent(cell, change, content);
    return content.hash;
  };
  const refOf = (message: Message): RowRef | string => {
    const ref = cell.inputRef(message);
    if (ref !== undefined) return ref;
    const kept = redact === undefined || stored.has(message) ? message : redact(message);
    return keep(contentOf(JSON.stringify(kept), cell.hasher));
  };
  const text = formatInput(keep(setupOf(cell, input.setup)), input.messages?.map(refOf));
  return text.length <= longestRef ? text : `@${keep(contentOf(text, cell.hasher))}`;
}

// The setup of an agent is the same object in every run, so its text is made once.
function setupOf({ context, hasher }: SessionCell, setup: InputSetup): Content {
  const known = context.setups.get(setup);
  if (known !== undefined) return known;
  const { redact } = context;
  const value = setup as unknown as JsonValue;
  const kept = redact === undefined ? value : redactValue(redact, value, { role: "system", content: "" });
  const content = contentOf(JSON.stringify(kept), hasher);
  context.setups.set(setup, content);
  return content;
}
