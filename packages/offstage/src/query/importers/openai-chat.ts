// OpenAI chat messages, which are ours as well: returned as they are. Deprecated forms become current ones.
import type { Message } from "../../messages/message.ts";
import { callFrom, type Fields, type Importer, kindsOf, textFrom } from "../import/importer.ts";

const roles = new Set(["system", "developer", "user", "assistant", "tool", "function"]);
// Types of parts that only other formats have.
const foreign = new Set([
  ...["tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "document"],
  ...["tool-call", "tool-result", "reasoning", "image", "tool-approval-request", "tool-approval-response"],
  ...["input_text", "output_text", "input_image", "input_file", "summary_text"],
]);

export const openaiChat: Importer = {
  name: "OpenAI chat messages",
  recognises(item) {
    const { role, content } = item;
    if (typeof role !== "string" || !roles.has(role) || "parts" in item || typeof item.type === "string") return "no";
    if (kindsOf(content).some((kind) => foreign.has(kind)) || hasModelFile(content)) return "no";
    const isMarked = "tool_calls" in item || "tool_call_id" in item || "function_call" in item || "metadata" in item;
    return isMarked || role === "developer" || role === "function" ? "yes" : "maybe";
  },
  toMessages: (items) => items.map(toMessage),
};

// A file part of the AI SDK has its data beside its type, one of OpenAI in `file`.
function hasModelFile(content: unknown): boolean {
  return Array.isArray(content) && content.some((part) => part?.type === "file" && part.file === undefined);
}

function toMessage(item: Fields): Message {
  if (item.role === "developer") return { ...item, role: "system" } as unknown as Message;
  if (item.role === "function") return toToolMessage(item);
  return item.function_call === undefined ? (item as unknown as Message) : withToolCall(item);
}

// Before calls had ids, the name linked a call and its result.
function toToolMessage({ name, content }: Fields): Message {
  return { role: "tool", tool_call_id: textFrom(name), name: textFrom(name), content: textFrom(content) };
}

function withToolCall({ function_call: call, ...fields }: Fields): Message {
  const { name, arguments: text } = (call ?? {}) as Fields;
  if (name === undefined) return fields as unknown as Message;
  return { ...fields, tool_calls: [callFrom(name, name, text)] } as unknown as Message;
}
