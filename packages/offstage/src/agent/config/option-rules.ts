// The rules for the options of agents, runs, resume(), asTool() and hooks. Checked when they are passed in, before anything is written.

import { isObject } from "../../base/json.ts";
import {
  anything,
  checkOptions,
  checkValue,
  numberFrom,
  type OptionRule,
  objectWith,
  oneOf,
  someText,
  wholeFrom,
  yesOrNo,
} from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";
import { checkModelSettings } from "../../models/model-settings.ts";
import { checkRetryOptions } from "../../models/retry.ts";
import { checkSession } from "../../sessions/journal/plain-journal.ts";
import { priceTable } from "../../tokens/price-of.ts";
import { checkTracing } from "../../tracing/tracing-options.ts";
import type { AgentOptions, ResumeOptions, RunOptions, RunSource, SubagentOptions } from "../ports/agent-options.ts";
import type { Guardrails } from "../ports/guardrails.ts";
import { type AgentHooks, hookNames } from "../ports/hooks.ts";

type Rules<Options> = Readonly<Record<keyof Options, OptionRule>>;

// The object may have other fields, so only its hooks are checked. `false` is accepted because `isDebug && hooks` gives it.
const hooks: OptionRule = {
  isFit: (value) => value === false || (isObject(value) && hookNames.every((name) => isHook(value[name]))),
  words: "an object of functions such as { onRunEnd(event) }",
};

const onApproval: OptionRule = {
  isFit: (value) => typeof value === "function",
  words: "a function (approval, { context, signal })",
};

const isHook = (hook: unknown): boolean => hook === undefined || hook === null || typeof hook === "function";

const functionOr = ({ isFit, words }: OptionRule): OptionRule => ({
  isFit: (value) => typeof value === "function" || isFit(value),
  words: `${words}, or a function`,
});

const text: OptionRule = { isFit: (value) => typeof value === "string", words: "text" };
const listOf = ({ isFit, words }: OptionRule): OptionRule => ({
  isFit: (value) => Array.isArray(value) && value.every(isFit),
  words: `a list of ${words}`,
});
const guardrails = listOf(objectWith("objects { name, check(subject) }", "check"));
/** The rules for the argument of `withGuardrails`. */
export const guardrailRules: Rules<Guardrails> = {
  input: guardrails,
  output: guardrails,
  toolInput: guardrails,
  toolOutput: guardrails,
};
const criterion = functionOr(objectWith("a criterion { name, decide(state) }", "decide"));
const memory = objectWith("a memory with add, getContext and getAllMessages", "add", "getContext", "getAllMessages");
const session: OptionRule = { isFit: (value) => value !== null, words: "a session" };

const agentRules: Rules<AgentOptions> = {
  name: { isFit: (value) => typeof value === "string" && value.trim() !== "", words: "text that is not blank" },
  model: anything,
  instructions: functionOr(text),
  description: text,
  tools: anything,
  separateToolTrace: yesOrNo,
  toolHistory: oneOf("none", "digest", "full"),
  processors: listOf({ isFit: (value) => typeof value === "function", words: "functions (state, next)" }),
  stopWhen: {
    isFit: (value) => [value].flat().every(criterion.isFit),
    words: `${criterion.words}, or a list of them`,
  },
  errorPolicy: {
    isFit: (value) => value === "continue" || value === "stop" || isObject(value),
    words: '"continue", "stop" or { maxToolErrors, maxFailedSteps }',
  },
  hooks,
  onApproval,
  inputGuardrails: guardrails,
  outputGuardrails: guardrails,
  toolInputGuardrails: guardrails,
  toolOutputGuardrails: guardrails,
  output: anything,
  outputRetries: wholeFrom(0),
  driver: objectWith("a driver, such as reactDriver()", "preamble", "modelTools", "toPrompt", "read"),
  modelSettings: { isFit: isObject, words: "an object such as { temperature: 0 }" },
  cache: oneOf("auto"),
  download: { isFit: (value) => typeof value === "function", words: "a function (url, { signal, mediaType })" },
  retry: { isFit: isObject, words: "an object { maxRetries, initialDelayMs, maxDelayMs }" },
  maxSteps: anything,
  maxParallelTools: numberFrom(1),
  memory: functionOr(memory),
  memoryTokens: wholeFrom(1),
  compaction: objectWith("made with compactor({ … })", "open"),
  tokenCounter: objectWith("a counter { count(text) }", "count"),
  prices: priceTable,
  keepMessages: wholeFrom(0),
  session,
  tracing: anything,
};

