// The jsonl format: one message on each line.
import type { ExportView } from "../export-view.ts";
import { jsonText } from "../readers.ts";
import { withMetadata } from "../with-metadata.ts";

/** JSON text of each message and a newline; `fromExport` reads it back without loss. */
export function* jsonl(view: ExportView): Iterable<string> {
  const { includeMetadata = false } = view.options;
  for (let i = 0; i < view.length; i++) {
    const message = view.message(i);
    const written = includeMetadata
      ? withMetadata(message, { ...view.metadata(i), timestamp: view.timestamp(i) })
      : message;
    yield `${jsonText([written]).slice(1, -1)}\n`;
  }
}
