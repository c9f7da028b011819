// The state as JSON, with a schema version: written by `toJSON`, checked and read by `fromJSON`.

import { isObject, type JsonObject } from "../base/json.ts";
import { messageOf, OffstageError, type OffstageErrorOptions } from "../errors.ts";
import { parseMessages } from "../messages/codec.ts";
import type { Message } from "../messages/message.ts";
import { MessageStore } from "../messages/message-store.ts";
import { totalUsage, type Usage, type UsageByModel } from "../tokens/usage.ts";
import type { Outcome } from "./outcome.ts";
import type { AgentStateJson, PendingStep } from "./pending-step.ts";
import type { Step } from "./step.ts";

const version = 1;

/** Whose state it is. Shared by all states that come from one, and named when somebody asks: few do. */
export interface AgentIdentity {
  agentId?: string;
}

/** The id of an identity. */
export function agentIdOf(identity: AgentIdentity): string {
  identity.agentId ??= crypto.randomUUID();
  return identity.agentId;
}

/** The plain fields of a state. */
export interface AgentStateFields {
  readonly identity: AgentIdentity;
  readonly parentAgentId: string | undefined;
  readonly runId: string | undefined;
  /** ISO 8601. */
  readonly createdAt: string;
  /** When the run began, epoch milliseconds. */
  readonly startedAt: number | undefined;
  readonly store: MessageStore;
  readonly metadata: JsonObject;
  readonly outcome: Outcome | undefined;
  /** The step that waits, where the run does. */
  readonly pendingStep: PendingStep | undefined;
  /** Of this run and its subagents, by model id. */
  readonly usageByModel: UsageByModel;
  readonly usage: Usage;
}

/** The JSON of a state. */
export function writeState(fields: AgentStateFields, steps: readonly Step[]): AgentStateJson {
  const { parentAgentId, runId, startedAt, outcome, pendingStep } = fields;
  return {
    version,
    agentId: agentIdOf(fields.identity),
    ...(parentAgentId === undefined ? undefined : { parentAgentId }),
    ...(runId === undefined ? undefined : { runId }),
    createdAt: fields.createdAt,
    ...(startedAt === undefined ? undefined : { startedAt }),
    sections: fields.store.toJSON(),
    metadata: fields.metadata,
    steps,
    ...(outcome === undefined ? undefined : { outcome }),
    ...(pendingStep === undefined ? undefined : { pendingStep }),
    usageByModel: fields.usageByModel,
  };
}

type Rule = readonly [fits: (value: unknown) => boolean, says: string];

const isText = (value: unknown) => typeof value === "string";
const isCount = (value: unknown) => typeof value === "number" && Number.isFinite(value);
const optional = ([fits, says]: Rule): Rule => [(value) => value === undefined || fits(value), says];
const text: Rule = [isText, "must be text"];
const object: Rule = [isObject, "must be an object"];
const list: Rule = [Array.isArray, "must be a list"];

const stateRules: Readonly<Record<Exclude<keyof AgentStateJson, "version">, Rule>> = {
  agentId: text,
  parentAgentId: optional(text),
  runId: optional(text),
  createdAt: text,
  startedAt: optional([isCount, "must be a number"]),
  sections: object,
  metadata: object,
  steps: list,
  outcome: optional([(value) => isObject(value) && isText(value.status), "must be an object with a status"]),
  pendingStep: optional([(value) => isObject(value) && isObject(value.step), "must be an object with a step"]),
  usageByModel: [isUsageTable, "must be an object of usages"],
};

const stepRules: Readonly<Partial<Record<keyof Step, Rule>>> = {
  messages: list,
  text,
  toolCalls: [(value) => Array.isArray(value) && value.every(isCall), "must be a list of calls"],
  toolResults: [(value) => Array.isArray(value) && value.every(isObject), "must be a list of results"],
  isAnswer: [(value) => typeof value === "boolean", "must be true or false"],
  finishReason: text,
};

function isUsageTable(value: unknown): boolean {
  if (!isObject(value)) return false;
  return Object.values(value).every(
    (usage) => isObject(usage) && [usage.inputTokens, usage.outputTokens, usage.totalTokens].every(isCount),
  );
}

/** The fields and steps that `writeState` wrote; throws `invalid-state` naming what does not fit. */
export function readState(value: unknown): AgentStateFields & { readonly steps: readonly Step[] } {
  if (!isObject(value)) throw invalid("the value is not an object");
  checkVersion(value.version);
  check(value, stateRules, "");
  const json = value as unknown as AgentStateJson;
  const { sections, steps, pendingStep } = json;
  if (pendingStep !== undefined) readPendingStep(pendingStep);
  return {
    identity: { agentId: json.agentId },
    parentAgentId: json.parentAgentId,
    runId: json.runId,
    createdAt: json.createdAt,
    startedAt: json.startedAt,
    store: readSections(sections),
    metadata: json.metadata,
    outcome: json.outcome,
    pendingStep,
    usageByModel: json.usageByModel,
    usage: totalUsage(json.usageByModel),
    steps: steps.map((step, index) => readStep(step, `steps[${index}]`)),
  };
}

function checkVersion(found: unknown): void {
  if (!Number.isInteger(found) || (found as number) < 1)
    throw invalid('"version" must be a whole number from 1: this is not a state that toJSON() wrote');
  if ((found as number) > version) {
    throw invalid(`it has version ${found}, and this Offstage reads up to ${version}: update Offstage to read it`);
  }
}

function check(fields: Record<string, unknown>, rules: Readonly<Record<string, Rule>>, place: string): void {
  for (const [name, [fits, says]] of Object.entries(rules)) {
    if (!fits(fields[name])) throw invalid(`"${place}${name}" ${says}`);
  }
}

function readSections(sections: AgentStateJson["sections"]): MessageStore {
  const read = Object.entries(sections).map(([name, list]) => [name, readMessages(list, `sections.${name}`)] as const);
  return MessageStore.of(Object.fromEntries(read));
}

function readStep(step: Step, place: string): Step {
  if (!isObject(step)) throw invalid(`"${place}" must be an object`);
  check(step, stepRules as Readonly<Record<string, Rule>>, `${place}.`);
  readMessages(step.messages, `${place}.messages`);
  return step as unknown as Step;
}

// What waits must be a call that the step made: it is what somebody is asked to approve.
function readPendingStep({ step, waiting }: PendingStep): void {
  readStep(step, "pendingStep.step");
  const ids = new Set<unknown>(step.toolCalls.map((call) => call.toolCallId));
  const isOurs = (each: unknown) => isObject(each) && ids.has(each.toolCallId);
  if (!Array.isArray(waiting) || !waiting.every(isOurs))
    throw invalid('"pendingStep.waiting" must be a list of calls of its step');
}

function isCall(call: unknown): boolean {
  return isObject(call) && [call.toolCallId, call.toolName, call.inputText].every(isText);
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
