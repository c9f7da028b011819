// Items of the OpenAI Agents SDK, and messages: a call is an item of its own there, and a part of its message here.
import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import {
  type AssistantMessage,
  type Content,
  type ContentPart,
  type Message,
  type ToolCall,
  textOf,
  toolCallsOf,
  withMetadata,
} from "../../messages/message.ts";

/** An item of a session of the OpenAI Agents SDK. */
export type OpenAiItem = Readonly<Record<string, unknown>>;

/** The metadata that holds an item which its message alone would not give back. */
const original = "openAiItem";

/** The items of a message. A message that was an item gives that item back, exactly. */
export function itemsOf(message: Message): OpenAiItem[] {
  const kept = message.metadata?.[original];
  if (isObject(kept)) return [structuredClone(kept)];
  if (message.role === "tool") return [resultItem(message.tool_call_id, message)];
  if (message.role !== "assistant") return [{ type: "message", role: message.role, content: inputContent(message) }];
  const text = textOf(message);
  const said = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] };
  return [...(text === "" ? [] : [said]), ...toolCallsOf(message).map(callItem)];
}

function callItem({ id, function: { name, arguments: input } }: ToolCall): OpenAiItem {
  return { type: "function_call", callId: id, name, arguments: input, status: "completed" };
}

function resultItem(callId: string, message: Message): OpenAiItem {
  const output = { type: "text", text: textOf(message) };
  return { type: "function_call_result", name: message.name ?? "tool", callId, status: "completed", output };
}

function inputContent(message: Message): unknown {
  if (!Array.isArray(message.content)) return textOf(message);
  return (message.content as readonly unknown[]).filter(isObject).map((part) => {
    const { type, text, image_url, file, url, filename } = part;
    if (isObject(image_url)) return { type: "input_image", image: image_url.url };
    const address = isObject(file) ? file.file_data : type === "file" ? url : undefined;
    if (address !== undefined)
      return { type: "input_file", file: address, ...(filename !== undefined && { filename }) };
    return { type: "input_text", text: typeof text === "string" ? text : "" };
  });
}

/** The message of an item. Items that no message can hold, such as reasoning, are kept, and not shown to models. */
export function messageOfItem(item: unknown): Message {
  if (!isObject(item)) throw new OffstageError("invalid-message", "An item of a session must be an object.");
  const message = readItem(item);
  const isExact = isDeepStrictEqual(itemsOf(message), [item]);
  return isExact ? message : withMetadata(message, { [original]: JSON.parse(JSON.stringify(item)) });
}

function readItem(item: OpenAiItem): Message {
  const { type = "message", role, callId, name, output } = item;
  if (type === "message" && (role === "user" || role === "system")) return { role, content: contentOf(item.content) };
  if (type === "message" && role === "assistant") return { role, content: contentOf(item.content) };
  if (type === "function_call") {
    const call = { name: String(name), arguments: String(item.arguments ?? "{}") };
    return { role: "assistant", content: null, tool_calls: [{ id: String(callId), type: "function", function: call }] };
  }
  if (type === "function_call_result")
    return { role: "tool", tool_call_id: String(callId), name: String(name), content: contentOf(output) };
  return { role: "assistant", content: null };
}

function contentOf(content: unknown): Content {
  if (typeof content === "string") return content;
  const parts = (Array.isArray(content) ? content : [content]).filter(isObject).flatMap(partOf);
  return parts.every((part) => part.type === "text") ? parts.map(({ text }) => text).join("") : parts;
}

function partOf(part: Record<string, unknown>): ContentPart[] {
  const { text, refusal, image, file, filename } = part;
  if (typeof text === "string") return [{ type: "text", text }];
  if (typeof refusal === "string") return [{ type: "refusal", refusal }];
  const address = addressOf(image) ?? addressOf(file);
  if (address === undefined) return [];
  if (image !== undefined) return [{ type: "image_url", image_url: { url: address } }];
  return [{ type: "file", file: { file_data: address, ...(typeof filename === "string" && { filename }) } }];
}

function addressOf(source: unknown): string | undefined {
  if (typeof source === "string") return source;
  return isObject(source) && typeof source.url === "string" ? source.url : undefined;
}

/** The messages of items. Calls join the reply that they belong to. */
export function messagesOfItems(items: readonly unknown[]): Message[] {
  const messages: Message[] = [];
  for (const message of items.map(messageOfItem)) {
    const last = messages.at(-1);
    const calls = toolCallsOf(message);
    if (last?.role === "assistant" && calls.length > 0) messages[messages.length - 1] = withCalls(last, calls);
    else messages.push(message);
  }
  return messages;
}

function withCalls(message: AssistantMessage, calls: readonly ToolCall[]): AssistantMessage {
  return { ...message, tool_calls: [...toolCallsOf(message), ...calls] };
}
