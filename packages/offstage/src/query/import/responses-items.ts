// OpenAI Responses items as our messages: calls join the message before them. For every format that holds such items.
import type { AssistantMessage, ContentPart, Message } from "../../messages/message.ts";
import { callFrom, contentFrom, type Fields, imagePart, partsOf, textFrom, withKnown } from "./importer.ts";

/** The messages of a list of items. */
export function messagesFromItems(items: readonly Fields[]): Message[] {
  const messages: Message[] = [];
  for (const item of items) addItem(messages, item);
  return messages;
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
