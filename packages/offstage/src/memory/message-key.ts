// The key of a message: its id, or a fingerprint of its content if it has no id. Identifies a message, but is not secure.
import type { AssistantMessage, Message, ToolMessage } from "../messages/message.ts";

/** Returns the same key for the same message, before and after it was stored. */
export function messageKey(message: Message): string {
  const id = message.metadata?.id;
  if (typeof id === "string" && id !== "") return id;
  const { role, content, tool_calls: calls, tool_call_id: link } = message as AssistantMessage & ToolMessage;
  const text = JSON.stringify([role, content, calls, link]);
  return `#${text.length.toString(36)}.${hash(text).toString(36)}`;
}

/** The 32-bit FNV-1a hash of a text. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
