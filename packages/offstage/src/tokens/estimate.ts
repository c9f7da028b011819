// Estimate: about how many tokens a text has, without a tokenizer. Exact counts are in bpe.ts.
//
// A token ends where the kind of character changes, and now and then within a long word. So each pair of neighbouring
// kinds has a weight: fitted by least squares to the o200k_base counts of prose, code, JSON and six languages.

/** The kinds of characters, in the order of the table; a character belongs to the last range that holds it. */
const kinds = {
  lower: [[0x61, 0x7a]],
  upper: [[0x41, 0x5a]],
  digit: [[0x30, 0x39]],
  space: [[0x20, 0x20]],
  line: [
    [0x09, 0x0a],
    [0x0d, 0x0d],
  ],
  mark: [[0x2000, 0xffff]],
  quote: [
    [0x22, 0x22],
    [0x27, 0x27],
    [0x60, 0x60],
  ],
  han: [
    [0x2e80, 0x9fff],
    [0xd800, 0xdfff],
  ],
  kana: [[0x3040, 0x30ff]],
  hangul: [[0xac00, 0xd7af]],
  wide: [
    [0x3000, 0x303f],
    [0xff00, 0xffef],
  ],
  other: [[0x80, 0x1fff]],
} as const;

const kindCount: number = Object.keys(kinds).length;
const markKind = 5;
const spaceKind = 3;

/** Hundredths of a token for a character, by its kind (across) and the kind before it (down). */
// biome-ignore format: a table
const weights = Uint16Array.of(
  // after lower
  5, 36, 66, 13, 97, 16, 13, 30, 30, 18, 33, 21,
  // after upper
  89, 30, 250, 35, 55, 29, 0, 31, 30, 66, 84, 151,
  // after digit
  121, 148, 34, 35, 82, 22, 184, 30, 30, 0, 23, 32,
  // after space
  72, 0, 242, 2, 50, 77, 106, 84, 63, 47, 26, 34,
  // after line
  0, 0, 81, 90, 21, 82, 225, 66, 12, 31, 32, 79,
  // after mark
  129, 38, 130, 48, 0, 18, 55, 101, 74, 156, 81, 172,
  // after quote
  132, 90, 0, 35, 6, 0, 19, 30, 31, 27, 60, 58,
  // after han
  28, 30, 30, 18, 115, 82, 31, 70, 102, 30, 72, 30,
  // after kana
  30, 30, 30, 8, 79, 52, 29, 73, 63, 30, 74, 30,
  // after hangul
  30, 30, 24, 0, 93, 62, 41, 30, 30, 84, 30, 31,
  // after wide
  57, 51, 34, 36, 40, 67, 66, 89, 45, 30, 42, 30,
  // after other
  69, 46, 111, 39, 98, 75, 62, 30, 30, 31, 30, 16,
);

const kindOf: Uint8Array = new Uint8Array(0x10000).fill(markKind);
for (const [kind, ranges] of Object.values(kinds).entries()) {
  for (const [from, to] of ranges) kindOf.fill(kind, from, to + 1);
}

/** Up to this length every character is read; of a longer text about half, in windows spread over it. */
const readWhole = 1024;
const windowLength = 64;

/** About how many tokens a text has: within a few per cent over many texts, within a tenth for most. */
export function estimateTokens(text: string): number {
  const { length } = text;
  if (length <= readWhole) return Math.ceil(weigh(text, 0, length) / 100);
  let weight = 0;
  let read = 0;
  // The gaps vary, so that a text of equal lines is not always read at the same column.
  for (let start = 0; start < length; start += 2 * windowLength - 7 + ((start >> 3) & 15)) {
    const end = Math.min(start + windowLength, length);
    weight += weigh(text, start, end);
    read += end - start;
  }
  return Math.ceil(((weight / read) * length) / 100);
}

function weigh(text: string, start: number, end: number): number {
  let weight = 0;
  let before = start === 0 ? spaceKind : (kindOf[text.charCodeAt(start - 1)] as number);
  for (let i = start; i < end; i++) {
    const kind = kindOf[text.charCodeAt(i)] as number;
    weight += weights[before * kindCount + kind] as number;
    before = kind;
  }
  return weight;
}
