// What an agent exchanged, newest last, bounded. Trimmed in large bites, so that keeping it costs next to nothing.
import type { Message } from "../../messages/message.ts";

/** The latest messages, at most as many as it was told to keep. */
export class TrackedMessages {
  readonly #keep: number;
  #messages: Message[] = [];
  // The runs whose newest step is not done: when the run is taken up again, its messages come once more.
  readonly #unfinished: Set<string> = new Set();

  constructor(keep: number) {
    this.#keep = keep;
  }

  /** Adds messages at the end. Those of a step that was unfinished take the place of what there was of it. */
  add(messages: readonly Message[]): void {
    if (this.#keep === 0) return;
    if (this.#unfinished.size > 0) this.#takeBack(messages);
    const kept = this.#messages;
    for (let i = 0; i < messages.length; i++) kept.push(messages[i] as Message);
    if (kept.length > this.#keep * 2) this.#messages = kept.slice(-this.#keep);
  }

  /** Adds what there is of a step that waits, or was cut off. */
  addUnfinished(runId: string, messages: readonly Message[]): void {
    this.add(messages);
    this.#unfinished.add(runId);
    // Runs that are never taken up again must not pile up: the oldest is forgotten.
    if (this.#unfinished.size > mostUnfinished)
      this.#unfinished.delete(this.#unfinished.values().next().value as string);
  }

  #takeBack(messages: readonly Message[]): void {
    const runId = messages[0]?.metadata?.runId;
    if (runId === undefined || !this.#unfinished.delete(runId)) return;
    const again = new Set(messages.map(({ metadata }) => metadata?.id));
    this.#messages = this.#messages.filter(({ metadata }) => metadata?.id === undefined || !again.has(metadata.id));
  }

  all(): readonly Message[] {
    return this.#messages.length > this.#keep ? this.#messages.slice(-this.#keep) : this.#messages.slice();
  }

  clear(): void {
    this.#messages = [];
    this.#unfinished.clear();
  }
}

const mostUnfinished = 1_000;
