// What the options of an agent, a run and a subagent may be, as far as nobody else checks them. A slip is told when it is made.

import { checkSlips } from "../../base/check-slips.ts";
import { isObject } from "../../base/json.ts";
import {
  checkOnly,
  checkOptions,
  having,
  numberFrom,
  type OptionRule,
  type OptionRules,
  oneOf,
  wholeFrom,
  yesOrNo,
} from "../../base/options.ts";
import { checkLimit } from "../../sessions/limit.ts";
import { checkSession } from "../../sessions/plain-journal.ts";
import { checkTracing } from "../../tracing/tracing-options.ts";
import type { AgentOptions, RunOptions, SubagentOptions } from "../ports/agent-options.ts";
import { type AgentHooks, hookNames } from "../ports/hooks.ts";
import { knownToAgents, knownToHooks, knownToRuns, knownToSubagents } from "./option-names.ts";

const hooks: OptionRule = {
  // Whatever else an object of the user's holds is its own affair unless it must be a slip (`checkHooks`); `false` is what
  // `isDebug && hooks` gives.
  isFit: (value) => value === false || (isObject(value) && hookNames.every((name) => isHook(value[name]))),
  words: "an object of functions such as { onRunEnd(event) }",
};

const isHook = (hook: unknown): boolean => hook === undefined || hook === null || typeof hook === "function";

const functionOr = ({ isFit, words }: OptionRule): OptionRule => ({
  isFit: (value) => typeof value === "function" || isFit(value),
  words: `${words}, or a function`,
});

const criterion = functionOr(having("a criterion { name, decide(state) }", "decide"));

const memory = having("a memory with add, getContext and getAllMessages", "add", "getContext", "getAllMessages");

const agentRules: OptionRules = {
  description: { isFit: (value) => typeof value === "string", words: "text" },
  separateToolTrace: yesOrNo,
  modelSettings: { isFit: isObject, words: "an object such as { temperature: 0 }" },
  outputRetries: wholeFrom(0),
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
  memory: functionOr(memory),
  memoryTokens: wholeFrom(1),
  maxParallelTools: numberFrom(1),
  compaction: having("made with compactor({ … })", "open"),
  tokenCounter: having("a counter { count(text) }", "count"),
};

const retryRules: OptionRules = {
  maxRetries: numberFrom(0),
  initialDelayMs: numberFrom(0),
  maxDelayMs: numberFrom(0),
};

const runRules: OptionRules = {
  // What else it may not be is told where its journal is asked for.
  session: { isFit: (value) => value !== null, words: "a session" },
  historyTokens: numberFrom(0),
  onBusy: oneOf("queue", "reject"),
  record: oneOf("conversation", "everything"),
  hooks,
  signal: having("an AbortSignal, such as controller.signal", "addEventListener"),
  context: { isFit: (value) => value === null || isObject(value), words: "an AgentContext or an object of values" },
};

const subagentRules: OptionRules = { maxDepth: numberFrom(0), maxSteps: numberFrom(1) };

/** Throws where an option of an agent cannot be what is meant. */
export function checkAgentOptions(options: AgentOptions<unknown>): void {
  checkOptions(options, agentRules, "The options of an agent");
  checkSlips(options, knownToAgents, "The options of an agent");
  checkHooks(options.hooks);
  if (options.retry) checkOnly(options.retry, retryRules, "The options of a retry");
  if (options.session !== undefined) checkSession(options.session);
  checkTracing(options.tracing);
}

/** Throws where an option of a run cannot be what is meant. */
export function checkRunOptions(options: RunOptions): void {
  checkOptions(options, runRules, "The options of a run");
  checkSlips(options, knownToRuns, "The options of a run");
  checkHooks(options.hooks);
  checkLimit(options.historyLimit, "historyLimit");
  if (options.tracing !== undefined) checkTracing(options.tracing);
}

function checkHooks(given: AgentHooks | undefined): void {
  if (given) checkSlips(given, knownToHooks, "Hooks");
}

/** Throws where an option of a subagent cannot be what is meant. Its policies are checked as those of any tool. */
export function checkSubagentOptions(options: SubagentOptions): void {
  checkOptions(options, subagentRules, "The options of asTool()");
  checkSlips(options, knownToSubagents, "The options of asTool()");
}

/** Throws where the function of an agent's options gave no memory. */
export function checkMemory(given: unknown): void {
  checkOptions({ memory: given }, { memory }, "The options of an agent");
}
