// Applies the redactor of a store to everything that is stored. A redactor takes messages, so other data is passed to it as the content of one.

import { isObject, type JsonObject, type JsonValue, parseJson } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { isThenable } from "../../base/thenable.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import {
  type Message,
  parseMessage,
  type ToolCall,
  textOf,
  toolCallsOf,
  withMetadata,
  withoutProviderParts,
} from "../../messages/message.ts";
import { redactSpan } from "../../tracing/redact-span.ts";
import type { SpanData } from "../../tracing/span-data.ts";
import type { RunEnd } from "../ports/journal.ts";
import type { RunRecord, StepRecord } from "../ports/run-record.ts";

/** Changes a message before it is written. */
export type MessageRedactor = (message: Message) => Message;

/**
 * Checks the redactor of a user: it must return a message of the same role, or nothing is written. Calls whose arguments it changed
 * are marked, because the stored call is not the one that the model made.
 */
export function checkRedactor(redact: MessageRedactor): MessageRedactor {
  return (message) => {
    const kept = withoutQuotes(redact, keptOf(redact, message), message);
    const changed = changedCalls(message, kept);
    return changed.length === 0 ? kept : withMetadata(kept, { redactedCalls: changed });
  };
}

// The redactor gets a copy, which it may modify: the run continues with the original message.
function keptOf(redact: MessageRedactor, message: Message): Message {
  let given: unknown;
  try {
    given = redact(JSON.parse(JSON.stringify(message)) as Message);
  } catch (error) {
    throw failed(`threw: ${messageOf(error)}.`, error);
  }
  const kept = isMessage(given) ? stored(given) : given;
  if (!isMessage(kept) || kept.role !== message.role)
    throw failed(`must return a message of the role "${message.role}" synchronously; it returned ${shownKept(kept)}.`);
  return withIds(kept, message);
}

// The provider's own parts repeat the text of a reply, and its reasoning. Those that a redactor left alone although it removes something
// of them are dropped: changed ones would be refused by the provider.
function withoutQuotes(redact: MessageRedactor, kept: Message, { content, metadata }: Message): Message {
  const parts = metadata?.providerParts;
  if (parts === undefined) return kept;
  const text = JSON.stringify(parts);
  if (JSON.stringify(kept.metadata?.providerParts) !== text) return kept;
  const isKept =
    JSON.stringify(kept.content) === JSON.stringify(content) &&
    keptOf(redact, { role: "assistant", content: text }).content === text;
  return isKept ? kept : withoutProviderParts(kept);
}

// Ids stay as they are, whatever the redactor does: rows, calls and results are found by them.
function withIds(kept: Message, { metadata, ...message }: Message): Message {
  const calls = toolCallsOf(kept);
  const before = toolCallsOf(message as Message);
  if (calls.length !== before.length)
    throw failed(`must keep the number of tool calls, ${before.length}; it returned ${calls.length}.`);
  const restored = {
    ...kept,
    ...(calls.length > 0 && { tool_calls: calls.map((call, place) => ({ ...call, id: before[place]?.id ?? "" })) }),
    ...(message.role === "tool" && { tool_call_id: message.tool_call_id }),
  } as Message;
  const ids = Object.entries(metadata ?? {}).filter(([name]) => keptIds.has(name));
  return ids.length === 0 ? restored : withMetadata(restored, Object.fromEntries(ids));
}

const keptIds = new Set(["id", "runId", "parentRunId", "step", "agent", "childRunId", "traceId", "spanId"]);

// The message as it will be read back.
function stored(given: Message): Message {
  try {
    return parseMessage(JSON.parse(JSON.stringify(given)));
  } catch (error) {
    throw failed(`must return a message that can be stored: ${messageOf(error)}`, error);
  }
}

function shownKept(kept: unknown): string {
  if (isThenable(kept)) return "a promise";
  return isMessage(kept) ? `one of the role "${kept.role}"` : shownValue(kept);
}

function failed(what: string, cause?: unknown): OffstageError {
  const sentence = `The redactor of the store ${what} Nothing was written.`;
  return new OffstageError("redactor-failed", sentence, cause === undefined ? {} : { cause });
}

// Compares by position: the redactor may change ids too.
function changedCalls(message: Message, kept: Message): number[] {
  const before = toolCallsOf(message);
  const isChanged = (call: ToolCall, place: number) => {
    const { id, function: called } = before[place] ?? {};
    if (called?.name !== call.function.name || called.arguments !== call.function.arguments) return true;
    return rawOf(message, id) !== rawOf(kept, call.id);
  };
  return toolCallsOf(kept).flatMap((call, place) => (isChanged(call, place) ? [place] : []));
}

