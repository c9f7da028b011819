// AgentState: everything a run knows, immutable and serialisable. Transitions give a new state; nothing is half done.

import { isoNow } from "../base/clock.ts";
import type { JsonObject, JsonValue } from "../base/json.ts";
import { keepShape } from "../base/keep-shape.ts";
import type { Mutable } from "../base/mutable.ts";
import { printsAs } from "../base/prints-as.ts";
import { appendShared } from "../messages/append-shared.ts";
import { user } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import { MessageStore } from "../messages/message-store.ts";
import type { Messages } from "../messages/messages.ts";
import { noUsage, totalUsage, type Usage, type UsageByModel } from "../tokens/usage.ts";
import { type AgentStateFields, agentIdOf, readState, writeState } from "./agent-state-json.ts";
import type { Outcome } from "./outcome.ts";
import type { AgentStateJson, PendingStep } from "./pending-step.ts";
import type { Step } from "./step.ts";

/** How a run stands: `ready` before its first step, `running` between steps, then as its outcome says. */
export type AgentStatus = "ready" | "running" | Outcome["status"];

export interface WithUserMessageOptions {
  /** Begin a new run: see `forContinuation`. Default true. */
  readonly resetExecutionState?: boolean;
}

/** A run that begins, as a state knows it. */
export interface RunBeginning {
  readonly runId: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly parentAgentId?: string | undefined;
}

// The fields of new states are copied from these, so that they share one shape.
const blank: AgentStateFields = {
  identity: {},
  parentAgentId: undefined,
  runId: undefined,
  createdAt: "",
  startedAt: undefined,
  store: MessageStore.empty(),
  metadata: {},
  outcome: undefined,
  pendingStep: undefined,
  usageByModel: {},
  usage: noUsage,
};

// A copy that is then written to keeps its shape, which is several times faster than spreading the changes in.
type Fields = Mutable<AgentStateFields>;

/** What an agent knows: the conversation, the execution buffer, the steps of the present run and how it stands. */
export class AgentState {
  static readonly DEFAULT_SECTION: string = "messages";
  static readonly EXECUTION_BUFFER_SECTION: string = "execution_buffer";
  /** The sections that become model input, in this order. */
  static readonly INFERENCE_SECTIONS: readonly string[] = ["summary", "buffer", "messages", "execution_buffer"];

  readonly #fields: AgentStateFields;
  readonly #steps: Step[];
  readonly #stepCount: number;

  private constructor(fields: AgentStateFields, steps: Step[], stepCount: number) {
    this.#fields = fields;
    this.#steps = steps;
    this.#stepCount = stepCount;
  }

  static {
    keepShape(new this(blank, [], 0));
  }

  /** A state with nothing in it and an agent id of its own; as a run begins on it, where that is told. */
  static empty(run?: RunBeginning): AgentState {
    const fields: Fields = { ...blank };
    fields.identity = {};
    fields.createdAt = isoNow();
    fields.metadata = {};
    fields.usageByModel = {};
    if (run) beginOn(fields, run);
    return new AgentState(fields, [], 0);
  }

  /** The state that `toJSON` wrote; throws `invalid-state` naming what does not fit. */
  static fromJSON(value: unknown): AgentState {
    const { steps, ...fields } = readState(value);
    return new AgentState(fields, [...steps], steps.length);
  }