const commonRules: Rules<Omit<RunOptions, "runId">> = {
  session,
  historyLimit: wholeFrom(0),
  historyTokens: numberFrom(0),
  onBusy: oneOf("queue", "reject", "steer"),
  persist: oneOf("conversation", "everything"),
  context: { isFit: (value) => value === null || isObject(value), words: "an AgentContext or an object of values" },
  hooks,
  onApproval,
  signal: objectWith("an AbortSignal, such as controller.signal", "addEventListener"),
  maxSteps: anything,
  tracing: anything,
};

const runRules: Rules<RunOptions> = { ...commonRules, runId: someText };

const someCalls: OptionRule = { isFit: Array.isArray, words: "a list of tool call ids or approvals" };

const resumeRules: Rules<ResumeOptions> = {
  ...commonRules,
  approve: someCalls,
  reject: someCalls,
  answers: { isFit: Array.isArray, words: "a list of { toolCallId, value } or { toolCallId, declined: true }" },
  store: {
    isFit: (value) => typeof (value as Partial<RunSource>)?.runs?.journal === "function",
    words: "a store: pass openStore(…) or the like",
  },
};

const subagentRules: Rules<SubagentOptions> = {
  input: anything,
  prompt: { isFit: (value) => typeof value === "function", words: "a function of the input that returns the message" },
  name: anything,
  description: anything,
  maxDepth: numberFrom(0),
  maxSteps: numberFrom(1),
  timeoutMs: anything,
  needsApproval: anything,
  remember: anything,
};

// The names that other libraries use, and the ones to use instead.
const hints = {
  continueWhile: '"stopWhen"',
  record: '"persist"',
  system: '"instructions"',
  systemPrompt: '"instructions"',
  prompt: '"instructions"',
  maxTurns: '"maxSteps"',
  maxIterations: '"maxSteps"',
  sessionId: '"session"',
  threadId: '"session"',
  conversationId: '"session"',
  store: 'session: store.session("some id")',
  abortSignal: '"signal"',
  outputType: '"output"',
  outputSchema: '"output"',
  schema: '"output"',
  responseFormat: '"output"',
  temperature: "modelSettings: { temperature }",
  maxTokens: "modelSettings: { maxOutputTokens }",
  handoffs: "tools: [other.asTool()]",
  agents: "tools: [other.asTool()]",
  guardrails: '"inputGuardrails" or "outputGuardrails"',
  approvals: '"approve"',
  deny: '"reject"',
  onFinish: "hooks: { onRunEnd }",
  onStepFinish: "hooks: { onStepEnd }",
  ...Object.fromEntries(hookNames.map((name) => [name, `hooks: { ${name} }`])),
};

/** Throws `invalid-argument` if an option of an agent is unknown or does not fit. */
export function checkAgentOptions(options: AgentOptions<unknown>): void {
  checkOptions(options, agentRules, "agent", hints);
  checkHooks(options.hooks);
  if (options.retry !== undefined) checkRetryOptions(options.retry);
  if (options.modelSettings !== undefined) checkModelSettings(options.modelSettings);
  if (options.session !== undefined) checkSession(options.session);
  if (options.tracing !== undefined) checkTracing(options.tracing);
}

/** Throws `invalid-argument` if an option of a run is unknown or does not fit. */
export function checkRunOptions(options: RunOptions): void {
  checkOptions(options, runRules, "run", hints);
  checkHooks(options.hooks);
  if (options.tracing !== undefined) checkTracing(options.tracing);
}

/** Throws `invalid-argument` if an option of resume() is unknown or does not fit. */
export function checkResumeOptions(options: ResumeOptions): void {
  checkOptions(options, resumeRules, "resume()", hints);
  checkHooks(options.hooks);
  if (options.tracing !== undefined) checkTracing(options.tracing);
}

/** Throws `invalid-argument` if an option of asTool() is unknown or does not fit. `tool()` checks the rest. */
export function checkSubagentOptions(options: object): void {
  checkOptions(options, subagentRules, "asTool()", hints);
}

/** Throws `invalid-argument` if the function passed as `memory` returned something else. */
export function checkMemory(given: unknown): void {
  checkValue("memory", given ?? null, memory);
}

function checkHooks(given: AgentHooks | undefined): void {
  const unknown = Object.keys(given || {}).find((name) => /^on[A-Z]/.test(name) && !hookNames.includes(name));
  if (unknown === undefined) return;
  const sentence = `Unknown hook "${unknown}". Valid hooks: ${hookNames.join(", ")}.`;
  throw new OffstageError("invalid-argument", sentence);
}
