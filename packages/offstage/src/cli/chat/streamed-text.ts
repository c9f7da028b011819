// Text that is printed while it is written: word by word, wrapped, inert, and without secrets. A word is held back until it ends,
// so that a key is never shown in parts.
import type { Io } from "../io.ts";
import { columnsOf } from "../output/columns.ts";

export class StreamedText {
  readonly #io: Io;
  readonly #indent: string;
  readonly #write: (text: string) => void;
  /** The line of the text that is being written, as it came. */
  #line = "";
  /** How much of the line was printed, after it was cleaned. */
  #shown = "";
  /** The columns that are used on the line of the terminal. */
  #column = 0;
  #blanks = "";

  constructor(io: Io, write: (text: string) => void, indent = "  ") {
    this.#io = io;
    this.#write = write;
    this.#indent = indent;
  }

  /** True if the cursor stands within a line. */
  get isOpen(): boolean {
    return this.#column > 0 || this.#line !== "";
  }

  add(delta: string): void {
    const lines = (this.#line + delta).split("\n");
    for (const [index, line] of lines.entries()) {
      this.#line = line;
      const isWhole = index < lines.length - 1;
      this.#print(isWhole);
      if (!isWhole) continue;
      this.#write("\n");
      this.#begin();
    }
  }

  /** Prints what was held back, and ends the line. */
  end(): void {
    if (!this.isOpen) return;
    this.#print(true);
    this.#write("\n");
    this.#begin();
  }

  #begin(): void {
    this.#line = "";
    this.#shown = "";
    this.#column = 0;
    this.#blanks = "";
  }

  // Prints the words that are complete. What was printed cannot be taken back: if cleaning changed it, only the rest counts.
  #print(isWhole: boolean): void {
    const clean = this.#io.block(this.#line);
    const end = isWhole ? clean.length : clean.lastIndexOf(" ") + 1;
    const from = clean.startsWith(this.#shown) ? this.#shown.length : sharedLength(clean, this.#shown);
    if (end <= from) return;
    for (const [word] of clean.slice(from, end).matchAll(/\S+|\s+/g)) this.#word(word);
    this.#shown = clean.slice(0, end);
  }

  // Blanks are written with the word behind them, so that no line ends in one.
  #word(word: string): void {
    if (word.trim() === "") {
      this.#blanks = this.#column === 0 ? "" : word;
      return;
    }
    const width = columnsOf(word);
    const most = this.#io.width - 1;
    const blanks = this.#blanks;
    this.#blanks = "";
    if (this.#column > 0 && this.#column + blanks.length + width > most) {
      this.#write("\n");
      this.#column = 0;
    }
    if (this.#column === 0) this.#put(this.#indent, this.#indent.length);
    else this.#put(blanks, blanks.length);
    if (this.#column + width <= most) this.#put(word, width);
    else for (const part of pieces(word, most - this.#indent.length)) this.#piece(part);
  }

  // A part of a word that is longer than a line.
  #piece(part: string): void {
    if (this.#column > this.#indent.length) this.#write(`\n${this.#indent}`);
    this.#column = this.#indent.length;
    this.#put(part, columnsOf(part));
  }

  #put(text: string, width: number): void {
    this.#write(text);
    this.#column += width;
  }
}

function sharedLength(text: string, other: string): number {
  let length = 0;
  while (length < text.length && text[length] === other[length]) length++;
  return length;
}

function pieces(word: string, width: number): string[] {
  const parts: string[] = [""];
  let columns = 0;
  for (const character of word) {
    const own = columnsOf(character);
    if (columns + own > width) {
      parts.push("");
      columns = 0;
    }
    parts[parts.length - 1] += character;
    columns += own;
  }
  return parts;
}
