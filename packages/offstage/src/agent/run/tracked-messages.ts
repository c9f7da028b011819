// The latest messages of an agent, up to a limit. Trimmed only when they are twice as many, so that adding is cheap.
import type { Message } from "../../messages/message.ts";

const maxUnfinished = 1_000;

/** The latest messages, oldest first; at most `keep` of them. */
export class TrackedMessages {
  readonly #keep: number;
  #messages: Message[] = [];
  // The runs whose newest step is unfinished. When such a run is resumed, the messages of that step are added again.
  readonly #unfinished: Set<string> = new Set();

  constructor(keep: number) {
    this.#keep = keep;
  }

  /** Adds messages, and leaves out what is none: a state of the caller's may have anything. If they complete an unfinished step, they replace its earlier ones. */
  add(given: readonly Message[]): void {
    if (this.#keep === 0) return;
    const messages = given.filter((message) => message?.role !== undefined);
    this.#removeKnown(messages);
    for (const message of messages) this.#messages.push(message);
    if (this.#messages.length > this.#keep * 2) this.#messages = this.#messages.slice(-this.#keep);
  }

  /** Adds the messages so far of a step that waits or was interrupted. */
  addUnfinished(runId: string, messages: readonly Message[]): void {
    this.add(messages);
    this.#unfinished.add(runId);
    // Runs that are never resumed must not accumulate.
    const [oldest] = this.#unfinished;
    if (this.#unfinished.size > maxUnfinished && oldest !== undefined) this.#unfinished.delete(oldest);
  }

  // Removes messages that are added again: those of an unfinished step, and those of a subagent that has added them itself.
  #removeKnown(messages: readonly Message[]): void {
    const runId = messages[0]?.metadata?.runId;
    if (runId === undefined) return;
    const isResumed = this.#unfinished.delete(runId);
    if (!isResumed && !messages.some(({ metadata }) => metadata?.runId !== runId)) return;
    const ids = new Set(messages.map(({ metadata }) => metadata?.id));
    this.#messages = this.#messages.filter(({ metadata }) => metadata?.id === undefined || !ids.has(metadata.id));
  }

  all(): readonly Message[] {
    return this.#messages.length > this.#keep ? this.#messages.slice(-this.#keep) : this.#messages.slice();
  }

  clear(): void {
    this.#messages = [];
    this.#unfinished.clear();
  }
}
