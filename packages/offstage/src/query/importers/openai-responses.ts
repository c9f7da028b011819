// OpenAI Responses items: messages, calls and outputs are separate items. Calls join the message before them.
import type { AssistantMessage, ContentPart, Message } from "../../messages/message.ts";
import {
  callFrom,
  contentFrom,
  type Fields,
  type Importer,
  imagePart,
  kindsOf,
  partsOf,
  textFrom,
  withKnown,
} from "../import/importer.ts";

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
  toMessages(items) {
    const messages: Message[] = [];
    for (const item of items) addItem(messages, item);
    return messages;
  },
};

function isItem(type: string): boolean {
  return (
    type === "reasoning" || type === "item_reference" || /_(?:call|call_output|list_tools|approval_\w+)$/.test(type)
  );
}

function addItem(messages: Message[], item: Fields): void {
  const { type = "message" } = item;
  if (type === "message") messages.push(toMessage(item));
  else if (type === "function_call" || type === "custom_tool_call") addCall(messages, item);
  else if (type === "function_call_output" || type === "custom_tool_call_output") messages.push(toToolMessage(item));
  else messages.push({ role: "assistant", content: [item as unknown as ContentPart], metadata: reasoningOf(item) });
}

function toMessage({ role, content, id }: Fields): Message {
  const said = contentFrom(partsOf(content).map(toPart)) ?? "";
  const asRole = role === "developer" ? "system" : (role as "user");
  return withKnown({ role: asRole, content: said }, { id: textFrom(id) });
}

function addCall(messages: Message[], { call_id: id, name, arguments: text, input }: Fields): void {
  const call = callFrom(id, name, text ?? input);
  const last = messages.at(-1);
  if (last?.role !== "assistant") messages.push({ role: "assistant", content: null, tool_calls: [call] });
  else
    messages[messages.length - 1] = {
      ...last,
      tool_calls: [...(last.tool_calls ?? []), call],
    } satisfies AssistantMessage;
}

function toToolMessage({ call_id: id, output }: Fields): Message {
  const content = Array.isArray(output) ? contentFrom(partsOf(output).map(toPart)) : textFrom(output);
  return { role: "tool", tool_call_id: textFrom(id), content: content ?? "" };
}

function toPart(part: Fields): ContentPart {
  const { type, text, refusal, image_url: image } = part;
  if (type === "input_text" || type === "output_text" || type === "text") return { type: "text", text: textFrom(text) };
  if (type === "refusal") return { type, refusal: textFrom(refusal) };
  return type === "input_image" && image !== undefined ? imagePart(image) : (part as unknown as ContentPart);
}

function reasoningOf({ summary }: Fields): { readonly reasoning: string } {
  return {
    reasoning: partsOf(summary)
      .map(({ text }) => textFrom(text))
      .join("\n"),
  };
}
