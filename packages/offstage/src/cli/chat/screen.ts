// The screen of a chat: output that scrolls, and below it a status and the line that is being typed. Both are taken away before
// output is written and drawn again below it.
import type { Io, Sink } from "../io.ts";
import { columnsOf, fit } from "../output/columns.ts";

const esc = String.fromCharCode(27);
const sequences = new RegExp(`${esc}\\[[0-9;]*m`, "g");

export class Screen {
  readonly #io: Io;
  readonly #sink: Sink;
  /** The column at which the output stands. */
  #column = 0;
  /** How many lines are drawn below the output. */
  #drawn = 0;
  #status: string | undefined;
  #typing: { readonly label: string; readonly before: string; readonly text: string } | undefined;

  constructor(io: Io) {
    this.#io = io;
    this.#sink = io.world.stdout;
  }

  /** Writes output above the line that is being typed. */
  write(text: string): void {
    const erased = this.#erased();
    const lines = text.replace(sequences, "").split("\n");
    const last = columnsOf(lines.at(-1) ?? "");
    this.#column = lines.length > 1 ? last : this.#column + last;
    this.#sink.write(erased + text + this.#bottom());
  }

  /** Shows what is going on, in one line. */
  status(text: string | undefined): void {
    if (text === this.#status) return;
    this.#status = text;
    this.#redraw();
  }

  /** Shows the line that is being typed; undefined hides it. */
  typing(label: string | undefined, before = "", text = ""): void {
    this.#typing = label === undefined ? undefined : { label, before, text };
    this.#redraw();
  }

  /** Takes everything below the output away. */
  close(): void {
    this.#status = undefined;
    this.#typing = undefined;
    this.#sink.write(this.#erased() + (this.#column > 0 ? "\n" : ""));
    this.#column = 0;
  }

  #redraw(): void {
    this.#sink.write(this.#erased() + this.#bottom());
  }

  // Back to where the output stands.
  #erased(): string {
    if (this.#drawn === 0) return "";
    const up = this.#drawn > 1 ? `${esc}[${this.#drawn - 1}A` : "";
    const back = this.#column > 0 ? `${esc}[1A${esc}[${this.#column + 1}G` : "";
    this.#drawn = 0;
    return `\r${up}${esc}[J${back}`;
  }

  #bottom(): string {
    const most = this.#io.width - 1;
    const status = this.#status === undefined ? [] : [this.#io.paint("dim", fit(`  ${this.#status}`, most))];
    const typed = this.#typing === undefined ? [] : [this.#typedLine(most)];
    const lines = [...status, ...typed.map(({ line }) => line)];
    this.#drawn = lines.length;
    if (lines.length === 0) return "";
    const [cursor] = typed;
    const place = cursor === undefined ? "" : `${esc}[${cursor.column + 1}G`;
    return `${this.#column > 0 ? "\n" : ""}${lines.join("\n")}${place}`;
  }

  // The part of the line around the cursor, if it is longer than the screen.
  #typedLine(most: number): { readonly line: string; readonly column: number } {
    const { label, before, text } = this.#typing ?? { label: "", before: "", text: "" };
    const shown = (part: string): string => part.replaceAll("\n", "⏎").replaceAll("\t", " ");
    const room = most - columnsOf(label) - 1;
    let start = shown(before);
    while (columnsOf(start) > room - 1) start = start.slice(Math.max(1, start.length - room));
    const rest = shown(text.slice(before.length));
    const line = `${this.#io.paint("cyan", label)}${start}${fit(rest, Math.max(0, room - columnsOf(start)))}`;
    return { line, column: columnsOf(label) + columnsOf(start) };
  }
}
