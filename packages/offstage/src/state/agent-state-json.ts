// The state as JSON, with a schema version: written by `toJSON`, checked and read by `fromJSON`.
import { isObject, type JsonObject } from "../base/json.ts";
import type { OptionRule, OptionRules } from "../base/options.ts";
import { messageOf, OffstageError, type OffstageErrorOptions } from "../errors.ts";
import { type Message, parseMessages, toolCallsOf } from "../messages/message.ts";
import { MessageStore } from "../messages/messages.ts";
import type { UsageByModel } from "../tokens/usage.ts";
import type { Outcome } from "./outcome.ts";
import type { AgentStateJson, PendingStep, WaitingCall } from "./pending-step.ts";
import type { Step } from "./step.ts";

const version = 1;

/** The plain fields of a state. */
export interface AgentStateFields {
  readonly agentId: string;
  readonly parentAgentId?: string | undefined;
  readonly runId?: string | undefined;
  /** ISO 8601. */
  readonly createdAt: string;
  /** When the run began, in epoch milliseconds. */
  readonly startedAt?: number | undefined;
  readonly store: MessageStore;
  readonly metadata: JsonObject;
  readonly steps: readonly Step[];
  readonly outcome?: Outcome | undefined;
  /** The unfinished step of a run that waits or was cut off. */
  readonly pendingStep?: PendingStep | undefined;
  /** Tokens of this run and its subagents, by model id. */
  readonly usageByModel: UsageByModel;
}

/** Writes a state as JSON. */
export function writeState(fields: AgentStateFields): AgentStateJson {
  const { parentAgentId, runId, startedAt, outcome, pendingStep } = fields;
  return {
    version,
    agentId: fields.agentId,
    ...(parentAgentId !== undefined && { parentAgentId }),
    ...(runId !== undefined && { runId }),
    createdAt: fields.createdAt,
    ...(startedAt !== undefined && { startedAt }),
    sections: fields.store.toJSON(),
    metadata: fields.metadata,
    steps: fields.steps,
    ...(outcome !== undefined && { outcome }),
    ...(pendingStep !== undefined && { pendingStep }),
    usageByModel: fields.usageByModel,
  };
}

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);
const optional = ({ isFit, words }: OptionRule): OptionRule => ({
  isFit: (value) => value === undefined || isFit(value),
  words,
});
/** Any text, even if it is empty. */
export const text: OptionRule = { isFit: isText, words: "text" };
export const number: OptionRule = { isFit: isNumber, words: "a number" };
const object: OptionRule = { isFit: isObject, words: "an object" };
const list: OptionRule = { isFit: Array.isArray, words: "a list" };

/** The rules for the fields of a state, in JSON and in its transitions. */
export const stateRules: Readonly<Record<Exclude<keyof AgentStateJson, "version">, OptionRule>> = {
  agentId: text,
  parentAgentId: optional(text),
  runId: optional(text),
  createdAt: text,
  startedAt: optional(number),
  sections: object,
  metadata: object,
  steps: list,
  outcome: optional({ isFit: isOutcome, words: "an object with a status, a reason and a message" }),
  pendingStep: optional({ isFit: (value) => isObject(value) && isObject(value.step), words: "an object with a step" }),
  usageByModel: { isFit: isUsageTable, words: "an object of usages" },
};

const yesOrNo: OptionRule = { isFit: (value) => typeof value === "boolean", words: "true or false" };

const stepRules = {
  messages: list,
  index: { isFit: (value) => Number.isSafeInteger(value) && (value as number) > 0, words: "a whole number from 1" },
  text,
  reasoning: optional(text),
  toolCalls: { isFit: (value) => Array.isArray(value) && value.every(isCall), words: "a list of calls" },
  toolResults: { isFit: (value) => Array.isArray(value) && value.every(isResult), words: "a list of results" },
  isAnswer: yesOrNo,
  correction: optional({ isFit: isCorrection, words: "an object with a reason and a message" }),
  finishReason: text,
  usage: { isFit: isUsage, words: "an object with token counts" },
  cost: optional(number),
  modelId: text,
  startedAt: text,
  durationMs: number,
} satisfies Readonly<Record<keyof Step, OptionRule>>;

/** The rule for a step in the transitions of a state. Light, because the loop adds a step at a time; `readState` checks every field. */
export const stepRule: OptionRule = {
  isFit: (step) => isObject(step) && Array.isArray(step.messages),
  words: "a step with messages, text, toolCalls, toolResults, isAnswer, finishReason",
};

function isUsageTable(value: unknown): boolean {
  return isObject(value) && Object.values(value).every(isUsage);
}

function isUsage(usage: unknown): boolean {
  return isObject(usage) && [usage.inputTokens, usage.outputTokens, usage.totalTokens].every(isNumber);
}

const statuses = new Set<unknown>(["completed", "stopped", "failed", "waiting"] satisfies Outcome["status"][]);

function isOutcome(value: unknown): boolean {
  if (!isObject(value) || !statuses.has(value.status) || !isText(value.reason) || !isText(value.message)) return false;
  return value.verdicts === undefined || (Array.isArray(value.verdicts) && value.verdicts.every(isObject));
}

function isCorrection(value: unknown): boolean {
  return isObject(value) && isText(value.reason) && isText(value.message);
}

function isCall(call: unknown): boolean {
  return isObject(call) && [call.toolCallId, call.toolName, call.inputText].every(isText);
}

function isResult(result: unknown): boolean {
  if (!isObject(result) || ![result.toolCallId, result.toolName].every(isText)) return false;
  return typeof result.isError === "boolean" && (isText(result.content) || Array.isArray(result.content));
}

