// Plays every scenario twice, with `run` and with `stream`, and checks the invariants of every run afterwards.
import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Agent, AgentEvent, AgentHooks, OffstageError, RunInput, RunOptions, RunResult } from "../../src/index.ts";
import { checkEvents, checkRun, checkTraces, type RecordedSpan } from "./invariants.ts";

export interface Scene {
  readonly way: "run" | "stream";
  /** Plays one run to its end, the way this scene does. */
  play<Output>(agent: Agent<Output>, input: RunInput, options?: RunOptions): Promise<RunResult<Output>>;
  /** Plays a run that fails, and returns its error. */
  fail(agent: Agent<unknown>, input: RunInput, options?: RunOptions): Promise<RunFailure>;
  /** Every event of the streams of this scene; empty if the scene uses `run`. */
  readonly events: AgentEvent[];
  /** Every run of this scene that has ended, aborted ones included. */
  readonly ended: RunResult<unknown>[];
}

export type RunFailure = OffstageError & { readonly result: RunResult<unknown> };

/** Tests one claim both ways. */
export function bothWays(claim: string, act: (scene: Scene) => Promise<void>, timeoutMs = 10_000): void {
  for (const way of ["run", "stream"] as const) test(`${claim} (${way})`, () => perform(way, act), timeoutMs);
}

async function perform(way: Scene["way"], act: (scene: Scene) => Promise<void>): Promise<void> {
  const stage = new Stage(way);
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  try {
    await act(stage);
    await turn();
  } finally {
    process.off("unhandledRejection", note);
  }
  expect(unhandled, "unhandled rejections").toEqual([]);
  stage.check();
}

class Stage implements Scene {
  readonly way: Scene["way"];
  readonly events: AgentEvent[] = [];
  readonly ended: RunResult<unknown>[] = [];
  readonly #spans: RecordedSpan[] = [];
  readonly #signals = new Map<AbortSignal, number>();
  readonly #streams: AgentEvent[][] = [];

  constructor(way: Scene["way"]) {
    this.way = way;
  }

  readonly play = <Output>(agent: Agent<Output>, input: RunInput, options: RunOptions = {}) => {
    if (options.signal !== undefined && !this.#signals.has(options.signal))
      this.#signals.set(options.signal, listenersOf(options.signal));
    const watched = { ...this.#watched(options), ...options, hooks: this.#hooks(options) };
    return this.way === "run" ? agent.run(input, watched) : this.#stream(agent, input, watched);
  };

  readonly fail = async (agent: Agent<unknown>, input: RunInput, options: RunOptions = {}): Promise<RunFailure> => {
    const outcome = await this.play(agent, input, options).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
    if ("result" in outcome) throw new Error(`The run did not fail: ${JSON.stringify(outcome.result.outcome)}`);
    return outcome.error as RunFailure;
  };

  check(): void {
    expect(checkTraces(this.#spans, this.ended)).toEqual([]);
    for (const result of this.ended) checkRun(result);
    for (const events of this.#streams) checkEvents(events);
    for (const [signal, before] of this.#signals) expect(listenersOf(signal), "listeners left").toBe(before);
  }

  async #stream<Output>(agent: Agent<Output>, input: RunInput, options: RunOptions): Promise<RunResult<Output>> {
    const events: AgentEvent[] = [];
    const stream = agent.stream(input, options);
    // A refused run has no events.
    if (stream.runId !== "") this.#streams.push(events);
    let thrown: { readonly error: unknown } | undefined;
    try {
      for await (const event of stream) {
        events.push(event);
        this.events.push(event);
      }
    } catch (error) {
      thrown = { error };
    }
    if (thrown === undefined) return stream.result;
    const { error } = thrown;
    await expect(stream.result.catch((reason: unknown) => reason)).resolves.toBe(error);
    throw error;
  }

  #watched({ tracing }: RunOptions): Pick<RunOptions, "tracing"> {
    if (tracing !== undefined) return {};
    const keep = (spans: readonly object[]) => {
      for (const span of spans) this.#spans.push(span as RecordedSpan);
    };
    const exporter = { name: "scene", export: keep, flush: async () => {}, shutdown: async () => {} };
    return { tracing: { exporters: [exporter] } };
  }

  #hooks({ hooks }: RunOptions): AgentHooks {
    return {
      ...hooks,
      onRunEnd: (event, options) => {
        this.ended.push(event.result);
        return hooks?.onRunEnd?.(event, options);
      },
    };
  }
}

function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length;
}