// The raw text of arguments that could not be parsed.
function rawOf({ metadata }: Message, id = ""): unknown {
  return isObject(metadata?.inputTexts) ? metadata.inputTexts[id] : undefined;
}

/** Redacts the full value of a clipped result, as the content of its message. */
export function redactValue(redact: MessageRedactor, value: JsonValue, result: Message): JsonValue {
  if (typeof value === "string") return textOf(redact({ ...result, content: value } as Message));
  const text = textOf(redact({ ...result, content: JSON.stringify(value) } as Message));
  // Text that is no longer JSON is stored as text.
  return parseJson(text) ?? text;
}

/** Redacts the notes and the error of a run's end, which may quote a tool or a model. */
export function redactEnd(redact: MessageRedactor, end: RunEnd, given: Given): RunEnd {
  const { error, notes } = end;
  return {
    ...end,
    ...(notes && { notes: redactNotes(redact, notes, given) }),
    ...(error && { error: { ...error, message: textOf(redact({ role: "assistant", content: error.message })) } }),
  };
}

/** Redacts the notes of a step, and the texts of its failed attempts and votes, which may quote a model or a tool. */
export function redactStep(redact: MessageRedactor, step: StepRecord, given: Given): StepRecord {
  const { retries, verdicts, notes } = step;
  const redactText = (content: string) => textOf(redact({ role: "assistant", content }));
  return {
    ...step,
    ...(notes && { notes: redactNotes(redact, notes, given) }),
    ...(retries && { retries: retries.map((each) => ({ ...each, error: redactText(each.error) })) }),
    ...(verdicts && {
      verdicts: verdicts.map((each) => ({
        ...each,
        reason: redactText(each.reason),
        message: redactText(each.message),
      })),
    }),
  };
}

/**
 * Redacts the content of spans. Content that is no longer an object becomes `{ redacted }`. If the redactor fails, the content is
 * dropped and the error reported, so that a span never fails a run.
 */
export function redactSpans(
  redact: MessageRedactor,
  spans: readonly SpanData[],
  report: (error: OffstageError) => void,
): readonly SpanData[] {
  return spans.map((span) => {
    if (span.content === undefined) return span;
    const { content, ...plain } = redactSpan(span, (texts) => texts);
    try {
      return { ...plain, content: redactContent(redact, content ?? {}) };
    } catch (error) {
      report(error as OffstageError);
      return plain;
    }
  });
}

function redactContent(redact: MessageRedactor, content: JsonObject): JsonObject {
  const value = redactValue(redact, content, { role: "assistant", content: "" });
  return isObject(value) ? (value as JsonObject) : { redacted: value };
}

/** The redactor for a resumed run: messages that were read from the store are already redacted. */
export function redactOnce(redact: MessageRedactor, recorded: RunRecord): MessageRedactor {
  const known = recordedById(recorded);
  return (message) => {
    const stored = known.get(message.metadata?.id ?? "");
    if (stored === undefined) return redact(message);
    // A message with partial text has the id of the original message, but no calls.
    if (toolCallsOf(stored).length !== toolCallsOf(message).length)
      return stored.content === message.content ? message : redact(message);
    const kept = withoutProviderParts(stored);
    return message.metadata?.interrupted ? withMetadata(kept, { interrupted: true }) : kept;
  };
}

function recordedById({ steps, openStep }: RunRecord): ReadonlyMap<string, Message> {
  const open = openStep === undefined ? [] : [openStep.message, ...openStep.results];
  const messages = [...steps.flatMap((step) => step.messages), ...open];
  return new Map(messages.flatMap((message) => (message.metadata?.id ? [[message.metadata.id, message]] : [])));
}

/** The messages that a run read from the store. */
export interface Given {
  readonly history: readonly Message[];
  readonly recorded?: RunRecord | undefined;
}

// Redacts the messages in notes, such as the summary of a compaction, except those that were read from the store.
function redactNotes(redact: MessageRedactor, notes: JsonObject, given: Given): JsonObject {
  const stored = new Set<unknown>(given.history);
  for (const message of messagesIn(given.recorded)) stored.add(message);
  return redactWithin(notes, (message) => (stored.has(message) ? message : redact(message))) as JsonObject;
}

function redactWithin(value: unknown, redact: MessageRedactor): unknown {
  if (isMessage(value)) return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactWithin(item, redact));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, redactWithin(field, redact)]));
}

/** All messages within a value, such as the notes of a run. */
export function messagesIn(value: unknown): Message[] {
  if (isMessage(value)) return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(messagesIn) : [];
}

function isMessage(value: unknown): value is Message {
  return isObject(value) && typeof value.role === "string" && "content" in value;
}
