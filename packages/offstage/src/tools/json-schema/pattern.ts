// Patterns of JSON Schema: made valid in Unicode mode, and told apart by whether they can be slow.

/**
 * The pattern in a form that RegExp takes with the "u" flag; undefined if no engine takes it. Many schemas are written for
 * engines that are less strict: they escape characters that need no escape, and put a hyphen beside a class.
 */
export function unicodePattern(pattern: string): string | undefined {
  if (isPattern(pattern, "u")) return pattern;
  const strict = pattern.replace(token, strictToken);
  return isPattern(pattern, "") && isPattern(strict, "u") ? strict : undefined;
}

function isPattern(pattern: string, flags: string): boolean {
  try {
    new RegExp(pattern, flags);
    return true;
  } catch {
    return false;
  }
}

// Escapes, classes, counts, and the brackets that need an escape.
const token = /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|k<[^>]*>|[\s\S])|\[(?:\\[\s\S]|[^\]\\])*\]|\{\d+(?:,\d*)?\}|[{}\]]/gu;

function strictToken(text: string): string {
  if (text.length === 1) return `\\${text}`;
  if (text.startsWith("[")) return strictClass(text);
  return text.startsWith("\\") ? strictEscape(text, /[\^$\\.*+?()[\]{}|/A-Za-z0-9]/) : text;
}

// Drops the backslash of a character that means nothing else.
function strictEscape(escaped: string, meaningful: RegExp): string {
  const character = escaped.slice(1);
  return [...character].length > 1 || meaningful.test(character) ? escaped : character;
}

const inClass = String.raw`\\(?:[dDsSwW]|[pP]\{[^}]*\})`;
const hyphenAfter = new RegExp(`(${inClass})-(?!\\])`, "g");
const hyphenBefore = new RegExp(`([^\\\\[])-(${inClass})`, "g");

function strictClass(text: string): string {
  const strict = text.replace(/\\[\s\S]/gu, (each) => strictEscape(each, /[\^$\\.*+?()[\]{}|/\-A-Za-z0-9]/));
  return strict.replace(hyphenAfter, "$1\\-").replace(hyphenBefore, "$1\\-$2");
}

/** How many parts of a pattern may be left out. V8 needs seconds to compile many of them, and nothing can stop it. */
export function countOptionalParts(pattern: string): number {
  const plain = pattern.replace(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]/gu, "x");
  return plain.match(/[^(*+?}]\?|\{0,\d+\}/g)?.length ?? 0;
}

const atom = String.raw`(?:\\[^1-9ku]|\[(?:\\.|[^\]\\])*\]|[^\\[\](){}|*+?^$])`;
const fixed = String.raw`(?:${atom}(?:\{\d+\})?)*`;
const fixedLength = new RegExp(`^\\^?${fixed}\\$?$`, "su");
const oneRepetition = new RegExp(String.raw`^\^${fixed}${atom}(?:[*+?]|\{\d+,\d*\})${fixed}\$?$`, "su");

/**
 * True if matching surely takes no longer than the text is long: no group, no alternative, and at most one part of variable
 * length, which is anchored. Any other pattern may backtrack.
 */
export function isLinearPattern(pattern: string): boolean {
  return pattern.length <= 200 && (fixedLength.test(pattern) || oneRepetition.test(pattern));
}
