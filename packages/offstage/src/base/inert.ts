// Inert text: untrusted text that cannot control a terminal. HTML and Markdown have escapes of their own elsewhere.

// C0 and C1 controls except tab and newline, DEL, bidirectional controls, separators and invisible tag characters.
const active =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

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
