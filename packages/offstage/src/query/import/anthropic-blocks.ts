// Anthropic messages as ours: content blocks become parts, calls and results. For every format that holds such messages.
import type { ContentPart, Message } from "../../messages/message.ts";
import { callFrom, contentFrom, type Fields, imagePart, partsOf, textFrom, usageFrom, withKnown } from "./importer.ts";

/** The messages of one Anthropic message: tool results are messages of their own. */
export function messagesFromBlocks(item: Fields): Message[] {
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
