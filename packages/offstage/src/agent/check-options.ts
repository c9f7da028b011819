// What the options of an agent and of a run may be, as far as nobody else checks them. A slip is told when it is made.
import { OffstageError } from "../errors.ts";
import {
  checkOptions,
  found,
  having,
  numberFrom,
  type OptionRule,
  type OptionRules,
  oneOf,
  positiveNumber,
} from "../messages/check-options.ts";
import { isObject } from "../messages/json.ts";
import { checkLimit } from "../sessions/limit.ts";
import { checkTracing } from "../tracing/tracing-options.ts";
import type { AgentOptions, RunOptions } from "./agent-options.ts";

const hooks: OptionRule = {
  // Whatever else an object of the user's holds is its own affair.
  isFit: (value) =>
    isObject(value) &&
    Object.entries(value).every(([name, hook]) => !/^on[A-Z]/.test(name) || !hook || typeof hook === "function"),
  words: "an object of functions such as { onRunEnd(event) }",
};

const aFunctionOr = ({ isFit, words }: OptionRule): OptionRule => ({
  isFit: (value) => typeof value === "function" || isFit(value),
  words: `${words}, or a function`,
});

const criterion = aFunctionOr(having("a criterion { name, decide(state) }", "decide"));

const agentRules: OptionRules = {
  toolHistory: oneOf("none", "digest", "full"),
  errorPolicy: {
    isFit: (value) => value === "continue" || value === "stop" || isObject(value),
    words: '"continue", "stop" or { maxToolErrors, maxFailedSteps }',
  },
  hooks,
  continueWhile: {
    isFit: (value) => [value].flat().every(criterion.isFit),
    words: `${criterion.words}, or a list of them`,
  },
  driver: having("a driver, such as reactDriver()", "preamble", "modelTools", "toPrompt", "read"),
  retry: { isFit: isObject, words: "an object { maxRetries, initialDelayMs, maxDelayMs }" },
  memory: aFunctionOr(having("a memory", "add", "getContext", "getAllMessages")),
  memoryTokens: positiveNumber,
  compaction: having("made with compactor({ … })", "open"),
  tokenCounter: having("a counter { count(text) }", "count"),
};

const retryRules: OptionRules = {
  maxRetries: numberFrom(0),
  initialDelayMs: numberFrom(0),
  maxDelayMs: numberFrom(0),
};

const runRules: OptionRules = {
  historyTokens: numberFrom(0),
  onBusy: oneOf("queue", "reject"),
  record: oneOf("conversation", "everything"),
  hooks,
  signal: having("an AbortSignal", "addEventListener"),
};

/** Throws where an option of an agent cannot be what is meant. */
export function checkAgentOptions(options: AgentOptions<unknown>): void {
  checkOptions(options, agentRules);
  if (options.retry) checkOptions(options.retry, retryRules);
  checkTracing(options.tracing);
}

/** Throws where an option of a run cannot be what is meant. */
export function checkRunOptions(options: RunOptions): void {
  const given: unknown = options;
  if (!isObject(given))
    throw new OffstageError("invalid-argument", `The options of a run are an object; found ${found(given)}.`);
  checkOptions(options, runRules);
  checkLimit(options.historyLimit, "historyLimit");
}
