// The exported message: what an export adds to a message, and how an import takes it off again. Nothing a message has is
// ever replaced.
import { isObject } from "../../base/json.ts";
import type { Message } from "../../messages/message.ts";
import type { ExportMetadata, ExportView } from "./export-view.ts";

/** A message as the dict format gives it. */
export type ExportedMessage = Message & { readonly _metadata: ExportMetadata };

const added = new Set(["index", "token_count", "role", "timestamp", "original_index"]);

/** A copy of the message with `_metadata`; keys that it already has there win. */
export function exportedMessage<M extends ExportMetadata>(
  message: Message,
  metadata: M,
): Message & { readonly _metadata: M } {
  const fields: Record<string, unknown> = isObject(message) ? message : { content: message };
  const { _metadata: given } = fields;
  const merged = isObject(given) ? { ...metadata, ...given } : (given ?? metadata);
  return { ...fields, _metadata: merged } as unknown as Message & { readonly _metadata: M };
}

/** A message as json and jsonl write it: with `_metadata` where that is asked for. */
export function jsonMessage(view: ExportView, place: number): unknown {
  if (view.options.includeMetadata !== true) return view.message(place);
  return exportedMessage(view.message(place), { ...view.metadata(place), timestamp: view.timestamp(place) });
}

/** The message as it was before an export added `_metadata`; anything else in that place stays. */
export function withoutMetadata(message: Message): Message {
  const { _metadata: metadata, ...fields } = message as Message & { readonly _metadata?: unknown };
  return isAdded(metadata) ? (fields as Message) : message;
}

function isAdded(metadata: unknown): boolean {
  if (!isObject(metadata) || !Object.keys(metadata).every((key) => added.has(key))) return false;
  const { index, token_count: tokens, role } = metadata;
  return typeof index === "number" && typeof tokens === "number" && typeof role === "string";
}
