// OpenAI Responses items as our messages: calls join the message before them. For every format that holds such items.
import { isObject } from "../../base/json.ts";
import type { AssistantMessage, ContentPart, Message } from "../../messages/message.ts";
import { callFrom, contentFrom, type Fields, imagePart, partsOf, textFrom, withKnown } from "./importer.ts";

/** The messages of a list of items. */
export function messagesFromItems(items: readonly Fields[]): Message[] {
  const messages: Message[] = [];
  for (const item of items) addItem(messages, item);
  return messages;
}

const results = new Set(["function_call_output", "custom_tool_call_output", "function_call_result"]);

function addItem(messages: Message[], item: Fields): void {
  const { type = "message" } = item;
  if (type === "message") messages.push(toMessage(item));
  else if (type === "function_call" || type === "custom_tool_call") addCall(messages, item);
  else if (results.has(String(type))) messages.push(toToolMessage(item));
  else messages.push({ role: "assistant", content: [item as unknown as ContentPart], metadata: reasoningOf(item) });
}

function toMessage({ role, content, id }: Fields): Message {
  const said = contentFrom(partsOf(content).map(toPart)) ?? "";
  const asRole = role === "developer" ? "system" : (role as "user");
  return withKnown({ role: asRole, content: said }, { id: textFrom(id) });
}

function addCall(messages: Message[], { call_id, callId, name, arguments: text, input }: Fields): void {
  const call = callFrom(call_id ?? callId, name, text ?? input);
  const last = messages.at(-1);
  if (last?.role !== "assistant") messages.push({ role: "assistant", content: null, tool_calls: [call] });
  else
    messages[messages.length - 1] = {
      ...last,
      tool_calls: [...(last.tool_calls ?? []), call],
    } satisfies AssistantMessage;
}

function toToolMessage({ call_id, callId, name, output }: Fields): Message {
  const listed = isObject(output) && output.type === "text" ? [output] : output;
  const content = Array.isArray(listed) ? contentFrom(partsOf(listed).map(toPart)) : textFrom(listed);
  const named = typeof name === "string" ? { name } : undefined;
  return { role: "tool", tool_call_id: textFrom(call_id ?? callId), ...named, content: content ?? "" };
}

function toPart(part: Fields): ContentPart {
  const { type, text, refusal } = part;
  const image = part.image_url ?? part.image;
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
