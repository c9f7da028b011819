// JSON that is still being written: the value so far, as if the text were closed where it ends. Reads each character once.
import { setField } from "../base/json.ts";

/**
 * JSON that is still being written: fields and items may be missing, and texts may be cut off. Its schema has not seen it yet, so
 * a value that the schema makes from another one, such as a date, does not have its type.
 */
// Not a conditional type: `Agent<Output>` would no longer be an `Agent<unknown>`.
export type DeepPartial<Value> = { readonly [Key in keyof Value]?: DeepPartial<Value[Key]> };

type Container = unknown[] | Record<string, unknown>;

/** An array or object that is not closed yet. */
interface Frame {
  items: Container;
  /** The index or key of the value that is being read. */
  slot: number | string;
  width: number;
}

type Expected = "start" | "value" | "item-or-end" | "key" | "key-or-end" | "colon" | "comma-or-end" | "nothing";

const fence = "```";
/** Up to this many items in open arrays and objects, every change is shown. With more, one change per as many characters. */
const alwaysShown = 256;

/**
 * Reads JSON piece by piece. `take()` gives what is complete: closed values, the beginning of the string that is being read, and
 * open arrays and objects. A number or a name counts only when it has ended. After invalid text the value no longer changes.
 *
 * Values are frozen and share their unchanged parts. Text in a code fence is read too.
 */
export class PartialJson {
  readonly #open: Frame[] = [];
  #root: unknown;
  #hasRoot = false;
  #expected: Expected = "start";
  /** The text so far of a string or of a number or name; undefined outside of one. */
  #string: string | undefined;
  #isKey = false;
  #escape = "";
  /** The last character of `#string`: to read it from there would copy the text. */
  #lastCode = 0;
  #scalar: string | undefined;
  #leading = "";
  /** How many open containers, from the outermost, were handed out and must be copied before they change. */
  #sharedFrames = 0;
  /** The items of all open containers: what the next copy costs. */
  #spine = 0;
  #charactersSinceTaken = 0;
  #hasChanged = false;

  add(text: string): void {
    this.#charactersSinceTaken += text.length;
    this.#read(this.#expected === "start" ? this.#skipLeading(text) : text);
  }

