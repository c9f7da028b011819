// The queue between a run and whoever reads its stream. The run never waits for the reader; a slow reader gets longer
// deltas instead of more of them, so what is queued grows with the run's own content and no faster.
import type { AgentEvent } from "./events.ts";

const coalesceFrom = 1024;

type Waiter = { resolve(result: IteratorResult<AgentEvent>): void; reject(error: unknown): void };

export class EventQueue {
  #events: AgentEvent[] = [];
  #head = 0;
  #waiter: Waiter | undefined;
  #end: { readonly error?: unknown } | undefined;

  push(event: AgentEvent): void {
    const waiter = this.#waiter;
    if (waiter !== undefined) {
      this.#waiter = undefined;
      waiter.resolve({ done: false, value: event });
    } else if (!this.#coalesce(event)) this.#events.push(event);
  }

  /** No more events: readers come to the end, or to the error. */
  end(end: { readonly error?: unknown } = {}): void {
    this.#end = end;
    const waiter = this.#waiter;
    this.#waiter = undefined;
    if (waiter === undefined) return;
    if ("error" in end) waiter.reject(end.error);
    else waiter.resolve({ done: true, value: undefined });
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    if (this.#head < this.#events.length) return Promise.resolve({ done: false, value: this.#shift() });
    if (this.#end !== undefined) return this.#ended(this.#end);
    return new Promise((resolve, reject) => {
      this.#waiter = { resolve, reject };
    });
  }

  /** Forgets what nobody will read. */
  clear(): void {
    this.#events = [];
    this.#head = 0;
  }

  // An error is thrown once; a reader that asks again is at the end.
  #ended(end: { readonly error?: unknown }): Promise<IteratorResult<AgentEvent>> {
    this.#end = {};
    return "error" in end ? Promise.reject(end.error) : Promise.resolve({ done: true, value: undefined });
  }

  #shift(): AgentEvent {
    const event = this.#events[this.#head++] as AgentEvent;
    if (this.#head === this.#events.length) this.clear();
    else if (this.#head >= coalesceFrom && this.#head * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#head);
      this.#head = 0;
    }
    return event;
  }

  #coalesce(event: AgentEvent): boolean {
    if (this.#events.length - this.#head < coalesceFrom) return false;
    if (event.type !== "text-delta" && event.type !== "reasoning-delta" && event.type !== "tool-input-delta")
      return false;
    const last = this.#events.at(-1);
    if (last?.type !== event.type || last.step !== event.step) return false;
    if (last.type === "tool-input-delta" && last.toolCallId !== (event as typeof last).toolCallId) return false;
    this.#events[this.#events.length - 1] = { ...last, delta: last.delta + event.delta };
    return true;
  }
}
