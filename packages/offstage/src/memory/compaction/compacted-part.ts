// A compacted part: the model's view of one growing list. A shortened front is followed by a tail that is shown unchanged.
// It is mutable and private to this folder: it follows its list, and counts only messages that were added.
import { type Message, toolCallsOf } from "../../messages/message.ts";
import { Messages } from "../../messages/messages.ts";
import type { TokenCounter } from "../../tokens/token-counter.ts";
import { messageKey } from "../message-key.ts";
import type { Compacted } from "./compaction-strategy.ts";

/** The shortened front of a part as JSON: enough to show the same view again. */
export interface PartNote {
  /** How many messages of the list the front covers. */
  readonly from: number;
  /** The key of the last message that the front covers. */
  readonly last: string;
  /** The key of the last such message that is not tool trace: the history of a session, which is clean, still has it. */
  readonly lastSaid: string;
  /** System messages from the front of the list. */
  readonly pinned: readonly Message[];
  readonly summary: readonly Message[];
  /** Messages that a strategy kept, but changed. */
  readonly head: readonly Message[];
}

export class CompactedPart {
  readonly #counter: TokenCounter;
  #source: Messages | undefined;
  #front: PartNote | undefined;
  #tail: Messages = Messages.empty();
  #flat: Messages | undefined;
  #tokens = 0;
  #isPartial = false;

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  get note(): PartNote {
    return this.#front ?? { from: 0, last: "", lastSaid: "", pinned: [], summary: [], head: [] };
  }

  /** True if some messages are shown in another form or not at all. */
  get isCompacted(): boolean {
    return this.#front !== undefined;
  }

  get tokens(): number {
    return this.#tokens;
  }

  /** The end of the list, which is shown unchanged. Extends the earlier tail while the list only grows. */
  get tail(): Messages {
    return this.#tail;
  }

  /** The whole view, in order. Extends the earlier view while the list only grows. */
  get flat(): Messages {
    if (this.#front === undefined) return this.#tail;
    const { pinned, summary, head } = this.#front;
    this.#flat ??= Messages.from([...pinned, ...summary, ...head, ...this.#tail]);
    return this.#flat;
  }

  /** The messages that a strategy may shorten: all but the summary and the instructions. */
  get open(): Message[] {
    return [...this.note.head, ...this.#tail.slice(this.#instructions)];
  }

  /** The tokens of the instructions, which no strategy may shorten. */
  get pinnedTokens(): number {
    const instructions = this.#tail.slice(0, this.#instructions);
    return this.#counter.countMessages(this.note.pinned) + this.#counter.countMessages(instructions);
  }

  /** Follows the list to its current version. Costs only what was added, while the list only grows. */
  follow(source: Messages): void {
    const before = this.#source;
    if (source === before) return;
    this.#source = source;
    if (before !== undefined && source.length > 0 && source.extends(before)) this.#append(source, before.length);
    else this.#attach(source);
  }

  /** Replaces the view by the result of a strategy. Returns the messages that are no longer shown. */
  take({ summary, messages }: Compacted): Message[] {
    const shown = this.open;
    const staying = new Set(messages);
    const instructions = this.#tail.slice(0, this.#instructions);
    const same = Math.min(countCommonEnd(messages, shown), this.#tail.length - instructions.length);
    const taken = this.#tail.length - same;
    const { from, pinned } = this.note;
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
   * Shows the view of a note again, if the next list contains the last message of the note. With `isPartial`, that list may
   * be only the end of a longer one and need not contain it.
   */
  restore(note: PartNote, { isPartial = false }: { readonly isPartial?: boolean } = {}): void {
    this.#source = undefined;
    this.#front = note;
    this.#isPartial = isPartial;
  }

  // Before the first compaction, the system messages at the front of the tail are instructions.
  get #instructions(): number {
    if (this.isCompacted) return 0;
    const end = this.#tail.toArray().findIndex(({ role }) => role !== "system");
    return end === -1 ? this.#tail.length : end;
  }

  // The keys by which a later list is recognised, if the front takes so many messages of the tail.
  #anchors(taken: number): Pick<PartNote, "last" | "lastSaid"> {
    const { last, lastSaid } = this.note;
    const covered = this.#tail.slice(0, taken).toArray();
    const newest = covered.at(-1);
    const said = covered.findLast(isSaid);
    return {
      last: newest === undefined ? last : messageKey(newest),
      lastSaid: said === undefined ? lastSaid : messageKey(said),
    };
  }

  #append(source: Messages, from: number): void {
    const added = source.toArray(from);
    this.#tail = this.note.from === 0 ? source : this.#tail.append(added);
    this.#flat = this.#flat?.append(added);
    this.#tokens += this.#counter.countMessages(added);
  }

  #attach(source: Messages): void {
    const from = this.#placeIn(source);
    if (from === undefined) this.#front = undefined;
    else if (this.#front?.from !== from) this.#front = { ...this.note, from };
    this.#isPartial = false;
    this.#show(from === undefined || from === 0 ? source : source.slice(from));
  }

  // The start of the tail in a list that does not extend the earlier one; undefined if it is an entirely different list.
  #placeIn(source: Messages): number | undefined {
    if (this.#front === undefined) return undefined;
    const { from, last, lastSaid } = this.#front;
    const expected = from > 0 ? source.at(from - 1) : undefined;
    if (expected !== undefined && messageKey(expected) === last) return from;
    const place = placeAfter(source, last) ?? placeAfter(source, lastSaid);
    return place ?? (this.#isPartial ? 0 : undefined);
  }

  #show(tail: Messages): void {
    const { pinned, summary, head } = this.note;
    this.#tail = tail;
    this.#flat = undefined;
    this.#tokens = [pinned, summary, head, tail].reduce((sum, list) => sum + this.#counter.countMessages(list), 0);
  }
}

// True for a message of the conversation: of the user, or an answer.
function isSaid(message: Message): boolean {
  if (message.role === "user") return message.metadata?.isNote !== true;
  return message.role === "assistant" && toolCallsOf(message).length === 0;
}

function placeAfter(list: Messages, key: string): number | undefined {
  const place = list.toArray().findLastIndex((message) => messageKey(message) === key);
  return place === -1 ? undefined : place + 1;
}

function countCommonEnd(a: readonly Message[], b: readonly Message[]): number {
  let count = 0;
  while (count < a.length && count < b.length && a.at(-count - 1) === b.at(-count - 1)) count++;
  return count;
}