  /** The text has ended: a number or name at its end counts. */
  end(): void {
    if (this.#expected === "start") this.#read(this.#begin(this.#leading));
    if (this.#scalar !== undefined) this.#endScalar();
  }

  /** The value so far, if it has changed; undefined if it has not, or if it is large and has hardly grown. */
  take({ isLast = false }: { readonly isLast?: boolean } = {}): { readonly value: unknown } | undefined {
    const isCheap = this.#spine <= alwaysShown || this.#spine <= this.#charactersSinceTaken;
    if (!this.#hasChanged || !(isLast || isCheap)) return undefined;
    if (this.#string !== undefined && !this.#isKey) this.#put(this.#shownString());
    for (const { items } of this.#open.slice(this.#sharedFrames)) Object.freeze(items);
    this.#sharedFrames = this.#open.length;
    this.#charactersSinceTaken = 0;
    this.#hasChanged = false;
    return this.#hasRoot ? { value: this.#root } : undefined;
  }

  #read(text: string): void {
    let at = 0;
    while (at < text.length && this.#expected !== "nothing") {
      if (this.#string !== undefined) at = this.#readString(text, at);
      else if (this.#scalar !== undefined) at = this.#readScalar(text, at);
      else at = this.#readToken(text, at);
    }
  }

  // The text behind leading blanks and the beginning of a code fence; empty as long as that may still go on.
  #skipLeading(text: string): string {
    this.#leading = (this.#leading + text).trimStart();
    const mayBeFence = fence.startsWith(this.#leading.slice(0, fence.length));
    return mayBeFence && this.#leading.length <= fence.length + "json".length ? "" : this.#begin(this.#leading);
  }

  #begin(leading: string): string {
    this.#expected = "value";
    return leading.startsWith(fence) ? leading.slice(fence.length).replace(/^json/, "") : leading;
  }

  #readToken(text: string, at: number): number {
    const character = text[at] as string;
    if (isBlank(character)) return at + 1;
    const top = this.#top;
    const isExpectedEnd = this.#expected.endsWith("-or-end") && top !== undefined;
    if (isExpectedEnd && character === (Array.isArray(top.items) ? "]" : "}")) this.#close();
    else if (character === "," && this.#expected === "comma-or-end" && top !== undefined) this.#next(top);
    else if (character === ":" && this.#expected === "colon") this.#expected = "value";
    else if (this.#expected.startsWith("key") && character === '"') this.#openString(true);
    else if (this.#expected === "value" || this.#expected === "item-or-end") this.#beginValue(character);
    else this.#expected = "nothing";
    return at + 1;
  }

  get #top(): Frame | undefined {
    return this.#open.at(-1);
  }

  #next(top: Frame): void {
    if (Array.isArray(top.items)) top.slot = top.width;
    this.#expected = Array.isArray(top.items) ? "value" : "key";
  }

  #beginValue(character: string): void {
    if (character === '"') this.#openString(false);
    else if (character === "{") this.#openContainer({}, "key-or-end");
    else if (character === "[") this.#openContainer([], "item-or-end");
    else if (isScalar(character)) this.#scalar = character;
    else this.#expected = "nothing";
  }

  #openContainer(items: Container, expected: Expected): void {
    this.#put(items);
    this.#open.push({ items, slot: 0, width: 0 });
    this.#spine++;
    this.#expected = expected;
  }

  #close(): void {
    const { items, width } = this.#open.pop() as Frame;
    Object.freeze(items);
    this.#spine -= width + 1;
    this.#sharedFrames = Math.min(this.#sharedFrames, this.#open.length);
    this.#expected = this.#open.length === 0 ? "nothing" : "comma-or-end";
  }

  #openString(isKey: boolean): void {
    this.#string = "";
    this.#lastCode = 0;
    this.#isKey = isKey;
    if (!isKey) this.#put("");
  }

  #readString(text: string, at: number): number {
    if (this.#escape !== "") return this.#readEscape(text, at);
    const end = endOfRun(text, at);
    if (end > at) this.#append(text.slice(at, end), text.charCodeAt(end - 1));
    if (end === text.length) return end;
    if (text[end] === "\\") this.#escape = "\\";
    else this.#closeString();
    return end + 1;
  }

  #readEscape(text: string, at: number): number {
    this.#escape += text[at];
    const isUnicode = this.#escape[1] === "u";
    if (isUnicode && this.#escape.length < 6) return at + 1;
    const character = isUnicode ? unicode(this.#escape) : escapes[this.#escape[1] as string];
    this.#escape = "";
    if (character === undefined) this.#expected = "nothing";
    else this.#append(character, character.charCodeAt(0));
    return at + 1;
  }

  #append(piece: string, lastCode: number): void {
    this.#string += piece;
    this.#lastCode = lastCode;
    if (!this.#isKey) this.#hasChanged = true;
  }

  // Half of a pair of surrogates is not shown until the other half is there.
  #shownString(): string {
    const text = this.#string ?? "";
    return isHighSurrogate(this.#lastCode) ? text.slice(0, -1) : text;
  }

  #closeString(): void {
    const text = this.#string ?? "";
    this.#string = undefined;
    if (this.#isKey) (this.#top as Frame).slot = text;
    else this.#put(text);
    this.#expected = this.#isKey ? "colon" : this.#afterValue();
  }

  #readScalar(text: string, at: number): number {
    const character = text[at] as string;
    if (!isScalar(character)) {
      this.#endScalar();
      return at;
    }
    this.#scalar += character;
    return at + 1;
  }

  #endScalar(): void {
    try {
      this.#put(JSON.parse(this.#scalar as string));
      this.#expected = this.#afterValue();
    } catch {
      this.#expected = "nothing";
    }
    this.#scalar = undefined;
  }

  #afterValue(): Expected {
    return this.#open.length === 0 ? "nothing" : "comma-or-end";
  }

  // Puts a value in its place. What was handed out is copied first: the open containers, never the closed values in them.
  #put(value: unknown): void {
    this.#hasChanged = true;
    for (let depth = 0; depth < this.#sharedFrames; depth++) this.#copyFrame(depth);
    this.#sharedFrames = 0;
    this.#attach(this.#top, value);
  }

  #copyFrame(depth: number): void {
    const frame = this.#open[depth] as Frame;
    frame.items = Array.isArray(frame.items) ? [...frame.items] : { ...frame.items };
    this.#attach(this.#open[depth - 1], frame.items);
  }

  #attach(parent: Frame | undefined, value: unknown): void {
    if (parent === undefined) {
      this.#root = value;
      this.#hasRoot = true;
      return;
    }
    const { items, slot } = parent;
    if (!Object.hasOwn(items, slot)) {
      parent.width++;
      this.#spine++;
    }
    setField(items as Record<string, unknown>, slot as string, value);
  }
}

const escapes: Readonly<Record<string, string>> = {
  __proto__: null as never,
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

function unicode(sequence: string): string | undefined {
  const digits = sequence.slice(2);
  return /^[0-9a-f]{4}$/i.test(digits) ? String.fromCharCode(Number.parseInt(digits, 16)) : undefined;
}

/** The index of the next quote or backslash, or the end of the text. */
function endOfRun(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] !== '"' && text[at] !== "\\") at++;
  return at;
}

function isBlank(character: string): boolean {
  return character === " " || character === "\n" || character === "\r" || character === "\t";
}

function isScalar(character: string): boolean {
  return /[-+.0-9A-Za-z]/.test(character);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
