// The person at the terminal: keys become lines, stops and answers.
import { emitKeypressEvents } from "node:readline";
import type { Io } from "../io.ts";
import { type Key, LineEditor } from "./line-editor.ts";
import { Screen } from "./screen.ts";

/** A stream of keys. */
type KeyStream = NodeJS.ReadableStream & { setRawMode?(isRaw: boolean): unknown; readonly isTTY?: boolean | undefined };

const pasting = { on: "\x1b[?2004h", off: "\x1b[?2004l" } as const;

export class Terminal {
  readonly screen: Screen;
  /** Called with a line that was typed while a run works. */
  onLine: ((text: string) => void) | undefined;
  /** Called for Esc and Ctrl+C while a run works. */
  onStop: (() => void) | undefined;
  readonly #io: Io;
  readonly #keys: KeyStream;
  readonly #editor = new LineEditor();
  #label = "› ";
  #waiting: ((text: string | undefined) => void) | undefined;
  #isOver = false;

  constructor(io: Io) {
    this.#io = io;
    this.screen = new Screen(io);
    this.#keys = io.world.stdin as KeyStream;
  }

  open(): void {
    emitKeypressEvents(this.#keys, { escapeCodeTimeout: 50 } as never);
    this.#keys.setRawMode?.(true);
    this.#keys.on("keypress", this.#press);
    this.#keys.on("end", this.#end);
    this.#keys.resume();
    this.#io.world.stdout.write(pasting.on);
  }

  close(): void {
    this.#keys.off("keypress", this.#press);
    this.#keys.off("end", this.#end);
    this.#keys.setRawMode?.(false);
    this.#keys.pause();
    this.screen.close();
    this.#io.world.stdout.write(pasting.off);
  }

  /** Asks for a line. Resolves with undefined if the person leaves instead. */
  async ask(label: string, initial = ""): Promise<string | undefined> {
    if (this.#isOver) return undefined;
    this.#label = label;
    if (initial !== "") this.#editor.set(initial);
    this.#draw();
    const text = await new Promise<string | undefined>((resolve) => {
      this.#waiting = resolve;
    });
    this.#label = "› ";
    this.#draw();
    return text;
  }

  readonly #press = (typed: string | undefined, key: Key): void => {
    const action = this.#editor.press(typed, key);
    if (action === "submit") this.#submit();
    else if (action === "leave") this.#leave();
    else if (action === "stop") this.onStop?.();
    else if (action === "cancel") this.#cancel();
    this.#draw();
  };

  readonly #end = (): void => {
    this.#isOver = true;
    this.#leave();
  };

  #submit(): void {
    const text = this.#editor.take();
    if (this.#waiting !== undefined) this.#answer(text);
    else if (text.trim() !== "") this.onLine?.(text);
  }

  // Ctrl+C empties the line, then stops the run, then leaves.
  #cancel(): void {
    if (this.#editor.text !== "") this.#editor.set("");
    else if (this.onStop !== undefined) this.onStop();
    else this.#leave();
  }

  #leave(): void {
    this.#isOver ||= this.onStop === undefined;
    this.#answer(undefined);
  }

  #answer(text: string | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.(text);
  }

  #draw(): void {
    this.screen.typing(this.#label, this.#editor.before, this.#editor.text);
  }
}
