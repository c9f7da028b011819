// The metrics of a worker, for OpenTelemetry: how deep the queue is, how long runs take, what they use, and how often they fail.
import type { Worked } from "./work.ts";

interface Histogram {
  record(value: number, attributes?: Record<string, string>): void;
}

interface Counter {
  add(value: number, attributes?: Record<string, string>): void;
}

interface Gauge {
  addCallback(observe: (result: { observe(value: number): void }) => Promise<void>): void;
}

/** The part of a meter of OpenTelemetry that an engine uses. */
export interface EngineMeter {
  createHistogram(name: string, options: object): Histogram;
  createCounter(name: string, options: object): Counter;
  createObservableGauge(name: string, options: object): Gauge;
}

export interface EngineMetrics {
  /** Counts a finished attempt. */
  attempt(agent: string, durationMs: number, worked: Worked): void;
}

export function engineMetrics(meter: EngineMeter | undefined, queueDepth: () => Promise<number>): EngineMetrics {
  if (meter === undefined) return { attempt: () => {} };
  const duration = meter.createHistogram("offstage.run.duration", {
    unit: "s",
    description: "Time that a worker spent on a run.",
  });
  const tokens = meter.createCounter("offstage.run.tokens", {
    unit: "{token}",
    description: "Tokens of finished runs.",
  });
  const failures = meter.createCounter("offstage.run.failures", {
    unit: "{run}",
    description: "Runs that failed for good.",
  });
  const depth = meter.createObservableGauge("offstage.queue.depth", {
    unit: "{run}",
    description: "Runs that wait for a worker.",
  });
  depth.addCallback(async (result) => result.observe(await queueDepth()));
  return {
    attempt(agent, durationMs, { status, result }) {
      const attributes = { "gen_ai.agent.name": agent, "offstage.run.status": status };
      duration.record(durationMs / 1000, attributes);
      if (result !== undefined) tokens.add(result.usage.totalTokens, attributes);
      if (status === "failed") failures.add(1, attributes);
    },
  };
}
