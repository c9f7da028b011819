// AgentState: everything a run knows, immutable and serialisable. A transition returns a new state.
import { isObject, type JsonObject, type JsonValue } from "../base/json.ts";
import { checkOptions, checkRequired, checkValue, type OptionRule, yesOrNo } from "../base/options.ts";
import { printsAs } from "../base/prints-as.ts";
import { OffstageError } from "../errors.ts";
import { user } from "../messages/makers.ts";
import { type Message, parseMessage } from "../messages/message.ts";
import { MessageStore, Messages } from "../messages/messages.ts";
import { totalUsage, type Usage, type UsageByModel } from "../tokens/usage.ts";
import {
  type AgentStateFields,
  number,
  readState,
  stateRules,
  stepRule,
  text,
  writeState,
} from "./agent-state-json.ts";
import type { Outcome } from "./outcome.ts";
import type { AgentStateJson, PendingStep } from "./pending-step.ts";
import type { Step } from "./step.ts";

/** The status of a run: `ready` before its first step, `running` between steps, then the status of its outcome. */
export type AgentStatus = "ready" | "running" | Outcome["status"];

export interface WithUserMessageOptions {
  /** Starts a new run, as `forContinuation` does. Default true. */
  readonly resetExecutionState?: boolean | undefined;
}

/** The identity of a run that begins. */
export interface RunBeginning {
  readonly runId: string;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly parentAgentId?: string | undefined;
}

/** Fields of a state. Versions of a run share one array of steps, and each knows how many are its own. */
interface Fields extends AgentStateFields {
  readonly steps: Step[];
  readonly stepCount: number;
}

// The sections that become model input, in this order.
const sections = {
  summary: "summary",
  buffer: "buffer",
  conversation: "messages",
  executionBuffer: "execution_buffer",
};

/** Holds the conversation, the execution buffer, the steps of the current run and its status. */
export class AgentState {
  static readonly SUMMARY_SECTION: string = sections.summary;
  static readonly BUFFER_SECTION: string = sections.buffer;
  static readonly DEFAULT_SECTION: string = sections.conversation;
  static readonly EXECUTION_BUFFER_SECTION: string = sections.executionBuffer;
  /** The sections that become model input, in this order. */
  static readonly INFERENCE_SECTIONS: readonly string[] = Object.freeze(Object.values(sections));

  readonly agentId: string;
  readonly parentAgentId: string | undefined;
  /** The id of the current or last run; undefined before the first. */
  readonly runId: string | undefined;
  /** ISO 8601. */
  readonly createdAt: string;
  /** When the run began, in epoch milliseconds. */
  readonly startedAt: number | undefined;
  readonly metadata: JsonObject;
  readonly store: MessageStore;
  readonly stepCount: number;
  /** The newest step; undefined before the first. */
  readonly currentStep: Step | undefined;
  /** How the run ended; undefined while it continues. */
  readonly outcome: Outcome | undefined;
  /** The step that waits for approval or was cut off. It is finished when the run is resumed. */
  readonly pendingStep: PendingStep | undefined;
  /** Tokens of this run, including its subagents, by model id. */
  readonly usageByModel: UsageByModel;
  readonly #fields: Fields;

  private constructor(fields: Fields) {
    if (fields === undefined) throw notMadeWithNew();
    this.agentId = fields.agentId;
    this.parentAgentId = fields.parentAgentId;
    this.runId = fields.runId;
    this.createdAt = fields.createdAt;
    this.startedAt = fields.startedAt;
    this.metadata = fields.metadata;
    this.store = fields.store;
    this.stepCount = fields.stepCount;
    this.currentStep = fields.steps[fields.stepCount - 1];
    this.outcome = fields.outcome;
    this.pendingStep = fields.pendingStep;
    this.usageByModel = fields.usageByModel;
    this.#fields = fields;
  }

  /** A state without messages, with a new agent id. */
  static empty(): AgentState {
    return new AgentState({
      agentId: crypto.randomUUID(),
      createdAt: new Date().toISOString(),
      store: MessageStore.empty(),
      metadata: {},
      steps: [],
      stepCount: 0,
      usageByModel: {},
    });
  }

  /** Reads a state that `toJSON` wrote. Throws `invalid-state` naming the field that does not fit. */
  static fromJSON(value: unknown): AgentState {
    const fields = readState(value);
    return new AgentState({ ...fields, steps: [...fields.steps], stepCount: fields.steps.length });
  }

  toJSON(): AgentStateJson {
    return writeState(this);
  }

  /** The conversation. */
  get messages(): Messages {
    return this.section(AgentState.DEFAULT_SECTION);
  }

  /** The tool trace of the current run, if it is kept apart from the conversation. */
  get executionBuffer(): Messages {
    return this.section(AgentState.EXECUTION_BUFFER_SECTION);
  }

  /** The messages of a section; empty if it was never set. */
  section(name: string): Messages {
    return this.store.section(name);
  }

  /** The model input of this state: summary, buffer, messages and execution buffer, in this order. */
  messagesForInference(): Messages {
    return this.store.compile(AgentState.INFERENCE_SECTIONS);
  }

  /** The same as `messagesForInference`, one list for each section. A section that only grew extends its earlier list. */
  sectionsForInference(): readonly Messages[] {
    return this.store.sections(AgentState.INFERENCE_SECTIONS);
  }

  /** The finished steps of the run. */
  get steps(): readonly Step[] {
    return this.#fields.steps.slice(0, this.stepCount);
  }

  get status(): AgentStatus {
    return this.outcome?.status ?? (this.stepCount > 0 ? "running" : "ready");
  }

