// Translates a span to OpenTelemetry's GenAI conventions: its name, attributes and content. Pure; needs no OpenTelemetry package.
import { isObject, type JsonValue } from "../../../base/json.ts";
import type { SpanData } from "../../span-data.ts";
import { messageParts, outputMessage } from "./gen-ai-content.ts";
import { attributeNames, contentNames, names, operations, providerNames, usageNames } from "./gen-ai-names.ts";

export type AttributeValue = string | number | boolean | string[];
export type Attributes = Record<string, AttributeValue>;

/** The OpenTelemetry name: `invoke_agent assistant`, `chat gpt-5`, `execute_tool search`. Other kinds keep their own name. */
export function otelName(span: Pick<SpanData, "name" | "kind">): string {
  const operation = operations[span.kind];
  return operation === undefined ? span.name : `${operation} ${span.name}`;
}

/**
 * The attributes known when the span starts, which samplers can use. `conversation` is the id of the conversation, the same for
 * all spans of a run.
 */
export function startAttributes(span: SpanData, conversation: string | undefined): Attributes {
  const operation = operations[span.kind];
  const subject = subjectName(span.kind);
  return {
    ...(operation === undefined ? undefined : { [names.operation]: operation }),
    ...(subject === undefined ? undefined : { [subject]: span.name }),
    ...(conversation === undefined ? undefined : { [names.conversation]: conversation }),
    [`${names.own}.kind`]: span.kind,
    [`${names.own}.trace_id`]: span.traceId,
    [`${names.own}.span_id`]: span.spanId,
    ...metadataAttributes(span),
  };
}

/** The metadata as attributes; no content. */
export function metadataAttributes({ metadata, status }: SpanData): Attributes {
  const attributes: Attributes = {};
  for (const [key, value] of Object.entries(metadata)) {
    if (value === undefined || value === null) continue;
    // An abort is no error.
    if (key === "errorType" && status === "cancelled") continue;
    if (key === "usage" && isObject(value)) Object.assign(attributes, usageAttributes(value));
    else attributes[attributeNames[key] ?? `${names.own}.${key}`] = attributeValue(key, value);
  }
  if (status === "cancelled") attributes[`${names.own}.status`] = status;
  return attributes;
}

/** The content as JSON strings: some SDKs lose structured values. */
export function contentAttributes({ content, kind, metadata }: SpanData): Attributes {
  if (content === undefined) return {};
  const { messages, text, toolCalls, ...rest } = content;
  const attributes: Attributes = {};
  if (Array.isArray(messages)) attributes[contentNames.inputMessages] = JSON.stringify(messages.map(messageParts));
  const { finishReason } = metadata;
  if (kind === "model" && finishReason !== undefined)
    attributes[contentNames.outputMessages] = JSON.stringify([outputMessage({ text, toolCalls, finishReason })]);
  for (const [key, value] of Object.entries(rest)) {
    const name = (contentNames as Readonly<Record<string, string>>)[key] ?? `${names.own}.content.${key}`;
    if (value !== undefined) attributes[name] = typeof value === "string" ? value : JSON.stringify(value);
  }
  return attributes;
}

function subjectName(kind: string): string | undefined {
  if (kind === "run" || kind === "subagent") return names.agent;
  if (kind === "model") return names.model;
  return kind === "tool" ? names.tool : undefined;
}

function usageAttributes(usage: Record<string, unknown>): Attributes {
  const attributes: Attributes = {};
  for (const [key, name] of Object.entries(usageNames)) {
    if (typeof usage[key] === "number") attributes[name] = usage[key];
  }
  return attributes;
}

function attributeValue(key: string, value: JsonValue): AttributeValue {
  if (key === "finishReason") return [String(value)];
  if (key === "timeToFirstTokenMs" && typeof value === "number") return value / 1000;
  if (key === "provider" && typeof value === "string") return providerName(value);
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return [...value];
  return typeof value === "object" ? JSON.stringify(value) : value;
}

function providerName(provider: string): string {
  const words = provider.split(".");
  const [first = provider] = words;
  return providerNames[words.slice(0, 2).join(".")] ?? providerNames[first] ?? first;
}
