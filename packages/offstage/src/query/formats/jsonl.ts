// The jsonl format: one message on each line.
import type { ExportView } from "../export/export-view.ts";
import { jsonMessage } from "../export/exported-message.ts";
import { jsonItem } from "../readers.ts";

/** JSON text of each message and a newline; `fromExport` reads it back without loss. */
export function* jsonl(view: ExportView): Iterable<string> {
  for (let i = 0; i < view.length; i++) yield `${jsonItem(jsonMessage(view, i))}\n`;
}
