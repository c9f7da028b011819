// A terminal without a terminal: keys go in, and what a person would see comes out. Knows the few sequences that a chat uses.
import { PassThrough } from "node:stream";
import { expect } from "vitest";
import type { World } from "../../src/cli/io.ts";
import { runCli } from "../../src/cli/run-cli.ts";

export const keys = { enter: "\r", escape: "\u001b", leave: "\u0004", cancel: "\u0003", erase: "\u007f" } as const;

export interface FakeTerminal {
  /** What is on the screen, line by line. */
  screen(): string;
  type(text: string): void;
  /** Waits until the screen shows a text. */
  shows(text: string): Promise<void>;
  readonly code: Promise<number>;
  readonly err: () => string;
}

/** Starts a command line at a terminal. */
export function atTerminal(
  words: readonly string[],
  { cwd, width = 80 }: { readonly cwd: string; readonly width?: number },
): FakeTerminal {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  const display = new Display(width);
  let err = "";
  const world: World = {
    stdin,
    stdout: { write: (text: string) => display.write(text), isTTY: true, columns: width },
    stderr: {
      write: (text: string) => {
        err += text;
      },
      isTTY: false,
    },
    env: { NO_COLOR: "1" },
    cwd,
    signal: new AbortController().signal,
  };
  const code = runCli(words, world);
  return {
    screen: () => display.text(),
    type: (text) => void stdin.write(text),
    shows: async (text) =>
      void (await expect.poll(() => display.text(), { timeout: 8000, interval: 10 }).toContain(text)),
    code,
    err: () => err,
  };
}

const sequence = new RegExp(`^${String.fromCharCode(27)}\\[(\\??[0-9;]*)([A-Za-z])`);

class Display {
  readonly #rows: string[][] = [[]];
  readonly #width: number;
  #row = 0;
  #column = 0;

  constructor(width: number) {
    this.#width = width;
  }

  text(): string {
    return this.#rows.map((row) => row.join("").trimEnd()).join("\n");
  }

  write(text: string): void {
    for (let rest = text; rest !== ""; ) {
      const [whole, count = "", kind = ""] = sequence.exec(rest) ?? [];
      const character = [...rest][0] as string;
      if (whole !== undefined) this.#obey(kind, Number(count.replace("?", "")) || 0);
      else this.#put(character);
      rest = rest.slice((whole ?? character).length);
    }
  }

  #obey(kind: string, count: number): void {
    if (kind === "A") this.#row = Math.max(0, this.#row - count);
    if (kind === "G") this.#column = count - 1;
    if (kind !== "J") return;
    this.#rows.length = this.#row + 1;
    this.#rows[this.#row] = this.#rows[this.#row]?.slice(0, this.#column) ?? [];
  }

  #put(character: string): void {
    if (character === "\r") this.#column = 0;
    else if (character === "\n") {
      this.#row++;
      this.#column = 0;
      this.#rows[this.#row] ??= [];
    } else {
      const row = this.#rows[this.#row] as string[];
      while (row.length < this.#column) row.push(" ");
      row[this.#column++] = character;
      expect(this.#column, `a line is longer than the terminal: ${row.join("")}`).toBeLessThanOrEqual(this.#width);
    }
  }
}
