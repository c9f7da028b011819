// Inert text: untrusted text that cannot control a terminal. HTML and Markdown have escapes of their own elsewhere.

// C0 and C1 controls except tab and newline, DEL, bidirectional controls, separators and characters that are never visible. The joiners
// and the selectors of emoji stay: writing needs them.
const active =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}]|\u034f|\u17b4|\u17b5|[\ufe00-\ufe0d]|[\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu;

/** Replaces every character that could control a terminal or hide text, except tabs and newlines. */
export function replaceActive(text: string, replace: (found: string) => string): string {
  return text.replace(active, replace);
}

/** The text with visible characters in their place. */
export function inertText(text: string): string {
  return replaceActive(text, (found) => {
    const code = found.codePointAt(0) as number;
    if (code < 0x20) return String.fromCodePoint(0x2400 + code);
    return code === 0x7f ? "␡" : `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}

/** The same on one line: each sequence of spaces, tabs and line breaks becomes one space. */
export function inertLine(text: string): string {
  return inertText(text.replace(/\s+/g, " "));
}

/** Node's `styleText`, loaded on first use because most programs never print. */
export const styleText: typeof import("node:util").styleText = (format, text, options) =>
  process.getBuiltinModule("node:util").styleText(format, text, options);
