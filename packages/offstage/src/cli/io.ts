// The input and output of a command: lines in the right width and colour, a store, and questions to the person. Made once for
// each call of the command line from a world, which is the process, or a test.
import { styleText } from "node:util";
import { inertLine, inertText, replaceActive } from "../base/inert.ts";
import { redactor } from "../base/redact.ts";
import { maskAddress } from "../sessions/ports/address.ts";
import type { Store } from "../sessions/store.ts";

export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | "inverse";

/** A stream to write to: standard output, or an object like it. */
export interface Sink {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** The surroundings of the command line. */
export interface World {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined };
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Aborted by Ctrl+C, and by a closed pipe. */
  readonly signal: AbortSignal;
}

/** The options of every command. */
export interface GlobalOptions {
  readonly store?: string | undefined;
  readonly namespace?: string | undefined;
  readonly keyEnv?: string | undefined;
  readonly isJson?: boolean | undefined;
  readonly isPlain?: boolean | undefined;
  readonly reveals?: boolean | undefined;
}

export interface OpenStoreOptions {
  /** Opens the store for writing. Default false: a command that reads cannot write. */
  readonly writes?: boolean;
  /** Creates a missing SQLite file. Default false. */
  readonly creates?: boolean;
  /** The store as it is stored, without the key. Default false. */
  readonly base?: boolean;
}

export interface Io {
  readonly world: World;
  readonly isJson: boolean;
  /** The columns of a line, at least 20. */
  readonly width: number;
  readonly hasColor: boolean;
  paint(style: Style | readonly Style[], text: string): string;
  /** Untrusted text on one line: inert, without secrets. `most` is about how many characters will be shown. */
  inline(text: string, most?: number): string;
  /** Untrusted text on several lines: inert, without secrets, without tabs. */
  block(text: string): string;
  /** A value without secrets, unless the person asked to see them. */
  clean<T>(value: T): T;
  print(line?: string): void;
  /** Prints an object as one line of JSON. */
  record(value: object): void;
  /** Prints a line for the person, on standard error. */
  note(sentence: string): void;
  /** Shows how far long work is, on standard error; undefined removes it. */
  progress(text: string | undefined): void;
  /** Opens the store of the options. It is closed when the command ends. */
  openStore(options?: OpenStoreOptions): Promise<Store>;
}

/** How a command opens its store. */
export type StoreOpener = (options: OpenStoreOptions) => Promise<Store>;

const redact = redactor();
const cutFactor = 16;

/** Makes the input and output of a command. */
export function ioOf(world: World, options: GlobalOptions, openStore: StoreOpener): Io {
  const { stdout, stderr } = world;
  const { isJson = false, reveals = false } = options;
  const hasColor = !isJson && options.isPlain !== true && isColorful(stdout, world.env);
  const clean = <T>(value: T): T => (reveals ? value : redact(value));
  let shown = false;
  const progress = (text: string | undefined): void => {
    if (stderr.isTTY !== true) return;
    if (shown) stderr.write("\r\x1b[K");
    shown = text !== undefined;
    if (text !== undefined) stderr.write(text.slice(0, widthOf(world) - 1));
  };
  return {
    world,
    isJson,
    // A terminal may be resized while a command runs.
    get width() {
      return widthOf(world);
    },
    hasColor,
    paint: (style, text) =>
      hasColor && text !== "" ? styleText([style].flat(), text, { validateStream: false }) : text,
    // Cut before it is cleaned: a message may have megabytes, and a line shows some columns of it.
    inline: (text, most = 200) => inertLine(clean(text.slice(0, Math.max(200, most) * cutFactor))).trim(),
    block: (text) => inertText(clean(text)).replaceAll("\t", "    "),
    clean,
    print: (line = "") => {
      if (shown) progress(undefined);
      stdout.write(`${line}\n`);
    },
    record: (value) => {
      if (shown) progress(undefined);
      stdout.write(`${jsonLine(clean(value))}\n`);
    },
    note: (sentence) => {
      if (shown) progress(undefined);
      stderr.write(`${safeSentence(sentence)}\n`);
    },
    progress,
    openStore: (opening = {}) => openStore(opening),
  };
}

/** A sentence for standard error: on one line, inert, without secrets and without the passwords of addresses. */
export function safeSentence(sentence: string): string {
  const masked = sentence.replace(/\b[a-z][a-z0-9+.-]*:\/\/[^\s"]*@[^\s"]*/gi, maskAddress);
  return inertLine(redact(masked));
}

/** One line of JSON that no terminal obeys: control characters that JSON allows are escaped too. */
function jsonLine(value: unknown): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return replaceActive(JSON.stringify(value), (found) => found.split("").map(escaped).join(""));
}

function isColorful({ isTTY }: Sink, env: World["env"]): boolean {
  if ((env.NO_COLOR ?? "") !== "") return false;
  if ((env.FORCE_COLOR ?? "") !== "") return env.FORCE_COLOR !== "0";
  return isTTY === true && env.TERM !== "dumb";
}

// A pipe has no columns: COLUMNS, or 80.
function widthOf({ stdout, env }: World): number {
  const asked = stdout.isTTY === true ? stdout.columns : Number(env.COLUMNS);
  return Math.max(20, asked || 80);
}
