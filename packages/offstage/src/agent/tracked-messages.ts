// What an agent exchanged, newest last, bounded. Trimmed in large bites, so that keeping it costs next to nothing.
import type { Message } from "../messages/message.ts";

/** The latest messages, at most as many as it was told to keep. */
export class TrackedMessages {
  readonly #keep: number;
  #messages: Message[] = [];

  constructor(keep: number) {
    this.#keep = keep;
  }

  add(messages: readonly Message[]): void {
    if (this.#keep === 0) return;
    const kept = this.#messages;
    for (let i = 0; i < messages.length; i++) kept.push(messages[i] as Message);
    if (this.#messages.length > this.#keep * 2) this.#messages = this.#messages.slice(-this.#keep);
  }

  all(): readonly Message[] {
    return this.#messages.length > this.#keep ? this.#messages.slice(-this.#keep) : this.#messages.slice();
  }

  clear(): void {
    this.#messages = [];
  }
}