  toJSON(): AgentStateJson {
    return writeState(this.#fields, this.steps);
  }

  get agentId(): string {
    return agentIdOf(this.#fields.identity);
  }

  get parentAgentId(): string | undefined {
    return this.#fields.parentAgentId;
  }

  /** The run that is under way or has ended; undefined before the first. */
  get runId(): string | undefined {
    return this.#fields.runId;
  }

  get createdAt(): string {
    return this.#fields.createdAt;
  }

  /** When the run began, in epoch milliseconds. */
  get startedAt(): number | undefined {
    return this.#fields.startedAt;
  }

  get metadata(): JsonObject {
    return this.#fields.metadata;
  }

  get store(): MessageStore {
    return this.#fields.store;
  }

  /** The conversation. */
  get messages(): Messages {
    return this.#fields.store.section(AgentState.DEFAULT_SECTION);
  }

  /** The tool trace of the present run, where it is kept apart from the conversation. */
  get executionBuffer(): Messages {
    return this.#fields.store.section(AgentState.EXECUTION_BUFFER_SECTION);
  }

  section(name: string): Messages {
    return this.#fields.store.section(name);
  }

  /** What the model sees: summary, buffer, messages and execution buffer, in this order. */
  messagesForInference(): Messages {
    return this.#fields.store.compile(AgentState.INFERENCE_SECTIONS);
  }

  get steps(): readonly Step[] {
    return this.#steps.slice(0, this.#stepCount);
  }

  get stepCount(): number {
    return this.#stepCount;
  }

  get currentStep(): Step | undefined {
    return this.#stepCount === 0 ? undefined : this.#steps[this.#stepCount - 1];
  }

  /** How the run ended; undefined while it goes on. */
  get outcome(): Outcome | undefined {
    return this.#fields.outcome;
  }

  /** The step that waits for approval, or was cut off, and is finished when the run is resumed. */
  get pendingStep(): PendingStep | undefined {
    return this.#fields.pendingStep;
  }

  get status(): AgentStatus {
    return this.#fields.outcome?.status ?? (this.#stepCount > 0 ? "running" : "ready");
  }

  /** Tokens of this run, its subagents included. */
  get usage(): Usage {
    return this.#fields.usage;
  }

  /** The same, by the id of the model that used them. */
  get usageByModel(): UsageByModel {
    return this.#fields.usageByModel;
  }

  /** The state with a user message at the end of the conversation; a new run unless told otherwise. */
  withUserMessage(message: string | Message, options: WithUserMessageOptions = {}): AgentState {
    const { resetExecutionState = true } = options;
    const base = resetExecutionState ? this.forContinuation() : this;
    const added = typeof message === "string" ? user(message) : message;
    return base.withMessages(base.messages.append(added));
  }

  /** The state with another conversation. */
  withMessages(messages: Iterable<Message>): AgentState {
    const fields: Fields = { ...this.#fields };
    fields.store = fields.store.withSection(AgentState.DEFAULT_SECTION, messages);
    return new AgentState(fields, this.#steps, this.#stepCount);
  }

  withSection(name: string, messages: Iterable<Message>): AgentState {
    return this.withMessageStore(this.#fields.store.withSection(name, messages));
  }

  withMessageStore(store: MessageStore): AgentState {
    const fields: Fields = { ...this.#fields };
    fields.store = store;
    return new AgentState(fields, this.#steps, this.#stepCount);
  }

  /** The state with further metadata: one key, or several. */
  withMetadata(key: string, value: JsonValue): AgentState;
  withMetadata(entries: JsonObject): AgentState;
  withMetadata(entries: string | JsonObject, value?: JsonValue): AgentState {
    const added = typeof entries === "string" ? { [entries]: value } : entries;
    const fields: Fields = { ...this.#fields };
    fields.metadata = { ...this.metadata, ...added };
    return new AgentState(fields, this.#steps, this.#stepCount);
  }

  withOutcome(outcome: Outcome | undefined): AgentState {
    const fields: Fields = { ...this.#fields };
    fields.outcome = outcome;
    return new AgentState(fields, this.#steps, this.#stepCount);
  }

  withPendingStep(pendingStep: PendingStep | undefined): AgentState {
    const fields: Fields = { ...this.#fields };
    fields.pendingStep = pendingStep;
    return new AgentState(fields, this.#steps, this.#stepCount);
  }

  /** The state with one more step, and with the tokens the run has used by then. */
  withStep(step: Step, usageByModel: UsageByModel): AgentState {
    const fields: Fields = { ...this.#fields };
    fields.pendingStep = undefined;
    fields.usageByModel = usageByModel;
    fields.usage = totalUsage(usageByModel);
    return new AgentState(fields, appendShared(this.#steps, this.#stepCount, [step]), this.#stepCount + 1);
  }

  /** The state with its newest step replaced. */
  withCurrentStep(step: Step): AgentState {
    return new AgentState(this.#fields, [...this.#steps.slice(0, this.#stepCount - 1), step], this.#stepCount);
  }

  /** The state with the tokens of the run so far, by model. */
  withUsage(usageByModel: UsageByModel): AgentState {
    const fields: Fields = { ...this.#fields };
    fields.usageByModel = usageByModel;
    fields.usage = totalUsage(usageByModel);
    return new AgentState(fields, this.#steps, this.#stepCount);
  }

  /** The state as a run begins on it. */
  withRun(run: RunBeginning): AgentState {
    const fields: Fields = { ...this.#fields };
    beginOn(fields, run);
    return new AgentState(fields, this.#steps, this.#stepCount);
  }

  /** The state for a new run: buffer emptied; steps, outcome and usage reset; ids, conversation and metadata kept. */
  forContinuation(): AgentState {
    const { store } = this.#fields;
    const buffer = AgentState.EXECUTION_BUFFER_SECTION;
    const fields: Fields = { ...this.#fields };
    fields.store = store.section(buffer).length > 0 ? store.withSection(buffer, []) : store;
    fields.runId = undefined;
    fields.startedAt = undefined;
    fields.outcome = undefined;
    fields.pendingStep = undefined;
    fields.usage = noUsage;
    fields.usageByModel = {};
    return new AgentState(fields, [], 0);
  }
}

function beginOn(fields: Fields, { runId, startedAt, parentAgentId }: RunBeginning): void {
  fields.runId = runId;
  fields.startedAt = startedAt;
  fields.parentAgentId = parentAgentId ?? fields.parentAgentId;
}

printsAs(AgentState, ({ runId, status, outcome, stepCount, usage, messages, executionBuffer, metadata }) => ({
  runId,
  status,
  outcome,
  stepCount,
  usage,
  messages,
  executionBuffer,
  metadata,
}));
