// Anthropic messages: content blocks, with tool results inside user messages.
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
  usageFrom,
  withKnown,
} from "../import/importer.ts";

const marks = new Set([
  "tool_use",
  "tool_result",
  "thinking",
  "redacted_thinking",
  "server_tool_use",
  "document",
  "image",
]);

export const anthropic: Importer = {
  name: "Anthropic messages",
  recognises(item) {
    const { role, content, type } = item;
    const isOther = "parts" in item || "tool_calls" in item || "tool_call_id" in item;
    if ((role !== "user" && role !== "assistant" && role !== "system") || isOther) return "no";
    if (type !== undefined && type !== "message") return "no";
    if (partsOf(content).some((part) => part.type === "image" && part.source === undefined)) return "no";
    if (partsOf(content).some((part) => /^(?:input|output)_text$|-/.test(String(part.type)))) return "no";
    return type === "message" ? "yes" : recognisesContent(content, marks);
  },
  toMessages: (items) => items.flatMap(toMessages),
};

function toMessages(item: Fields): Message[] {
  const blocks = partsOf(item.content);
  const results = blocks.filter(({ type }) => type === "tool_result").map(toToolMessage);
  const rest = blocks.filter(({ type }) => type !== "tool_result");
  const content = contentFrom(rest.flatMap(toPart));
  if (item.role === "assistant") return [...results, toAssistant(item, rest, content)];
  if (content === undefined && results.length > 0) return results;
  return [...results, { role: item.role as "user", content: content ?? "" }];
}

function toAssistant(item: Fields, blocks: readonly Fields[], content: ReturnType<typeof contentFrom>): Message {
  const calls = blocks
    .filter(({ type }) => type === "tool_use" || type === "server_tool_use")
    .map(({ id, name, input }) => callFrom(id, name, input));
  const reasoning = blocks.map(({ thinking }) => textFrom(thinking)).join("");
  const message: Message = {
    role: "assistant",
    content: content ?? null,
    ...(calls.length > 0 ? { tool_calls: calls } : undefined),
  };
  return withKnown(message, { id: item.id, reasoning, usage: usageFrom(item.usage) });
}

function toToolMessage({ tool_use_id: id, content, is_error: isError }: Fields): Message {
  const parts = contentFrom(partsOf(content).flatMap(toPart));
  return withKnown({ role: "tool", tool_call_id: textFrom(id), content: parts ?? "" }, { isError: isError === true });
}

function toPart(block: Fields): ContentPart[] {
  const { type, source } = block;
  if (type === "tool_use" || type === "server_tool_use" || type === "thinking") return [];
  if (type === "image") {
    const { url, data, media_type: mediaType } = (source ?? {}) as Fields;
    return [imagePart(url ?? data, mediaType)];
  }
  return [type === "text" ? { type, text: textFrom(block.text) } : (block as unknown as ContentPart)];
}
