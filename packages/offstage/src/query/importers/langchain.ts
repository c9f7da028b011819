// LangChain messages: instances, serialised instances, and stored messages.
import type { ContentPart, Message } from "../../messages/message.ts";
import {
  callFrom,
  contentFrom,
  type Fields,
  type Importer,
  imagePart,
  partsOf,
  textFrom,
  usageFrom,
  withKnown,
} from "../import/importer.ts";

const roles: Readonly<Record<string, Message["role"]>> = {
  human: "user",
  ai: "assistant",
  AIMessageChunk: "assistant",
  system: "system",
  developer: "system",
  tool: "tool",
  function: "tool",
};

export const langchain: Importer = {
  name: "LangChain messages",
  recognises: (item) => (kindOf(item) === undefined ? "no" : "yes"),
  toMessages: (items) => items.map((item) => toMessage(kindOf(item) as string, fieldsOf(item))),
};

function kindOf(item: Fields): string | undefined {
  const kind = typeKindOf(item);
  return kind !== undefined && Object.hasOwn(roles, kind) ? kind : undefined;
}

// An instance has a method for it, a serialised one a class name, a stored one `type` beside `data`.
function typeKindOf(item: Fields): string | undefined {
  for (const method of ["getType", "_getType"]) if (typeof item[method] === "function") return textFrom(item[method]());
  if (item.lc === 1 && Array.isArray(item.id)) return kindOfClass(textFrom(item.id.at(-1)));
  const isMessage = "content" in item || "content" in ((item.data ?? {}) as Fields);
  return isMessage && !("role" in item) && typeof item.type === "string" ? item.type : undefined;
}

function kindOfClass(name: string): string {
  return name.replace(/Message(?:Chunk)?$/, "").toLowerCase();
}

function fieldsOf(item: Fields): Fields {
  return (item.kwargs ?? item.data ?? item) as Fields;
}

function toMessage(kind: string, fields: Fields): Message {
  const role = roles[kind] as Message["role"];
  const content = contentFrom(partsOf(fields.content).flatMap(toPart));
  const { id, name, tool_call_id: callId, status } = fields;
  const known = { id: textFrom(id), usage: usageFrom(fields.usage_metadata) };
  if (role === "tool") {
    const named = name === undefined || name === null ? undefined : { name: textFrom(name) };
    const message: Message = { role, tool_call_id: textFrom(callId ?? name), ...named, content: content ?? "" };
    return withKnown(message, { ...known, isError: status === "error" });
  }
  if (role !== "assistant") return withKnown({ role, content: content ?? "" }, known);
  const calls = callsOf(fields);
  return withKnown(
    { role, content: content ?? null, ...(calls.length > 0 ? { tool_calls: calls } : undefined) },
    known,
  );
}

function callsOf(fields: Fields): ReturnType<typeof callFrom>[] {
  const calls = partsOf(fields.tool_calls);
  const raw = partsOf((fields.additional_kwargs as Fields | undefined)?.tool_calls);
  if (calls.length > 0 || raw.length === 0) return calls.map(({ id, name, args }) => callFrom(id, name, args));
  return raw.map(({ id, function: called }) => callFrom(id, (called as Fields)?.name, (called as Fields)?.arguments));
}

function toPart(part: Fields): ContentPart[] {
  const { type, text } = part;
  if (type === "text") return [{ type, text: textFrom(text) }];
  if (type === "tool_use") return [];
  if (type === "image_url" && typeof part.image_url === "string") return [imagePart(part.image_url)];
  return [part as unknown as ContentPart];
}
