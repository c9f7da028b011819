// The dict format: the messages as plain objects, each with its computed fields.
import type { ExportView } from "../export/export-view.ts";
import { type ExportedMessage, exportedMessage } from "../export/exported-message.ts";

/** A copy of each message with `_metadata` added. */
export function dict(view: ExportView): ExportedMessage[] {
  return Array.from({ length: view.length }, (_, i) => exportedMessage(view.message(i), view.metadata(i)));
}
