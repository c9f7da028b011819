// A run as a stream of events, of its text, or of partial objects. Leaving the loop early aborts the run.
import { OffstageError } from "../errors.ts";
import { EventQueue } from "./event-queue.ts";
import type { loop, Open } from "./lifecycle/loop.ts";
import { openRun } from "./lifecycle/open-run.ts";
import { type DeepPartial, PartialJson } from "./partial-json.ts";
import type { AgentEvent, Emit } from "./ports/events.ts";
import type { RunResult } from "./ports/run-result.ts";
import type { Run } from "./run/run.ts";

/** A run that is being streamed, and its readers. */
interface StreamedRun<Output> {
  readonly runId: string;
  readonly result: Promise<RunResult<Output>>;
  readonly started: Promise<void>;
  /** The events that each reader has not read yet. A reader that left is not among them. */
  readonly queues: Set<EventQueue>;
  /** The agent's name if it has no output schema. */
  readonly plainAgent: string | undefined;
  abort(reason: unknown): void;
}

/** Starts a run at once, and streams its events. Refused input or options reject `result` instead of throwing here. */
export function startStream<Output>(
  create: (listener: Emit) => { readonly run: Run; readonly open?: Open },
  start: typeof loop,
): AgentStream<Output> {
  const queue = new EventQueue();
  const queues = new Set([queue]);
  const started = Promise.withResolvers<void>();
  let run: Run | undefined;
  const begin = async (): Promise<RunResult<Output>> => {
    const created = create((event) => {
      for (const each of queues) each.push(event);
    });
    run = created.run;
    const open: Open = async (opening) => {
      const state = await (created.open ?? openRun)(opening);
      if (!opening.scope.cancellation.signal.aborted) started.resolve();
      return state;
    };
    return start(run, open) as Promise<RunResult<Output>>;
  };
  const result = begin();
  const end = (ended?: { readonly error: unknown }) => {
    for (const each of queues) each.end(ended);
  };
  result.then(
    () => {
      started.resolve();
      end();
    },
    (error) => {
      started.reject(error);
      end({ error });
    },
  );
  // A caller who does not wait for it gets the error elsewhere.
  started.promise.catch(() => undefined);
  const runId = run?.identity.runId ?? "";
  const plainAgent = run?.agent.output === undefined ? run?.agent.name : undefined;
  const abort = (reason: unknown) => run?.scope.cancellation.abort(reason);
  return new AgentStream({ runId, result, started: started.promise, queues, plainAgent, abort }, queue);
}

/**
 * The events of one run, for one reader; `tee()` adds a second reader. The run does not wait to be read: `result` alone is enough.
 * If the run fails or is aborted, `result` rejects and the iteration throws after the last event.
 */
export class AgentStream<Output = string> implements AsyncIterable<AgentEvent> {
  /** Empty if the input or the options were refused. */
  readonly runId: string;
  /** Settles as `run()` does. */
  readonly result: Promise<RunResult<Output>>;
  /**
   * Resolves when the run has begun: it holds its session, and the message is durable. Rejects as `result` does if the run ends
   * before that, for example with `session-busy`.
   */
  readonly started: Promise<void>;
  readonly #run: StreamedRun<Output>;
  readonly #queue: EventQueue;
  #isRead = false;

  constructor(run: StreamedRun<Output>, queue: EventQueue) {
    this.runId = run.runId;
    this.result = run.result;
    this.started = run.started;
    this.#run = run;
    this.#queue = queue;
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentEvent, undefined> {
    if (this.#isRead) {
      throw new OffstageError(
        "stream-consumed",
        "A stream can be read only once. Call stream.tee() first for a second reader, or await stream.result.",
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
    return this.#pick(() => (event) => (event.type === "text-delta" ? { value: event.delta } : undefined));
  }

  /**
   * The structured output while it is written: a new value whenever it has grown, not checked by the schema. Numbers and names
   * appear when they are complete. The last value is complete. Values are frozen. An answer that is sent back begins again.
   */
  get partial(): AsyncIterable<DeepPartial<Output>> {
    return this.#pick(() => {
      const { plainAgent } = this.#run;
      if (plainAgent === undefined) return pickPartial<DeepPartial<Output>>();
      const sentence = `Agent "${plainAgent}" has no output schema, so its stream has no partial output. Read stream.text, or pass the agent the option "output".`;
      throw new OffstageError("invalid-argument", sentence);
    });
  }

  /** Aborts the run. The events up to `run-end` can still be read; then `result` and the loop reject with the reason. */
  abort(reason: unknown = new DOMException("The run was aborted with stream.abort().", "AbortError")): void {
    this.#run.abort(reason);
  }

  /**
   * This stream and a second reader of the same run, each at its own pace. The second one gets every event that this one has not
   * read yet. The run is aborted when the last reader leaves its loop early.
   */
  tee(): [AgentStream<Output>, AgentStream<Output>] {
    const queue = this.#queue.copy();
    if (this.#run.queues.has(this.#queue)) this.#run.queues.add(queue);
    return [this, new AgentStream(this.#run, queue)];
  }

  #pick<Item>(picker: () => EventPick<Item>): AsyncIterable<Item> {
    return {
      [Symbol.asyncIterator]: () => {
        const pick = picker();
        return pickFrom(this[Symbol.asyncIterator](), pick);
      },
    };
  }

  // No-op if the run has ended.
  #leave(): void {
    const { queues } = this.#run;
    this.#queue.close();
    queues.delete(this.#queue);
    if (queues.size === 0) this.abort(new DOMException("The stream was left before the run ended.", "AbortError"));
  }
}

/** The item that an event gives, if any. */
type EventPick<Item> = (event: AgentEvent) => { readonly value: Item } | undefined;

function pickFrom<Item>(
  events: AsyncIterator<AgentEvent, undefined>,
  pick: EventPick<Item>,
): AsyncIterator<Item, undefined> {
  return {
    async next() {
      while (true) {
        const { done, value: event } = await events.next();
        if (done) return { done: true, value: undefined };
        const picked = pick(event);
        if (picked !== undefined) return { done: false, value: picked.value };
      }
    },
    async return() {
      await events.return?.();
      return { done: true, value: undefined };
    },
  };
}

function pickPartial<Item>(): EventPick<Item> {
  let json = new PartialJson();
  let step = 0;
  return (event) => {
    if (event.type === "text-delta") {
      if (event.step !== step) json = new PartialJson();
      step = event.step;
      json.add(event.delta);
      return json.take() as { value: Item } | undefined;
    }
    if (event.type !== "step-end" && event.type !== "run-end") return undefined;
    json.end();
    return json.take({ isLast: true }) as { value: Item } | undefined;
  };
}
