// OpenAI Responses items, and those of the OpenAI Agents SDK: messages, calls and outputs are separate items. Calls join the message before them.
import { type Importer, kindsOf } from "../import/importer.ts";
import { messagesFromItems } from "../import/responses-items.ts";

const roles = new Set(["system", "developer", "user", "assistant"]);
const parts = new Set(["input_text", "output_text", "input_image", "input_file", "refusal"]);

export const openaiResponses: Importer = {
  name: "OpenAI Responses items",
  recognises(item) {
    const { type, role, content } = item;
    if ("tool_calls" in item || "tool_call_id" in item || "parts" in item) return "no";
    if (typeof type === "string" && type !== "message") return isItem(type) ? "yes" : "no";
    if (typeof role !== "string" || !roles.has(role)) return "no";
    const kinds = kindsOf(content);
    if (kinds.some((kind) => !parts.has(kind))) return "no";
    return kinds.length > 0 ? "yes" : "maybe";
  },
  toMessages: messagesFromItems,
};

function isItem(type: string): boolean {
  return (
    type === "reasoning" ||
    type === "item_reference" ||
    /_(?:call|call_output|call_result|list_tools|approval_\w+)$/.test(type)
  );
}
