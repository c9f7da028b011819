// Anthropic messages: content blocks, with tool results inside user messages.
import { messagesFromBlocks } from "../import/anthropic-blocks.ts";
import { type Importer, partsOf, recognisesContent } from "../import/importer.ts";

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
  toMessages: (items) => items.flatMap(messagesFromBlocks),
};
