// The list of formats. To add one: a file beside this one, its name in `TextFormat`, and a line in `textFormats`.
import type { ExportView } from "../export/export-view.ts";
import { csv } from "./csv.ts";
import { html } from "./html.ts";
import { json } from "./json.ts";
import { jsonl } from "./jsonl.ts";
import { markdown } from "./markdown.ts";

export { dict } from "./dict.ts";

/** The text formats. */
export type TextFormat = "json" | "markdown" | "csv" | "jsonl" | "html";

/** Each writes its text in pieces. */
export const textFormats: Readonly<Record<TextFormat, (view: ExportView) => Iterable<string>>> = {
  json,
  markdown,
  csv,
  jsonl,
  html,
};
