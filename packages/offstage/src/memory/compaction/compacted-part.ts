// A compacted part: one growing list as a model is shown it. What was left out stands in front of a tail shown as it is.
// Mutable on purpose and private to this room: it follows its list, and counts only what was added.
import { type Message, toolCallsOf } from "../../messages/message.ts";
import { Messages } from "../../messages/messages.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import { messageKey } from "../message-key.ts";
import type { Compacted } from "./compaction-strategy.ts";

/** A part as JSON: enough to show the same again. */
export interface PartNote {
  /** How many messages of the list are shown in another form or not at all. */
  readonly from: number;
  /** The key of the last of them. */
  readonly last: string;
  /** The key of the last of them that is no tool trace: a session, which is clean, still has it. */
  readonly lastSaid: string;
  /** System messages that stood in front of the list. */
  readonly pinned: readonly Message[];
  readonly summary: readonly Message[];
  readonly head: readonly Message[];
}

const untouched: PartNote = { from: 0, last: "", lastSaid: "", pinned: [], summary: [], head: [] };

export class CompactedPart {
  readonly #counter: TokenCounter;
  #source: Messages | undefined;
  #front: PartNote = untouched;
  #tail: Messages = Messages.empty();
  #flat: Messages | undefined;
  #tokens = 0;
  #isPartial = false;

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  get note(): PartNote {
    return this.#front;
  }

  /** True where something is shown in another form, or not at all. */
  get isCompacted(): boolean {
    return this.#front !== untouched;
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** What is shown as it is: the end of the list, which grows as the list does. */
  get tail(): Messages {
    return this.#tail;
  }

  /** Everything shown, in order; it too grows as the list does. */
  get flat(): Messages {
    if (!this.isCompacted) return this.#tail;
    const { pinned, summary, head } = this.#front;
    this.#flat ??= Messages.from([...pinned, ...summary, ...head, ...this.#tail]);
    return this.#flat;
  }

  /** What a strategy may change: all but summary and instructions. */
  get open(): Message[] {
    return [...this.#front.head, ...this.#tail.slice(this.#instructions)];
  }

  /** The tokens of what no strategy changes. */
  get pinnedTokens(): number {
    const { pinned } = this.#front;
    return this.#counter.countMessages(pinned) + this.#counter.countMessages(this.#tail.slice(0, this.#instructions));
  }

  /** Takes in how the list is now. Costs what was added while it only grows; what is shown survives where its anchor does. */
  follow(source: Messages): void {
    const before = this.#source;
    if (source === before) return;
    this.#source = source;
    if (before !== undefined && source.length > 0 && source.extends(before)) this.#append(source, before.length);
    else this.#attach(source);
  }

  /** Shows what was made of it from now on, and gives the messages that are shown no more. */
  take({ summary, messages }: Compacted): Message[] {
    const shown = this.open;
    const staying = new Set(messages);
    const instructions = this.#tail.slice(0, this.#instructions);
    const same = Math.min(commonEnd(messages, shown), this.#tail.length - instructions.length);
    const taken = this.#tail.length - same;
    const { from, pinned } = this.#front;
    this.#front = {
      from: from + taken,
      ...this.#anchors(taken),
      pinned: [...pinned, ...instructions],
      summary,
      head: messages.slice(0, messages.length - same),
    };
    this.#show(this.#tail.slice(taken));
    return shown.filter((message) => !staying.has(message) && message.metadata?.isClipped !== true);
  }

  /**
   * Shows again what a note says, where the list that is followed next has the note's anchor. `isPartial` says that the
   * list may be only the latest of a longer one, and the anchor no longer in it.
   */
  restore(note: PartNote, { isPartial = false }: { readonly isPartial?: boolean } = {}): void {
    this.#source = undefined;
    this.#front = note;
    this.#isPartial = isPartial;
  }

  // System messages in front are instructions, as long as nothing was taken away.
  get #instructions(): number {
    if (this.isCompacted) return 0;
    let count = 0;
    while (this.#tail.at(count)?.role === "system") count++;
    return count;
  }

  // By which a later list is recognised, when so many of the tail are taken away.
  #anchors(taken: number): Pick<PartNote, "last" | "lastSaid"> {
    const { last, lastSaid } = this.#front;
    if (taken === 0) return { last, lastSaid };
    let said = taken - 1;
    while (said >= 0 && !isSaid(this.#tail.at(said) as Message)) said--;
    return {
      last: messageKey(this.#tail.at(taken - 1) as Message),
      lastSaid: said < 0 ? lastSaid : messageKey(this.#tail.at(said) as Message),
    };
  }

  #append(source: Messages, from: number): void {
    const added: Message[] = [];
    for (let i = from; i < source.length; i++) added.push(source.at(i) as Message);
    this.#tail = this.#front.from === 0 ? source : this.#tail.append(added);
    this.#flat = this.#flat?.append(added);
    this.#tokens += this.#counter.countMessages(added);
  }

  #attach(source: Messages): void {
    const from = this.#anchorIn(source);
    if (from === undefined) this.#front = untouched;
    else if (from !== this.#front.from) this.#front = { ...this.#front, from };
    this.#isPartial = false;
    this.#show(from === undefined || from === 0 ? source : source.slice(from));
  }

  // Where the tail begins in a list that is not the one before; undefined where it is another list altogether.
  #anchorIn(source: Messages): number | undefined {
    const { from, last, lastSaid } = this.#front;
    if (!this.isCompacted) return undefined;
    const expected = from > 0 ? source.at(from - 1) : undefined;
    if (expected !== undefined && messageKey(expected) === last) return from;
    const place = placeAfter(source, last) ?? placeAfter(source, lastSaid);
    return place ?? (this.#isPartial ? 0 : undefined);
  }

  #show(tail: Messages): void {
    const { pinned, summary, head } = this.#front;
    this.#tail = tail;
    this.#flat = undefined;
    this.#tokens = [pinned, summary, head, tail].reduce((sum, list) => sum + this.#counter.countMessages(list), 0);
  }
}

// What was said by a user or as an answer.
function isSaid(message: Message): boolean {
  if (message.role === "user") return message.metadata?.isNote !== true;
  return message.role === "assistant" && toolCallsOf(message).length === 0;
}

function placeAfter(list: Messages, key: string): number | undefined {
  for (let i = list.length - 1; i >= 0; i--) if (messageKey(list.at(i) as Message) === key) return i + 1;
  return undefined;
}

function commonEnd(a: readonly Message[], b: readonly Message[]): number {
  let count = 0;
  while (count < a.length && count < b.length && a.at(-count - 1) === b.at(-count - 1)) count++;
  return count;
}
