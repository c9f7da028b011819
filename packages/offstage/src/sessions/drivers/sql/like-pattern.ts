// Makes LIKE patterns for text in any case, which match at least what `toLowerCase()` on both sides finds.
import type { ColumnType } from "../../ports/tables.ts";

// SQLite refuses patterns of more than 50,000 bytes. The beginning of a text finds more, which is allowed.
const maxLength = 1_000;

/**
 * The pattern for a text. Databases ignore the case of ASCII letters, so every other character becomes "anything". "i", "k"
 * and "s" become "any one character": "İ", the Kelvin sign and "ſ" are other forms of them. In JSON, escaped characters become "anything".
 */
export function likePattern(text: string, type: ColumnType): string {
  const isPlain = type === "json" ? /[ !#-[\]-~]/ : /[\0-\x7f]/;
  const pattern = Array.from(text.slice(0, maxLength), (character) => {
    if (!isPlain.test(character)) return "%";
    if (/[iks]/i.test(character)) return "_";
    return /[\\%_]/.test(character) ? `\\${character}` : character;
  });
  return `%${pattern.join("")}%`;
}
