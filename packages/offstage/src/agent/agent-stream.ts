// A run as a stream of events, or of its text only. Leaving the loop early aborts the run.
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
 * The events of one run, for one reader. The run does not wait to be read: `result` alone is enough. If the run fails or is
 * aborted, `result` rejects and the iteration throws after the last event.
 */
export class AgentStream<Output = string> implements AsyncIterable<AgentEvent> {
  /** Empty if the input or the options were refused. */
  readonly runId: string;
  /** Settles as `run()` does. */
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
        "A stream can be read only once. Await stream.result, or start another stream.",
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

  /** Only the text of the run, delta by delta. */
  get text(): AsyncIterable<string> {
    return { [Symbol.asyncIterator]: () => textOnly(this[Symbol.asyncIterator]()) };
  }

  // No-op if the run has ended.
  #leave(): void {
    this.#queue.close();
    this.#abort(new DOMException("The stream was left before the run ended.", "AbortError"));
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
