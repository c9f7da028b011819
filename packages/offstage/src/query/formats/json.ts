// The json format: one array of messages, as JSON.stringify would write it, in pieces.
import type { ExportView } from "../export-view.ts";
import { jsonText } from "../readers.ts";
import { withMetadata } from "../with-metadata.ts";

/** How many messages are written at once. */
const batchSize = 64;

/** JSON text of all messages; `fromExport` reads it back without loss. */
export function* json(view: ExportView): Iterable<string> {
  const { indent = 2 } = view.options;
  // "[\n" and "\n]" around an indented array, "[" and "]" around one on one line.
  const bracket = jsonText([0], indent).length > 3 ? 2 : 1;
  const [open, comma, close] = bracket === 2 ? ["[\n", ",\n", "\n]"] : ["[", ",", "]"];
  if (view.length === 0) return yield "[]";
  for (let start = 0; start < view.length; start += batchSize) {
    const batch: unknown[] = [];
    for (let i = start; i < Math.min(start + batchSize, view.length); i++) batch.push(jsonMessage(view, i));
    yield (start === 0 ? open : comma) + jsonText(batch, indent).slice(bracket, -bracket);
  }
  yield close;
}

function jsonMessage(view: ExportView, place: number): unknown {
  if (view.options.includeMetadata !== true) return view.message(place);
  return withMetadata(view.message(place), { ...view.metadata(place), timestamp: view.timestamp(place) });
}
