// One line of input: what a key does to it. Knows no terminal.

/** A key, as node:readline reports it. */
export interface Key {
  readonly name?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
  readonly sequence?: string | undefined;
}

/** An action that a key asks for, beside changing the line. */
export type Action = "submit" | "stop" | "cancel" | "leave" | undefined;

export class LineEditor {
  #text = "";
  #cursor = 0;
  readonly #history: string[] = [];
  #place = 0;
  #isPasting = false;

  get text(): string {
    return this.#text;
  }

  /** The text in front of the cursor. */
  get before(): string {
    return this.#text.slice(0, this.#cursor);
  }

  set(text: string): void {
    this.#text = text;
    this.#cursor = text.length;
  }

  /** Empties the line and returns what it was. */
  take(): string {
    const text = this.#text;
    if (text.trim() !== "" && this.#history.at(-1) !== text) this.#history.push(text);
    this.#place = this.#history.length;
    this.set("");
    return text;
  }

  /** Applies a key. */
  press(typed: string | undefined, { name = "", ctrl = false, meta = false }: Key): Action {
    if (name === "paste-start" || name === "paste-end") this.#isPasting = name === "paste-start";
    else if (this.#isPasting) this.#insert(name === "return" || name === "enter" ? "\n" : (typed ?? ""));
    else if (ctrl) return this.#control(name);
    else if (name === "return" || name === "enter") return "submit";
    else if (name === "escape") return "stop";
    else if (!this.#move(name, meta) && typed !== undefined && !meta && isPrintable(typed)) this.#insert(typed);
    return undefined;
  }

  #control(name: string): Action {
    if (name === "c") return "cancel";
    if (name === "d" && this.#text === "") return "leave";
    if (name === "d") this.#remove(0, this.#next());
    else if (name === "j") this.#insert("\n");
    else if (name === "u") this.#remove(-this.#cursor, 0);
    else if (name === "k") this.#remove(0, this.#text.length);
    else if (name === "w") this.#remove(-this.#word(), 0);
    else if (name === "a") this.#cursor = 0;
    else if (name === "e") this.#cursor = this.#text.length;
    return undefined;
  }

  #move(name: string, meta: boolean): boolean {
    if (name === "backspace") this.#remove(meta ? -this.#word() : -this.#previous(), 0);
    else if (name === "delete") this.#remove(0, this.#next());
    else if (name === "left") this.#cursor -= this.#previous();
    else if (name === "right") this.#cursor += this.#next();
    else if (name === "home") this.#cursor = 0;
    else if (name === "end") this.#cursor = this.#text.length;
    else if (name === "up" || name === "down") this.#recall(name === "up" ? -1 : 1);
    else return false;
    return true;
  }

  #recall(step: number): void {
    this.#place = Math.min(this.#history.length, Math.max(0, this.#place + step));
    this.set(this.#history[this.#place] ?? "");
  }

  #insert(text: string): void {
    this.#text = this.#text.slice(0, this.#cursor) + text + this.#text.slice(this.#cursor);
    this.#cursor += text.length;
  }

  #remove(from: number, to: number): void {
    const start = this.#cursor + from;
    this.#text = this.#text.slice(0, start) + this.#text.slice(this.#cursor + to);
    this.#cursor = start;
  }

  // The units of the letter in front of the cursor, and behind it.
  #previous(): number {
    return [...this.before].at(-1)?.length ?? 0;
  }

  #next(): number {
    return [...this.#text.slice(this.#cursor, this.#cursor + 2)][0]?.length ?? 0;
  }

  #word(): number {
    return /\S*\s*$/.exec(this.before)?.[0].length ?? 0;
  }
}

function isPrintable(typed: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  return typed !== "" && !/[\0-\x1f\x7f-\x9f]/.test(typed);
}
