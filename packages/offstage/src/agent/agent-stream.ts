// A run as a stream: its events as they happen, its text alone, and its result. Leaving the stream early aborts the run.
import { OffstageError } from "../errors.ts";
import type { EventQueue } from "./event-queue.ts";
import type { AgentEvent } from "./ports/events.ts";
import type { RunResult } from "./ports/run-result.ts";

export interface AgentStreamParts<Output> {
  readonly runId: string;
  readonly queue: EventQueue;
  readonly result: Promise<RunResult<Output>>;
  readonly abort: (reason: unknown) => void;
}

/**
 * The events of one run, for one reader. Not reading it is fine: the run goes on, and `result` has everything. A run that
 * fails or is aborted throws at the end of the iteration and rejects `result`.
 */
export class AgentStream<Output = string> implements AsyncIterable<AgentEvent> {
  /** Empty where the run was refused for its input or options. */
  readonly runId: string;
  /** What `run` would have given. */
  readonly result: Promise<RunResult<Output>>;
  readonly #queue: EventQueue;
  readonly #abort: (reason: unknown) => void;
  #isRead = false;

  constructor({ runId, queue, result, abort }: AgentStreamParts<Output>) {
    this.runId = runId;
    this.result = result;
    this.#queue = queue;
    this.#abort = abort;
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent, undefined> {
    if (this.#isRead) {
      throw new OffstageError(
        "stream-consumed",
        "A stream is read once. Await stream.result for the whole, or start another stream.",
      );
    }
    this.#isRead = true;
    return {
      next: () => this.#queue.next() as Promise<IteratorResult<AgentEvent, undefined>>,
      return: async () => {
        this.#leave();
        return { done: true, value: undefined };
      },
    };
  }

  /** The text of the run, delta by delta. */
  get text(): AsyncIterable<string> {
    return { [Symbol.asyncIterator]: () => textOnly(this[Symbol.asyncIterator]()) };
  }

  // A run that has ended takes no notice.
  #leave(): void {
    this.#queue.close();
    this.#abort(new DOMException("The stream was left before the run had ended.", "AbortError"));
  }
}

function textOnly(events: AsyncIterator<AgentEvent, undefined>): AsyncIterator<string, undefined> {
  return {
    async next() {
      while (true) {
        const { done, value } = await events.next();
        if (done) return { done: true, value: undefined };
        if (value.type === "text-delta") return { done: false, value: value.delta };
      }
    },
    async return() {
      await events.return?.();
      return { done: true, value: undefined };
    },
  };
}
