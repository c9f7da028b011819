// The options of the engine on DBOS, and their rules.
import {
  checkOptions,
  numberFrom,
  type OptionRule,
  objectWith,
  positiveNumber,
  someText,
  wholeFrom,
} from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import { type Store, storeSource } from "../../sessions/store.ts";
import type { EngineMeter } from "./metrics.ts";
import type { EngineAgent, WorkLimits } from "./work.ts";

export interface DbosEngineOptions {
  /** The store of all sessions and runs, on Postgres. */
  readonly store: Store;
  /** The agents that runs can be submitted to, by name. */
  readonly agents: readonly EngineAgent[];
  /** How many runs this worker works on at the same time. Default 10. */
  readonly concurrency?: number | undefined;
  /** The address of the database of the queues: a direct connection, not a pooler. Default: the address of the store. */
  readonly url?: string | undefined;
  /** Engines with different names share a database without seeing each other. Default "offstage". */
  readonly name?: string | undefined;
  /** How many runs may work at the same time on all workers. Default: no limit. */
  readonly maxRunning?: number | undefined;
  /** How many runs may begin per period on all workers. Default: no limit. */
  readonly rateLimit?: { readonly runs: number; readonly perSeconds: number } | undefined;
  /** How many times a run is resumed that failed for a reason that may pass, such as a model that is down. Default 3. */
  readonly maxRetries?: number | undefined;
  /** The pause before the first of these attempts; it doubles with each. Default 1,000. */
  readonly retryDelayMs?: number | undefined;
  /** How many workers may die while they work on a run, before it ends as failed. Default 3. */
  readonly maxLostWorkers?: number | undefined;
  /** How often an idle worker looks into the queue. Default 100. */
  readonly pollMs?: number | undefined;
  /** How often a worker looks for others that died. Default 1,000. */
  readonly watchMs?: number | undefined;
  /** A meter of OpenTelemetry, for the metrics of this worker. */
  readonly meter?: EngineMeter | undefined;
}

const rules: Readonly<Record<keyof DbosEngineOptions, OptionRule>> = {
  store: { isFit: (value) => (value as Partial<Store>)?.[storeSource] !== undefined, words: "a store" },
  agents: {
    isFit: (value) => Array.isArray(value) && value.every(objectWith("", "run", "resume").isFit),
    words: "a list of agents",
  },
  concurrency: wholeFrom(1),
  url: someText,
  name: {
    isFit: (value) => typeof value === "string" && /^[\w-]{1,64}$/.test(value),
    words: "a name of letters, digits, - and _",
  },
  maxRunning: wholeFrom(1),
  rateLimit: {
    isFit: (value) => {
      const { runs, perSeconds } = (value ?? {}) as { runs?: unknown; perSeconds?: unknown };
      return wholeFrom(1).isFit(runs) && positiveNumber.isFit(perSeconds);
    },
    words: "{ runs, perSeconds }",
  },
  maxRetries: wholeFrom(0),
  retryDelayMs: numberFrom(0),
  maxLostWorkers: wholeFrom(0),
  pollMs: positiveNumber,
  watchMs: positiveNumber,
  meter: objectWith("a meter of OpenTelemetry", "createHistogram", "createCounter", "createObservableGauge"),
};

/** The options with their defaults. */
export interface CheckedEngineOptions extends Pick<DbosEngineOptions, "store" | "maxRunning" | "rateLimit" | "meter"> {
  readonly agents: ReadonlyMap<string, EngineAgent>;
  readonly url: string;
  readonly name: string;
  readonly concurrency: number;
  readonly limits: WorkLimits;
  readonly maxLost: number;
  readonly pollMs: number;
  readonly watchMs: number;
}

/** Throws `invalid-argument` for options that are unknown, unfit or missing. */
export function checkEngineOptions(options: DbosEngineOptions): CheckedEngineOptions {
  checkOptions(options, rules, "dbosEngine()");
  const { store, agents } = options;
  if (store === undefined || agents === undefined || agents.length === 0)
    throw invalid("dbosEngine() needs a store, and at least one agent.");
  const byName = new Map(agents.map((agent) => [agent.name, agent]));
  if (byName.size < agents.length)
    throw invalid(`dbosEngine() needs agents of different names; found ${namesOf(agents)}.`);
  const url = options.url ?? store[storeSource].url?.();
  if (url === undefined || !/^postgres(ql)?:/.test(url))
    throw invalid(
      'dbosEngine() needs a store on Postgres: pass postgresStore({ url }), or the address of the database as "url".',
    );
  const { concurrency = 10, name = "offstage", maxRunning, rateLimit, meter } = options;
  const { maxRetries = 3, retryDelayMs = 1000, maxLostWorkers: maxLost = 3, pollMs = 100, watchMs = 1000 } = options;
  const limits = { maxRetries, retryDelayMs };
  const given = { store, url, name, concurrency, maxRunning, rateLimit, meter };
  return { ...given, agents: byName, limits, maxLost, pollMs, watchMs };
}

function namesOf(agents: readonly EngineAgent[]): string {
  return agents.map(({ name }) => `"${name}"`).join(", ");
}

function invalid(sentence: string): OffstageError {
  return new OffstageError("invalid-argument", sentence);
}
