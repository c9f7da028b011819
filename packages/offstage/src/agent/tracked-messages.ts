// What an agent exchanged, newest last, bounded. Trimmed in large bites, so that keeping it costs next to nothing.
import type { Message } from "../messages/message.ts";

/** The latest messages, at most as many as it was told to keep. */
export class TrackedMessages {
  readonly #keep: number;
  #messages: Message[] = [];
  // The ids of messages whose step waits: when it is done, they come again.
  readonly #waiting: Set<string> = new Set();

  constructor(keep: number) {
    this.#keep = keep;
  }

  add(messages: readonly Message[]): void {
    if (this.#keep === 0) return;
    const kept = this.#messages;
    const added = this.#waiting.size === 0 ? messages : messages.filter((message) => this.#isNew(message));
    for (let i = 0; i < added.length; i++) kept.push(added[i] as Message);
    if (kept.length > this.#keep * 2) this.#messages = kept.slice(-this.#keep);
  }

  /** Adds what there is of a step that waits. */
  addWaiting(messages: readonly Message[]): void {
    this.add(messages);
    for (const { metadata } of messages) if (metadata?.id !== undefined) this.#waiting.add(metadata.id);
    // Some are never taken up again.
    for (const id of this.#waiting) if (this.#waiting.size > this.#keep) this.#waiting.delete(id);
  }

  #isNew({ metadata }: Message): boolean {
    return metadata?.id === undefined || !this.#waiting.delete(metadata.id);
  }

  all(): readonly Message[] {
    return this.#messages.length > this.#keep ? this.#messages.slice(-this.#keep) : this.#messages.slice();
  }

  clear(): void {
    this.#messages = [];
    this.#waiting.clear();
  }
}
