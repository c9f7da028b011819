// Export: messages in a format, at once or piece by piece. The formats themselves are in formats/.
import { shownValue } from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import type { Message } from "../../messages/message.ts";
import { dict, type TextFormat, textFormats } from "../formats/index.ts";
import { type ExportOptions, type ExportSource, type ExportView, exportView } from "./export-view.ts";

/** The formats by name: text, and "dict" for plain objects. */
export type ExportFormat = TextFormat | "dict";

/** A format of your own. It is given the messages, and the view that the built-in formats use. */
export type FormatFunction<T> = (messages: readonly Message[], view: ExportView) => T;

/** The messages in a format: text, objects for "dict", or the result of a format function. */
export function exportMessages(
  source: ExportSource,
  format: ExportFormat | FormatFunction<unknown>,
  options: ExportOptions = {},
): unknown {
  const view = exportView(source, options);
  if (typeof format === "function") {
    return format(
      Array.from({ length: view.length }, (_, i) => view.message(i)),
      view,
    );
  }
  if (format === "dict") return dict(view);
  let text = "";
  for (const piece of piecesOf(view, format, [...Object.keys(textFormats), "dict"])) text += piece;
  return text;
}

/** The pieces of a text format, to be written one after another. */
export function exportPieces(source: ExportSource, format: TextFormat, options: ExportOptions = {}): Iterable<string> {
  return piecesOf(exportView(source, options), format, Object.keys(textFormats));
}

function piecesOf(view: ExportView, format: TextFormat, valid: readonly string[]): Iterable<string> {
  if (typeof format !== "string" || !Object.hasOwn(textFormats, format)) {
    const sentence = `Unknown export format ${shownValue(format)}. Valid formats: ${valid.join(", ")}.`;
    throw new OffstageError("invalid-argument", sentence);
  }
  return textFormats[format](view);
}
