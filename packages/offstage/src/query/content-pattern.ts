// Content pattern: a search text, a developer's RegExp or an untrusted pattern, as one RegExp without state.
import { messageOf, OffstageError } from "../errors.ts";

/** The longest pattern that is accepted as text. */
const maxPatternLength = 1000;

export interface ContentPattern {
  readonly pattern: RegExp;
  /** True if the pattern came as text, so that it may never finish. */
  readonly isUntrusted: boolean;
}

/** Makes the RegExp of a search. Text matches anywhere and in any case; the flags `g` and `y` have no effect. */
export function contentPattern(content: string | RegExp, regex = false): ContentPattern {
  if (content instanceof RegExp) return { pattern: withoutState(content), isUntrusted: false };
  if (!regex) return { pattern: literalPattern(content), isUntrusted: false };
  if (content.length > maxPatternLength) {
    const sentence = `The pattern in "content" has ${content.length} characters; ${maxPatternLength} are allowed.`;
    throw new OffstageError("invalid-argument", `${sentence} Pass a RegExp if you trust it.`);
  }
  return { pattern: parsePattern(content), isUntrusted: true };
}

function withoutState(pattern: RegExp): RegExp {
  return pattern.global || pattern.sticky ? new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, "")) : pattern;
}

function literalPattern(text: string): RegExp {
  const isAscii = /^[\0-\x7f]*$/.test(text);
  return new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), isAscii ? "i" : "iu");
}

function parsePattern(source: string): RegExp {
  try {
    return new RegExp(source);
  } catch (cause) {
    const sentence = `The pattern "${source}" in "content" is not a regular expression: ${messageOf(cause)}.`;
    throw new OffstageError("invalid-argument", sentence, { cause });
  }
}

/** The error for a pattern that took too long. */
export function patternTooSlow(pattern: RegExp, timeoutMs: number): OffstageError {
  const sentence = `The pattern "${pattern.source}" did not finish within ${timeoutMs} ms and was stopped.`;
  return new OffstageError("pattern-timeout", `${sentence} Avoid nested repetition, or pass a RegExp if you trust it.`);
}
