// The queue between a run and whoever reads its stream. The run never waits for the reader; a slow reader gets longer
// deltas instead of more of them, so what is queued grows with the run's own content and no faster.

import type { AgentEvent } from "./ports/events.ts";

const coalesceFrom = 1024;

type Waiter = { resolve(result: IteratorResult<AgentEvent>): void; reject(error: unknown): void };

/** Events in the order they were pushed, for one reader. `push` never waits. */
export class EventQueue {
  #events: AgentEvent[] = [];
  #head = 0;
  /** Readers that asked ahead, in order. */
  #waiters: Waiter[] = [];
  #end: { readonly error?: unknown } | undefined;
  #isClosed = false;
  /** Where the newest queued event of each run stands, while the queue is long. */
  readonly #newest = new Map<string, number>();

  push(event: AgentEvent): void {
    if (this.#isClosed) return;
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) waiter.resolve({ done: false, value: event });
    else if (!this.#coalesce(event)) this.#events.push(event);
  }

  /** No more events: readers come to the end, or to the error. */
  end(end: { readonly error?: unknown } = {}): void {
    if (this.#isClosed) return;
    this.#end = end;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const { resolve, reject } of waiters) this.#ended().then(resolve, reject);
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    if (this.#head < this.#events.length) return Promise.resolve({ done: false, value: this.#shift() });
    if (this.#end !== undefined) return this.#ended();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
    });
  }

  /** Nobody reads any more: what is queued is forgotten, and what comes is not kept. */
  close(): void {
    this.end();
    this.#end = {};
    this.#isClosed = true;
    this.#clear();
  }

  // An error is thrown once; a reader that asks again is at the end.
  #ended(): Promise<IteratorResult<AgentEvent>> {
    const end = this.#end ?? {};
    this.#end = {};
    return "error" in end ? Promise.reject(end.error) : Promise.resolve({ done: true, value: undefined });
  }

  #clear(): void {
    this.#events = [];
    this.#head = 0;
    this.#newest.clear();
  }

  #shift(): AgentEvent {
    const event = this.#events[this.#head++] as AgentEvent;
    if (this.#head === this.#events.length) this.#clear();
    else if (this.#head >= coalesceFrom && this.#head * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#head);
      this.#head = 0;
      this.#newest.clear();
    }
    return event;
  }

  // Only with the newest event of the same run, so that every run keeps its own order.
  #coalesce(event: AgentEvent): boolean {
    if (this.#events.length - this.#head < coalesceFrom) {
      if (this.#newest.size > 0) this.#newest.clear();
      return false;
    }
    const { runId } = subjectOf(event);
    const place = this.#newest.get(runId) ?? -1;
    const joined = place < this.#head ? undefined : joinDeltas(this.#events[place] as AgentEvent, event);
    if (joined === undefined) this.#newest.set(runId, this.#events.length);
    else this.#events[place] = joined;
    return joined !== undefined;
  }
}

/** The event itself: what a wrapped event of a subagent is about. */
function subjectOf(event: AgentEvent): AgentEvent {
  return event.type === "subagent-event" ? subjectOf(event.event) : event;
}

/** The two as one longer delta; undefined where they are not deltas of the same thing. */
function joinDeltas(first: AgentEvent, second: AgentEvent): AgentEvent | undefined {
  if (first.type === "subagent-event" && second.type === "subagent-event") {
    const event = joinDeltas(first.event, second.event);
    return event === undefined ? undefined : { ...first, event };
  }
  if (!isDelta(first) || !isDelta(second) || !isSame(first, second)) return undefined;
  return { ...first, delta: first.delta + second.delta };
}

type Delta = Extract<AgentEvent, { readonly delta: string }>;

function isDelta(event: AgentEvent): event is Delta {
  return "delta" in event;
}

function isSame(first: Delta, second: Delta): boolean {
  if (first.type !== second.type || first.runId !== second.runId || first.step !== second.step) return false;
  return first.type !== "tool-input-delta" || first.toolCallId === (second as typeof first).toolCallId;
}
