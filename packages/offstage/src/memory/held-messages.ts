// Held messages: what a kind of memory keeps, checked on the way in. No policy.
import { parseMessages } from "../messages/codec.ts";
import type { Message } from "../messages/message.ts";
import { Messages } from "../messages/messages.ts";
import { checkLimit } from "../sessions/limit.ts";

/** One message or several as a list; throws `invalid-message` where one is not valid. */
export function checkedList(added: Message | readonly Message[]): Message[] {
  return parseMessages(Array.isArray(added) ? added : [added], { name: "add" });
}

/** A token limit as a number; a `RangeError` where it is neither undefined nor a whole number from 0. */
export function tokenLimitOf(limit: number | undefined): number {
  return checkLimit(limit, "tokenLimit") ?? Number.POSITIVE_INFINITY;
}

/** A list that grows, and can be emptied. */
export class HeldMessages {
  #messages: Messages = Messages.empty();

  get length(): number {
    return this.#messages.length;
  }

  /** The list as it is now; a later one extends it. */
  get list(): Messages {
    return this.#messages;
  }

  add(added: Message | readonly Message[]): void {
    this.#messages = this.#messages.append(checkedList(added));
  }

  clear(): void {
    this.#messages = Messages.empty();
  }
}
