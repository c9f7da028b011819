// The exported message: adds `_metadata` for an export, and removes it for an import. Existing fields of a message are never replaced.
import { isObject } from "../../base/json.ts";
import type { Message } from "../../messages/message.ts";
import type { ExportMetadata, ExportView } from "./export-view.ts";

/** A message in the dict format. */
export type ExportedMessage = Message & { readonly _metadata: ExportMetadata };

const added = new Set(["index", "token_count", "role", "timestamp", "original_index"]);

/** A copy of the message with `_metadata`. Keys that it already has there win. */
export function exportedMessage<M extends ExportMetadata>(
  message: Message,
  metadata: M,
): Message & { readonly _metadata: M } {
  const fields: Record<string, unknown> = isObject(message) ? message : { content: message };
  const { _metadata: given } = fields;
  const merged = isObject(given) ? { ...metadata, ...given } : (given ?? metadata);
  return { ...fields, _metadata: merged } as unknown as Message & { readonly _metadata: M };
}

/** A message in json and jsonl: with `_metadata` if the options say so. */
export function jsonMessage(view: ExportView, index: number): unknown {
  if (view.options.includeMetadata !== true) return view.message(index);
  return exportedMessage(view.message(index), { ...view.metadata(index), timestamp: view.timestamp(index) });
}

/** The message before an export added `_metadata`. Any other `_metadata` stays. */
export function withoutMetadata(message: Message): Message {
  const { _metadata: metadata, ...fields } = message as Message & { readonly _metadata?: unknown };
  return isAdded(metadata) ? (fields as Message) : message;
}

function isAdded(metadata: unknown): boolean {
  if (!isObject(metadata) || !Object.keys(metadata).every((key) => added.has(key))) return false;
  const { index, token_count: tokens, role } = metadata;
  return typeof index === "number" && typeof tokens === "number" && typeof role === "string";
}
