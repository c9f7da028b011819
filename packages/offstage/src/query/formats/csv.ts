// The csv format (RFC 4180): one row for each message. No spreadsheet reads a cell as a formula.
import { cutText, type ExportView, toolCallIdsOf } from "../export/export-view.ts";
import { contentOf, roleOf } from "../readers.ts";

const columns = ["index", "role", "content", "tool_name", "tool_call_id", "token_count"];
const defaultContentLength = 500;

/** A header row and a row for each message. */
export function* csv(view: ExportView): Iterable<string> {
  const { maxContentLength = defaultContentLength } = view.options;
  yield `${columns.join(",")}\r\n`;
  for (let i = 0; i < view.length; i++) {
    const message = view.message(i);
    const content = cell(cutText(contentOf(message) ?? "", maxContentLength));
    const names = cell(view.toolNames(i).join("; "));
    const ids = cell(toolCallIdsOf(message).join("; "));
    yield `${i},${cell(roleOf(message))},${content},${names},${ids},${cell(String(view.tokens(i)))}\r\n`;
  }
}

// A cell that a spreadsheet runs: it begins with a sign, also behind blanks or a byte order mark or in full-width form.
const formula = /^(?:[\s\0\u00ad\u200b-\u200f\u2060\ufeff]*[=+\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n])/;
const needsQuotes = /[",;|\t\r\n]/;

// In many countries spreadsheets separate cells by semicolons, and pasted text by tabs. They then ignore quotes within a line, so that a
// sign behind any of these, or behind a line break, begins a cell too.
const signWithin = /(?<=[;|\t\r\n][\s\0\u00ad\u200b-\u200f\u2060\ufeff;|"]*)[=+\-@＝＋－＠﹦﹢﹣﹫]/g;

function cell(text: string): string {
  const guarded = formula.test(text) ? `'${text}` : text;
  return needsQuotes.test(guarded) ? `"${guarded.replaceAll('"', '""').replace(signWithin, "'$&")}"` : guarded;
}
