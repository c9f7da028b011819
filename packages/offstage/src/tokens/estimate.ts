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
  4, 43, 89, 24, 121, 93, 24, 0, 112, 0, 0, 34,
  // after upper
  84, 26, 250, 81, 58, 98, 0, 0, 210, 38, 114, 176,
  // after digit
  78, 166, 34, 14, 84, 71, 129, 250, 117, 182, 47, 27,
  // after space
  65, 4, 199, 2, 116, 129, 140, 123, 0, 0, 135, 45,
  // after line
  0, 12, 135, 41, 14, 76, 201, 60, 126, 164, 63, 66,
  // after mark
  55, 0, 91, 0, 0, 9, 27, 52, 87, 250, 109, 152,
  // after quote
  114, 60, 0, 0, 0, 48, 8, 6, 31, 52, 47, 60,
  // after han
  0, 0, 178, 0, 106, 250, 0, 61, 132, 54, 165, 250,
  // after kana
  41, 218, 250, 94, 90, 250, 30, 36, 67, 30, 0, 39,
  // after hangul
  30, 60, 19, 99, 196, 0, 177, 34, 30, 67, 48, 34,
  // after wide
  45, 4, 212, 186, 88, 79, 108, 54, 0, 63, 186, 30,
  // after other
  51, 50, 92, 26, 117, 107, 58, 250, 38, 35, 30, 16,
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
  if (length === 0) return 0;
  if (length <= readWhole) return Math.max(1, Math.ceil(weigh(text, 0, length) / 100));
  let weight = 0;
  let read = 0;
  // The gaps vary, so that a text of equal lines is not always read at the same column.
  for (let start = 0; start < length; start += 2 * windowLength - 7 + ((start >> 3) & 15)) {
    const end = Math.min(start + windowLength, length);
    weight += weigh(text, start, end);
    read += end - start;
  }
  return Math.max(1, Math.ceil(((weight / read) * length) / 100));
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
