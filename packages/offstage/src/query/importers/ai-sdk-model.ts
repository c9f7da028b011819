// AI SDK model messages: parts with tool calls and tool results. UI messages are in ai-sdk-ui.ts.
import { isObject } from "../../base/json.ts";
import type { ContentPart, Message } from "../../messages/message.ts";
import {
  callFrom,
  contentFrom,
  type Fields,
  type Importer,
  imagePart,
  partsOf,
  recognisesContent,
  textFrom,
  withKnown,
} from "../import/importer.ts";

const roles = new Set(["system", "user", "assistant", "tool"]);
const marks = new Set([
  "tool-call",
  "tool-result",
  "reasoning",
  "image",
  "tool-approval-request",
  "tool-approval-response",
]);

export const aiSdkModel: Importer = {
  name: "AI SDK model messages",
  recognises(item) {
    const { role, content } = item;
    if (typeof role !== "string" || !roles.has(role)) return "no";
    if ("parts" in item || "tool_calls" in item || "tool_call_id" in item || "type" in item) return "no";
    if (partsOf(content).some((part) => /_/.test(String(part.type)) || "source" in part)) return "no";
    const hasFile = partsOf(content).some((part) => part.type === "file" && part.file === undefined);
    return hasFile ? "yes" : recognisesContent(content, marks);
  },
  toMessages: (items) => items.flatMap(toMessages),
};

function toMessages({ role, content }: Fields): Message[] {
  const parts = partsOf(content);
  const results = parts.filter(({ type }) => type === "tool-result").map(toToolMessage);
  if (role === "tool") return results;
  const said = contentFrom(parts.flatMap(toPart));
  if (role !== "assistant") return [{ role: role as "user", content: said ?? "" }];
  const calls = parts
    .filter(({ type }) => type === "tool-call")
    .map(({ toolCallId, toolName, input, args }) => callFrom(toolCallId, toolName, input ?? args));
  const reasoning = parts.map(({ type, text }) => (type === "reasoning" ? textFrom(text) : "")).join("");
  const message: Message = { role, content: said ?? null, ...(calls.length > 0 ? { tool_calls: calls } : undefined) };
  return [withKnown(message, { reasoning }), ...results];
}

function toToolMessage({ toolCallId, toolName, output, result, isError }: Fields): Message {
  const { type, value, reason } = (isObject(output) ? output : {}) as Fields;
  const isFailure = isError === true || /^error-|^execution-denied$/.test(String(type));
  const content = type === undefined ? (output ?? result) : (value ?? reason);
  const message: Message = {
    role: "tool",
    tool_call_id: textFrom(toolCallId),
    name: textFrom(toolName),
    content: type === "content" ? (contentFrom(partsOf(value).flatMap(toPart)) ?? "") : textFrom(content),
  };
  return withKnown(message, { isError: isFailure });
}

function toPart(part: Fields): ContentPart[] {
  const { type, text, image, mediaType, mimeType, data } = part;
  if (type === "text") return [{ type, text: textFrom(text) }];
  if (type === "tool-call" || type === "tool-result" || type === "reasoning") return [];
  if (type === "image") return [imagePart(image, mediaType ?? mimeType)];
  if (type === "file" && /^image\//.test(String(mediaType))) return [imagePart(data, mediaType)];
  return [part as unknown as ContentPart];
}
