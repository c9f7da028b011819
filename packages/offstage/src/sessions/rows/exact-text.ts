// Text that not every back end can store: NUL and lone surrogates. The column gets readable text with U+FFFD in their place, and
// the column `exact` gets the exact values as JSON, which escapes them.
import { isObject, parseJson } from "../../base/json.ts";
import type { Row, Value } from "../ports/store-driver.ts";

/** The most bytes of an id. */
export const longestId = 512;

/** True if every back end can store the text as it is. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** The row with storable texts only, and with the exact ones in `exact`. JSON needs no care: it escapes them itself. */
export function storableRow(row: Row): Row {
  let exact: Record<string, string> | undefined;
  for (const name in row) {
    const value = row[name];
    if (typeof value !== "string" || (value.isWellFormed() && !value.includes("\0"))) continue;
    exact ??= {};
    exact[name] = value;
  }
  if (exact === undefined) return row;
  const readable = Object.entries(exact).map(([name, text]) => [name, text.toWellFormed().replaceAll("\0", "\ufffd")]);
  return { ...row, ...Object.fromEntries(readable), exact: JSON.stringify(exact) };
}

/** The row with its exact texts. Throws if `exact` is no JSON object of texts. */
export function exactRow(row: Row): Row {
  if (typeof row.exact !== "string") return row;
  const exact = parseJson(row.exact);
  if (!isObject(exact) || !Object.values(exact).every((value) => typeof value === "string"))
    throw new Error('its column "exact" has an unexpected form');
  return { ...row, ...(exact as Record<string, Value>), exact: null };
}
