// Writes to the terminal: colour if it is supported, lines that fit, and untrusted text without control characters.
import { stripVTControlCharacters, styleText } from "node:util";
import type { Message } from "offstage";

type Style = Parameters<typeof styleText>[0];

/** Styles a text, unless standard output is no terminal or NO_COLOR is set. */
export function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

export const width: number = Math.min(Math.max(process.stdout.columns || 100, 60), 120);

export function heading(text: string): void {
  console.log(`\n${paint("bold", text)}\n${paint("dim", "─".repeat(width))}`);
}

/** Removes control characters from untrusted text. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(/(?!\n)[\p{Cc}\p{Bidi_Control}]/gu, "");
}

/** Shortens a text to one line of at most `length` characters. */
export function line(text: string, length: number): string {
  const flat = plain(text).replace(/\s+/g, " ").trim();
  return flat.length <= length ? flat : `${flat.slice(0, Math.max(1, length - 1))}…`;
}

/** Breaks a text between words into lines of at most `length` characters. */
export function wrap(text: string, length: number): string[] {
  return plain(text)
    .split("\n")
    .flatMap((paragraph) => {
      const lines = [""];
      for (const word of paragraph.split(" ")) {
        const last = lines.at(-1) ?? "";
        if (last === "") lines[lines.length - 1] = word;
        else if (last.length + 1 + word.length <= length) lines[lines.length - 1] = `${last} ${word}`;
        else lines.push(word);
      }
      return lines.map((each) => line(each, length));
    });
}

/** Prints the conversation so far. */
export function showConversation(messages: readonly Message[]): void {
  for (const { role, content } of messages) {
    const who = role === "user" ? paint("blue", "you      ") : paint("green", "agent    ");
    console.log(`\n${who}${wrap(String(content), width - 9).join(`\n${" ".repeat(9)}`)}`);
  }
}