  /** Tokens of this run, including its subagents. */
  get usage(): Usage {
    return totalUsage(this.usageByModel);
  }

  /** Appends a user message to the conversation and, by default, starts a new run. */
  withUserMessage(message: string | Message, options: WithUserMessageOptions = {}): AgentState {
    checkOptions(options, { resetExecutionState: yesOrNo }, "withUserMessage()");
    const { resetExecutionState = true } = options;
    const base = resetExecutionState ? this.forContinuation() : this;
    return base.withMessages(base.messages.append(typeof message === "string" ? user(message) : parseMessage(message)));
  }

  /** Replaces the conversation. */
  withMessages(messages: Iterable<Message>): AgentState {
    return this.withSection(AgentState.DEFAULT_SECTION, messages);
  }

  /** Replaces one section. */
  withSection(name: string, messages: Iterable<Message>): AgentState {
    if (typeof name !== "string") checkRequired("name", name, text);
    return this.#with({ store: this.store.withSection(name, listOf(messages)) });
  }

  /** Replaces all sections. */
  withMessageStore(store: MessageStore): AgentState {
    checkRequired("store", store, storeRule);
    return this.#with({ store });
  }

  /** Adds metadata: one key, or several. */
  withMetadata(key: string, value: JsonValue): AgentState;
  withMetadata(entries: JsonObject): AgentState;
  withMetadata(entries: string | JsonObject, value?: JsonValue): AgentState {
    const added = typeof entries === "string" ? { [entries]: value } : entries;
    checkRequired("metadata", added, { isFit: isObject, words: "a key and a value, or an object" });
    return this.#with({ metadata: { ...this.metadata, ...added } });
  }

  /** Sets how the run ended; undefined if it continues. */
  withOutcome(outcome: Outcome | undefined): AgentState {
    if (outcome !== undefined && typeof outcome?.status !== "string")
      checkValue("outcome", outcome, stateRules.outcome);
    return this.#with({ outcome });
  }

  /** Sets the unfinished step of a run that waits or was cut off. */
  withPendingStep(pendingStep: PendingStep | undefined): AgentState {
    checkValue("pendingStep", pendingStep, stateRules.pendingStep);
    return this.#with({ pendingStep });
  }

  /** Appends a finished step, and sets the tokens that the run has used by then. */
  withStep(step: Step, usageByModel: UsageByModel): AgentState {
    expectObject("step", step, stepRule);
    expectObject("usageByModel", usageByModel, stateRules.usageByModel);
    const { steps: shared } = this.#fields;
    // The newest version grows the shared array; an older one, and an empty one, copies its part first.
    const isNewest = shared.length === this.stepCount && this.stepCount > 0;
    const steps = isNewest ? shared : shared.slice(0, this.stepCount);
    steps.push(step);
    return this.#with({ steps, stepCount: this.stepCount + 1, pendingStep: undefined, usageByModel });
  }

  /** Replaces the newest step. Throws `invalid-state` if there is none. */
  withCurrentStep(step: Step): AgentState {
    expectObject("step", step, stepRule);
    if (this.stepCount === 0) throw noStep();
    return this.#with({ steps: [...this.steps.slice(0, -1), step] });
  }

  /** Sets the tokens of the run so far, by model. */
  withUsage(usageByModel: UsageByModel): AgentState {
    checkRequired("usageByModel", usageByModel, stateRules.usageByModel);
    return this.#with({ usageByModel });
  }

  /** Sets the identity of the run that begins. A known parent is kept. */
  withRun({ runId, startedAt, parentAgentId = this.parentAgentId }: RunBeginning): AgentState {
    if (typeof runId !== "string") checkRequired("runId", runId, text);
    if (typeof startedAt !== "number") checkRequired("startedAt", startedAt, number);
    return this.#with({ runId, startedAt, parentAgentId });
  }

  /** Prepares a new run: empties the buffer; resets steps, outcome and usage; keeps ids, conversation and metadata. */
  forContinuation(): AgentState {
    const cleared = this.executionBuffer.isEmpty ? this : this.withSection(AgentState.EXECUTION_BUFFER_SECTION, []);
    return cleared.#with({
      runId: undefined,
      startedAt: undefined,
      steps: [],
      stepCount: 0,
      outcome: undefined,
      pendingStep: undefined,
      usageByModel: {},
    });
  }

  #with(changes: Partial<Fields>): AgentState {
    return new AgentState({ ...this.#fields, ...changes });
  }
}

// The loop makes these transitions at every step, so only the kind of a value is checked; fromJSON() checks every field.
const storeRule: OptionRule = { isFit: (value) => value instanceof MessageStore, words: "a MessageStore" };

function expectObject(name: string, value: unknown, rule: OptionRule): void {
  if (typeof value !== "object" || value === null) checkRequired(name, value, rule);
}

// Takes a `Messages` as it is: checking every message again at each step would make long runs quadratic.
function listOf(messages: Iterable<Message>): Messages {
  if (messages instanceof Messages) return messages;
  const list = isObject(messages) && Symbol.iterator in messages ? [...messages] : messages;
  const isFit = (value: unknown): boolean => Array.isArray(value) && value.every(isObject);
  checkRequired("messages", list, { isFit, words: "a list of messages" });
  return Messages.from(list);
}

function notMadeWithNew(): OffstageError {
  const sentence = "A state is made with AgentState.empty() or AgentState.fromJSON(…), not with new.";
  return new OffstageError("invalid-argument", sentence);
}

function noStep(): OffstageError {
  return new OffstageError("invalid-state", "withCurrentStep() replaces the newest step, and this state has no steps.");
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
