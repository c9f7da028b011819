// Pages: as many items as fit into a result, and a cursor to the rest. A text that is too long for one page goes on in the next.
import { OffstageError } from "../../errors.ts";
import { utf8Prefix } from "../../tools/json-safe.ts";

/** An item with a text, which may be of any length. Everything else of it is short. */
export interface PageItem {
  readonly text: string;
  readonly [key: string]: unknown;
}

export interface Page {
  readonly items: readonly PageItem[];
  /** The start of the next page; undefined at the end. */
  readonly cursor: string | undefined;
}

// The least that is worth a place at the end of a page.
const minBytes = 256;

/** The items from the cursor on, in at most `maxBytes` of JSON. */
export function pageOf(items: readonly PageItem[], cursor: string | undefined, maxBytes: number): Page {
  let [index, offset] = placeOf(cursor);
  let left = maxBytes;
  const page: PageItem[] = [];
  for (; index < items.length; index++, offset = 0) {
    const { text, ...rest } = items[index] as PageItem;
    const tail = text.slice(offset);
    const mark = offset === 0 ? {} : { continuesAt: offset };
    const item = { ...rest, ...mark, text: tail };
    const bytes = sizeOf(item);
    if (bytes <= left) {
      page.push(item);
      left -= bytes;
      continue;
    }
    const room = left - sizeOf({ ...item, text: "", isCut: true });
    if (room < minBytes && page.length > 0) break;
    const kept = cutToFit(tail, Math.max(room, minBytes));
    page.push({ ...item, text: kept, isCut: true });
    return { items: page, cursor: `${index}.${offset + kept.length}` };
  }
  return { items: page, cursor: index < items.length ? `${index}.${offset}` : undefined };
}

// The beginning of a text whose JSON takes at most so many bytes: an escape takes up to six for one.
function cutToFit(text: string, maxBytes: number): string {
  let kept = utf8Prefix(text.toWellFormed(), maxBytes);
  while (sizeOf(kept) - 2 > maxBytes) kept = utf8Prefix(kept, Math.floor((maxBytes * kept.length) / sizeOf(kept)));
  return kept;
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value)) + 1;
}

function placeOf(cursor: string | undefined): [number, number] {
  if (cursor === undefined) return [0, 0];
  const [, index, offset] = /^(\d{1,9})\.(\d{1,12})$/.exec(cursor) ?? [];
  if (index === undefined) throw new OffstageError("invalid-argument", "This cursor is not one of the tool's results.");
  return [Number(index), Number(offset)];
}
