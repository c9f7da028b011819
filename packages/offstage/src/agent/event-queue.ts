// The queue between a run and the reader of its stream. The run never waits for the reader. If the reader is slow, deltas are
// joined, so the queue grows no faster than the run's own content.
import type { AgentEvent } from "./ports/events.ts";

/** The length from which deltas are joined. */
const coalesceFrom = 1024;

type Waiter = { resolve(result: IteratorResult<AgentEvent>): void; reject(error: unknown): void };

/** Events in the order in which they were pushed, for one reader. */
export class EventQueue {
  #events: AgentEvent[] = [];
  #head = 0;
  /** Calls of `next()` that wait for an event, in order. */
  #waiters: Waiter[] = [];
  #end: { readonly error?: unknown } | undefined;
  #hasThrown = false;
  #isClosed = false;
  /** The index of the newest queued event of each run, while deltas are joined. */
  readonly #newest = new Map<string, number>();

  push(event: AgentEvent): void {
    if (this.#isClosed) return;
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) waiter.resolve({ done: false, value: event });
    else if (!this.#coalesce(event)) this.#events.push(event);
  }

  /** Ends the queue: after the last event the reader gets `done`, or the error. */
  end(end: { readonly error?: unknown } = {}): void {
    if (this.#isClosed) return;
    this.#end = end;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const { resolve, reject } of waiters) this.#settleEnd().then(resolve, reject);
  }

  next(): Promise<IteratorResult<AgentEvent>> {
    if (this.#head < this.#events.length) return Promise.resolve({ done: false, value: this.#shift() });
    if (this.#end !== undefined) return this.#settleEnd();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject });
    });
  }

  /** A queue for another reader: it has the events that this one still has, and ends as this one does. */
  copy(): EventQueue {
    const copied = new EventQueue();
    copied.#events = this.#events.slice(this.#head);
    copied.#end = this.#end;
    copied.#isClosed = this.#isClosed;
    return copied;
  }

  /** Drops all queued and future events. */
  close(): void {
    this.end();
    this.#end = {};
    this.#isClosed = true;
    this.#clear();
  }

  // The error is thrown once; after that the reader gets `done`.
  #settleEnd(): Promise<IteratorResult<AgentEvent>> {
    const end = this.#end ?? {};
    if (this.#hasThrown || !("error" in end)) return Promise.resolve({ done: true, value: undefined });
    this.#hasThrown = true;
    return Promise.reject(end.error);
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

  // Joins a delta only with the newest event of the same run, so that each run keeps its order.
  #coalesce(event: AgentEvent): boolean {
    if (this.#events.length - this.#head < coalesceFrom) {
      this.#newest.clear();
      return false;
    }
    const { runId } = innermost(event);
    const index = this.#newest.get(runId) ?? -1;
    const joined = index < this.#head ? undefined : joinDeltas(this.#events[index] as AgentEvent, event);
    if (joined === undefined) this.#newest.set(runId, this.#events.length);
    else this.#events[index] = joined;
    return joined !== undefined;
  }
}

/** The event of a subagent inside the events that wrap it; any other event itself. */
function innermost(event: AgentEvent): AgentEvent {
  return event.type === "subagent-event" ? innermost(event.event) : event;
}

/** Joins two deltas of the same text; undefined if they are not. */
function joinDeltas(first: AgentEvent, second: AgentEvent): AgentEvent | undefined {
  if (first.type === "subagent-event" && second.type === "subagent-event") {
    const event = joinDeltas(first.event, second.event);
    return event === undefined ? undefined : { ...first, event };
  }
  if (!isDelta(first) || !isDelta(second) || !continues(first, second)) return undefined;
  return { ...first, delta: first.delta + second.delta };
}

type Delta = Extract<AgentEvent, { readonly delta: string }>;

function isDelta(event: AgentEvent): event is Delta {
  return "delta" in event;
}

function continues(first: Delta, second: Delta): boolean {
  if (first.type !== second.type || first.runId !== second.runId || first.step !== second.step) return false;
  return first.type !== "tool-input-delta" || first.toolCallId === (second as typeof first).toolCallId;
}
