// The key of a message: its id, or a fingerprint of its words where it has none. For finding a message again, not for proof.
import type { AssistantMessage, Message, ToolMessage } from "../messages/message.ts";

/** The same for the same message, however often it was stored and read. */
export function messageKey(message: Message): string {
  const id = message.metadata?.id;
  if (typeof id === "string" && id !== "") return id;
  const { role, content, tool_calls: calls, tool_call_id: link } = message as AssistantMessage & ToolMessage;
  const text = JSON.stringify([role, content, calls, link]);
  return `#${text.length.toString(36)}.${hash(text).toString(36)}`;
}

/** A 32-bit FNV-1a hash of a text. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
