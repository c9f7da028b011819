// The json format: one array of messages, exactly as JSON.stringify would write it, in pieces.
import type { ExportView } from "../export/export-view.ts";
import { jsonMessage } from "../export/exported-message.ts";
import { jsonItem, jsonText } from "../readers.ts";

/** JSON text of all messages; `fromExport` reads it back without loss. */
export function* json(view: ExportView): Iterable<string> {
  const { indent = 2 } = view.options;
  const isIndented = jsonText([0], indent).length > "[0]".length;
  const [open, comma, close] = isIndented ? ["[\n", ",\n", "\n]"] : ["[", ",", "]"];
  if (view.length === 0) return yield "[]";
  for (let i = 0; i < view.length; i++) {
    const message = jsonMessage(view, i);
    // An item in an array of its own is indented as in the whole array; the brackets are cut off.
    const text = isIndented ? jsonText([message], indent).slice(2, -2) : jsonItem(message);
    yield `${i === 0 ? open : comma}${text}`;
  }
  yield close;
}