/** Reads the fields that `writeState` wrote, as a copy. Throws `invalid-state` naming the field that does not fit. */
export function readState(given: unknown): AgentStateFields {
  if (!isObject(given)) throw invalid("the value is not an object");
  return readFields(copyOf(given), 0);
}

// The caller may change its object later, and a state must not change.
function copyOf(value: object): Record<string, unknown> {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch (cause) {
    throw invalid(`the value is not JSON: ${messageOf(cause).replace(/\.$/, "")}`, { cause });
  }
}

function readFields(value: unknown, depth: number): AgentStateFields {
  if (!isObject(value)) throw invalid("the value is not an object");
  checkVersion(value.version);
  check(value, stateRules, "");
  const { agentId, parentAgentId, runId, createdAt, startedAt, ...json } = value as unknown as AgentStateJson;
  const { sections, metadata, steps, outcome, pendingStep, usageByModel } = json;
  if (pendingStep !== undefined) checkPendingStep(pendingStep, depth);
  for (const [index, step] of steps.entries()) checkStep(step, `steps[${index}]`);
  const store = readSections(sections);
  const ids = { agentId, parentAgentId, runId };
  return { ...ids, createdAt, startedAt, store, metadata, steps, outcome, pendingStep, usageByModel };
}

function checkVersion(found: unknown): void {
  if (!Number.isInteger(found) || (found as number) < 1)
    throw invalid('"version" must be a whole number of at least 1: toJSON() did not write this state');
  if ((found as number) > version) {
    throw invalid(`it has version ${found}, and this Offstage reads up to ${version}: update Offstage to read it`);
  }
}

function check(fields: Record<string, unknown>, rules: OptionRules, place: string): void {
  for (const [name, { isFit, words }] of Object.entries(rules)) {
    if (!isFit(fields[name])) throw invalid(`"${place}${name}" must be ${words}`);
  }
}

function readSections(sections: AgentStateJson["sections"]): MessageStore {
  const read = Object.entries(sections).map(([name, list]) => [name, readMessages(list, `sections.${name}`)] as const);
  return MessageStore.of(Object.fromEntries(read));
}

function checkStep(step: unknown, place: string): void {
  if (!isObject(step)) throw invalid(`"${place}" must be an object`);
  check(step, stepRules, `${place}.`);
  const [reply] = readMessages(step.messages, `${place}.messages`);
  if (reply?.role !== "assistant") throw invalid(`"${place}.messages" must begin with the reply of the model`);
}

// A person is asked to approve the waiting calls: each must be a call of the step that has no result, and the model must see its reply.
function checkPendingStep({ step, waiting }: PendingStep, depth: number): void {
  checkStep(step, "pendingStep.step");
  const { toolCalls, toolResults, messages } = step;
  const asked = toolCallsOf(messages[0] as Message).map(({ id }) => id);
  if (asked.length !== toolCalls.length || toolCalls.some(({ toolCallId }, index) => asked[index] !== toolCallId))
    throw invalid('"pendingStep.step.messages" must begin with the calls of its step');
  const open = new Set<unknown>(asked);
  for (const { toolCallId } of toolResults) open.delete(toolCallId);
  const isOpen = (each: unknown) => isObject(each) && open.delete(each.toolCallId);
  if (!Array.isArray(waiting) || !waiting.every(isOpen) || open.size > 0)
    throw invalid('"pendingStep.waiting" must be a list of calls of its step: each call waits or has a result');
  for (const [index, call] of waiting.entries()) checkWaiting(call, { place: `pendingStep.waiting[${index}]`, depth });
}

const reasons: Readonly<Record<WaitingCall["why"], true>> = {
  approval: true,
  question: true,
  interrupted: true,
  again: true,
};
const isAsked = (value: unknown): boolean => isObject(value) && isText(value.message);
const questionRules: OptionRules = {
  question: optional({ isFit: isAsked, words: "an object with a message" }),
  answers: optional({ isFit: (value) => Array.isArray(value) && value.every(isAsked), words: "a list of answers" }),
};
const childRules: OptionRules = {
  runId: text,
  agent: text,
  awaits: optional({ isFit: (value) => Array.isArray(value) && value.every(isAwaited), words: "a list of calls" }),
  counted: optional({ isFit: isUsageTable, words: "an object of usages" }),
};
/** Deeper than subagents can be. */
const maxDepth = 64;

function isAwaited(call: unknown): boolean {
  return isObject(call) && isText(call.toolCallId) && isText(call.runId);
}

function checkWaiting(call: WaitingCall, { place, depth }: { place: string; depth: number }): void {
  const { why, child } = call;
  if (!Object.hasOwn(reasons, String(why)))
    throw invalid(`"${place}.why" must be ${Object.keys(reasons).join(" or ")}`);
  check({ ...call }, questionRules, `${place}.`);
  if (child === undefined) return;
  if (!isObject(child)) throw invalid(`"${place}.child" must be an object`);
  check(child, childRules, `${place}.child.`);
  if (depth === maxDepth) throw invalid("its subagents are nested too deeply");
  if (child.state !== undefined) readFields(child.state, depth + 1);
}

function readMessages(list: unknown, name: string): readonly Message[] {
  try {
    return parseMessages(list, { name });
  } catch (cause) {
    throw invalid(messageOf(cause).replace(/\.$/, ""), { cause });
  }
}

function invalid(why: string, options: OffstageErrorOptions = {}): OffstageError {
  return new OffstageError("invalid-state", `AgentState.fromJSON cannot read this state: ${why}.`, options);
}
