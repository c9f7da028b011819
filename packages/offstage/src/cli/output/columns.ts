// Columns: how wide text is on a terminal, and how to cut, pad and wrap it. The text is inert and has no colours yet.

const narrow = /^[\x20-\x7e]*$/;
const joining = /\p{M}|\u200c|\u200d|[\ufe00-\ufe0f]/u;
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|[\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;
// More marks than this on one letter reach into other lines.
const mostMarks = 3;

/** The columns of one character. */
function columnsOfCharacter(character: string): number {
  if (narrow.test(character)) return 1;
  if (joining.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** The columns that a line takes. */
export function columnsOf(line: string): number {
  if (narrow.test(line)) return line.length;
  let columns = 0;
  for (const character of line) columns += columnsOfCharacter(character);
  return columns;
}

/** The line cut to `width` columns; a cut line ends in "…". */
export function fit(line: string, width: number): string {
  if (width <= 0) return "";
  if (line.length <= width && narrow.test(line)) return line;
  const { kept, isWhole } = taken(line, width);
  if (isWhole) return kept;
  return `${taken(line, width - 1).kept.trimEnd()}…`;
}

/** The line cut and padded to exactly `width` columns. */
export function pad(line: string, width: number, align: "left" | "right" = "left"): string {
  const fitted = fit(line, width);
  const blanks = " ".repeat(Math.max(0, width - columnsOf(fitted)));
  return align === "right" ? blanks + fitted : fitted + blanks;
}

/** The text in lines of at most `width` columns, broken between words if possible. */
export function wrap(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => wrapLine(line.trimEnd(), Math.max(8, width)));
}

function wrapLine(line: string, width: number): string[] {
  const lines: string[] = [];
  let from = 0;
  do {
    // A character takes at most some UTF-16 units, and a long line is looked at piece by piece.
    const rest = line.slice(from, from + width * 8);
    const { kept, isWhole, length } = taken(rest, width);
    if (isWhole && from + length >= line.length) {
      lines.push(kept);
      break;
    }
    // Breaks at the last blank, unless that leaves most of the line empty. The blank may be the first character that did not fit.
    const space = rest[length] === " " ? length : rest.lastIndexOf(" ", length);
    const end = space > width / 3 ? space : Math.max(1, length);
    lines.push(taken(rest.slice(0, end), width).kept.trimEnd());
    from += end;
    while (line[from] === " ") from++;
  } while (from < line.length);
  return lines;
}

// The beginning of a line that fits, without marks that pile up.
function taken(line: string, width: number): { kept: string; isWhole: boolean; length: number } {
  const head = line.slice(0, Math.max(0, width));
  if (narrow.test(head)) {
    const isWhole = head.length === line.length;
    // A mark behind it would belong to its last character.
    if (isWhole || narrow.test(line[head.length] ?? "")) return { kept: head, isWhole, length: head.length };
  }
  let columns = 0;
  let marks = 0;
  let kept = "";
  let length = 0;
  for (const character of line) {
    const own = columnsOfCharacter(character);
    if (columns + own > width) return { kept, isWhole: false, length };
    marks = own === 0 ? marks + 1 : 0;
    if (marks <= mostMarks) kept += character;
    columns += own;
    length += character.length;
  }
  return { kept, isWhole: true, length };
}
