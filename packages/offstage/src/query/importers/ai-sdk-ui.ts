// AI SDK UI messages: one message for a whole turn, with its steps as parts. Each step becomes a message.
import type { ContentPart, Message, ToolCall } from "../../messages/message.ts";
import {
  callFrom,
  contentFrom,
  type Fields,
  type Importer,
  imagePart,
  partsOf,
  textFrom,
  withKnown,
} from "../import/importer.ts";

export const aiSdkUi: Importer = {
  name: "AI SDK UI messages",
  recognises: ({ role, parts }) => (typeof role === "string" && Array.isArray(parts) ? "yes" : "no"),
  toMessages: (items) => items.flatMap(toMessages),
};

function toMessages(item: Fields): Message[] {
  const { role, id, createdAt } = item;
  const parts = partsOf(item.parts);
  const known = {
    id: textFrom(id),
    createdAt: createdAt instanceof Date ? createdAt.toISOString() : textFrom(createdAt),
  };
  const steps = role === "assistant" ? stepsOf(parts).flatMap(toStep) : [toPlain(role, parts)];
  return steps.map((message) => withKnown(message, known));
}

function toPlain(role: unknown, parts: readonly Fields[]): Message {
  return { role: role === "system" ? "system" : "user", content: contentFrom(parts.flatMap(toPart)) ?? "" };
}

// A step ends at the beginning of the next, or when text follows tools.
function stepsOf(parts: readonly Fields[]): Fields[][] {
  const steps: Fields[][] = [[]];
  let hasTools = false;
  for (const part of parts) {
    const isTool = toolOf(part) !== undefined;
    if (part.type === "step-start" || (hasTools && !isTool)) {
      steps.push([]);
      hasTools = false;
    }
    hasTools ||= isTool;
    if (part.type !== "step-start") steps.at(-1)?.push(part);
  }
  return steps.filter((step) => step.length > 0);
}

function toStep(parts: readonly Fields[]): Message[] {
  const tools = parts.flatMap((part) => toolOf(part) ?? []);
  const reasoning = parts.map(({ type, text }) => (type === "reasoning" ? textFrom(text) : "")).join("");
  const calls = tools.map(({ call }) => call);
  const content = contentFrom(parts.flatMap(toPart)) ?? null;
  const message: Message = { role: "assistant", content, ...(calls.length > 0 ? { tool_calls: calls } : undefined) };
  return [withKnown(message, { reasoning }), ...tools.flatMap(({ result }) => result ?? [])];
}

interface ToolPart {
  readonly call: ToolCall;
  readonly result: Message | undefined;
}

function toolOf(part: Fields): ToolPart | undefined {
  const type = textFrom(part.type);
  if (type === "tool-invocation") return toolFrom(part.toolInvocation as Fields, undefined);
  return type === "dynamic-tool" || type.startsWith("tool-") ? toolFrom(part, type.slice("tool-".length)) : undefined;
}

function toolFrom(part: Fields, kind: string | undefined): ToolPart {
  const { toolCallId, input, args } = part;
  const name = textFrom(part.toolName ?? kind);
  const answer = answerOf(part);
  const message = { role: "tool" as const, tool_call_id: textFrom(toolCallId), name };
  return {
    call: callFrom(toolCallId, name, input ?? args),
    result: answer && withKnown({ ...message, content: answer.content }, answer.known),
  };
}

// Undefined if the call has no answer, or only a preliminary one.
function answerOf(part: Fields): { readonly content: string; readonly known: Fields } | undefined {
  const { state, errorText, approval, preliminary, output, result } = part;
  if (state === "output-error") return { content: textFrom(errorText), known: { isError: true } };
  if (state === "output-denied") {
    const reason = textFrom((approval as Fields | undefined)?.reason);
    const content = `The call was rejected by the user and not run.${reason === "" ? "" : ` Reason: ${reason}`}`;
    return { content, known: { isError: true, status: "rejected" } };
  }
  const isAnswered = (state === "output-available" && preliminary !== true) || state === "result";
  return isAnswered ? { content: textFrom(output ?? result), known: {} } : undefined;
}

function toPart(part: Fields): ContentPart[] {
  const { type, text, mediaType, url } = part;
  if (type === "text") return [{ type, text: textFrom(text) }];
  if (type === "reasoning" || toolOf(part) !== undefined) return [];
  if (type === "file" && /^image\//.test(String(mediaType))) return [imagePart(url, mediaType)];
  return [part as unknown as ContentPart];
}
