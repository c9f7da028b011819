// Writing to the terminal: colour where it shows, lines that fit, and text of others without control characters.
import { stripVTControlCharacters, styleText } from "node:util";
import type { Message } from "offstage";

type Style = Parameters<typeof styleText>[0];

/** The text in a style; as it is where standard output is no terminal or NO_COLOR is set. */
export function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout });
}

export const width: number = Math.min(Math.max(process.stdout.columns || 100, 60), 120);

export function heading(text: string): void {
  console.log(`\n${paint("bold", text)}\n${paint("dim", "─".repeat(width))}`);
}

/** Text of others, which may hold anything, made harmless to a terminal. */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(/(?!\n)[\p{Cc}\p{Bidi_Control}]/gu, "");
}

/** One line of at most so many characters. */
export function line(text: string, length: number): string {
  const flat = plain(text).replace(/\s+/g, " ").trim();
  return flat.length <= length ? flat : `${flat.slice(0, Math.max(1, length - 1))}…`;
}

/** The text as lines of at most so many characters, broken between words. */
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

/** What was said so far. */
export function showConversation(messages: readonly Message[]): void {
  for (const { role, content } of messages) {
    const who = role === "user" ? paint("blue", "you      ") : paint("green", "agent    ");
    console.log(`\n${who}${wrap(String(content), width - 9).join(`\n${" ".repeat(9)}`)}`);
  }
}
