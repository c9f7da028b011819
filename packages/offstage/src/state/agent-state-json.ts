// The state as JSON, with a schema version: written by `toJSON`, checked and read by `fromJSON`.
import { OffstageError } from "../errors.ts";
import { parseMessages } from "../messages/codec.ts";
import { isObject, type JsonObject } from "../messages/json.ts";
import type { Message } from "../messages/message.ts";
import { MessageStore } from "../messages/message-store.ts";
import { addUsage, noUsage, type Usage } from "../tokens/usage.ts";
import type { Outcome } from "./outcome.ts";
import type { Step } from "./step.ts";

const version = 1;

/** The plain fields of a state. */
export interface AgentStateFields {
  readonly agentId: string;
  readonly parentAgentId: string | undefined;
  readonly runId: string | undefined;
  /** ISO 8601. */
  readonly createdAt: string;
  /** When the run began, epoch milliseconds. */
  readonly startedAt: number | undefined;
  readonly store: MessageStore;
  readonly metadata: JsonObject;
  readonly outcome: Outcome | undefined;
  /** Of this run and its subagents, by model id. */
  readonly usageByModel: Readonly<Record<string, Usage>>;
  readonly usage: Usage;
}

/** A state as plain JSON. */
export interface AgentStateJson {
  readonly version: number;
  readonly agentId: string;
  readonly parentAgentId?: string;
  readonly runId?: string;
  readonly createdAt: string;
  readonly startedAt?: number;
  readonly sections: Readonly<Record<string, readonly Message[]>>;
  readonly metadata: JsonObject;
  readonly steps: readonly Step[];
  readonly outcome?: Outcome;
  readonly usageByModel: Readonly<Record<string, Usage>>;
}

export function writeState(fields: AgentStateFields, steps: readonly Step[]): AgentStateJson {
  const { parentAgentId, runId, startedAt, outcome } = fields;
  return {
    version,
    agentId: fields.agentId,
    ...(parentAgentId === undefined ? undefined : { parentAgentId }),
    ...(runId === undefined ? undefined : { runId }),
    createdAt: fields.createdAt,
    ...(startedAt === undefined ? undefined : { startedAt }),
    sections: fields.store.toJSON(),
    metadata: fields.metadata,
    steps,
    ...(outcome === undefined ? undefined : { outcome }),
    usageByModel: fields.usageByModel,
  };
}

export function readState(value: unknown): AgentStateFields & { readonly steps: readonly Step[] } {
  if (!isObject(value)) throw invalid("the value is not an object");
  checkVersion(value.version);
  const json = value as unknown as AgentStateJson;
  if (typeof json.agentId !== "string") throw invalid('"agentId" must be text');
  if (!Array.isArray(json.steps)) throw invalid('"steps" must be a list');
  if (!isObject(json.usageByModel)) throw invalid('"usageByModel" must be an object');
  return {
    agentId: json.agentId,
    parentAgentId: json.parentAgentId,
    runId: json.runId,
    createdAt: json.createdAt,
    startedAt: json.startedAt,
    store: readSections(json.sections),
    metadata: isObject(json.metadata) ? (json.metadata as JsonObject) : {},
    outcome: json.outcome,
    usageByModel: json.usageByModel,
    usage: Object.values(json.usageByModel).reduce(addUsage, noUsage),
    steps: json.steps.map(readStep),
  };
}

function checkVersion(found: unknown): void {
  if (!Number.isInteger(found))
    throw invalid('"version" must be a whole number: this is not a state that toJSON() wrote');
  if ((found as number) > version) {
    throw invalid(`it has version ${found}, and this Offstage reads up to ${version}: update Offstage to read it`);
  }
}

function readSections(sections: unknown): MessageStore {
  if (!isObject(sections)) throw invalid('"sections" must be an object');
  const entries = Object.entries(sections);
  return MessageStore.of(
    Object.fromEntries(entries.map(([name, list]) => [name, parseMessages(list, { name: `sections.${name}` })])),
  );
}

function readStep(step: Step, index: number): Step {
  if (!isObject(step)) throw invalid(`"steps[${index}]" must be an object`);
  parseMessages(step.messages, { name: `steps[${index}].messages` });
  return step;
}

function invalid(why: string): OffstageError {
  return new OffstageError("invalid-state", `AgentState.fromJSON cannot read this state: ${why}.`);
}
