// The parts of a run: plain data, each for one concern. See run.ts for how they come together.
import type { Cancellation } from "../../base/cancellation.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Compaction } from "../../memory/compaction/compaction.ts";
import type { MemoryFeed } from "../../memory/memory-feed.ts";
import type { Message } from "../../messages/message.ts";
import type { MessageStore, Messages } from "../../messages/messages.ts";
import type { Downloads } from "../../models/downloads.ts";
import type { AnyModel } from "../../models/model.ts";
import type { ModelInput } from "../../models/model-input.ts";
import type { ReentrancyScope } from "../../sessions/lease/lease.ts";
import type { Journal, StepInput } from "../../sessions/ports/journal.ts";
import type { RetryRecord } from "../../sessions/ports/run-record.ts";
import type { SessionPort } from "../../sessions/ports/session.ts";
import type { AgentContext } from "../../state/agent-context.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { Criterion } from "../../state/criterion.ts";
import type { Ledger } from "../../tokens/usage.ts";
import type { TraceSpan } from "../../tracing/trace-span.ts";
import type { StepSetup } from "../config/step-setup.ts";
import type { RunOptions } from "../ports/agent-options.ts";
import type { OnApproval } from "../ports/approvals.ts";
import type { DecisionBook } from "../ports/decision-book.ts";
import type { HistoryCut } from "../ports/run-result.ts";

export interface RunRequest {
  readonly options: RunOptions;
  /** The conversation to continue. Undefined for subagents: they are recorded beneath their parent. */
  readonly session: SessionPort | undefined;
  /** The journal of that session. */
  readonly journal: Journal | undefined;
  /** True if the caller passed a state: its conversation is continued, and the session's is not loaded. */
  readonly hasOwnState: boolean;
  /** Steps whose messages joined the conversation before the run was resumed by its state. */
  readonly saidSteps: number;
  readonly isStreaming: boolean;
  /** Decisions about calls that wait. Undefined unless this run, or one above it, was resumed. */
  readonly decisions: DecisionBook | undefined;
  /** Decides at once about calls that need a person. */
  readonly onApproval: OnApproval | undefined;
}

export interface RunScope {
  readonly cancellation: Cancellation;
  readonly context: AgentContext;
  readonly span: TraceSpan;
  /** Re-entrancy scope for code called by this run. Undefined for subagents: they share their parent's. */
  readonly reentrancy: ReentrancyScope | undefined;
}

export interface RunLimits {
  readonly criteria: readonly Criterion[];
  /** Tokens used so far, by this run and its subagents. */
  readonly ledger: Ledger;
}

export interface PromptParts {
  readonly modelInput: ModelInput;
  /** The files of the run that the model does not fetch itself. Undefined until a prompt has a file at a URL. */
  downloads: Downloads | undefined;
  /** The model and tools of the present step. Unset until `setUpStep`, if functions choose them: only a run that ends before its first step meets that. */
  setup: StepSetup;
  /** The models that failed in this run while there was another. */
  readonly failedModels: WeakSet<AnyModel>;
  /** The step that setup and instructions are for. */
  setUpFor: number;
  instructions: Messages;
  /** The tools of earlier turns as the model sees them. Undefined without a session. */
  toolHistory: ToolHistoryView | undefined;
  /** The part of the conversation that a limit keeps from the model. */
  historyCut: HistoryCut | undefined;
  /** Undefined unless the agent has compaction or memory. */
  compaction: Compaction | undefined;
  /** The memory that is fed the answer. */
  feed: MemoryFeed | undefined;
}

/** Adds the tool traces of earlier turns to what the model sees: see input/history.ts. */
export interface ToolHistoryView {
  /** The sections of a state, with the traces in its conversation. */
  shownIn(store: MessageStore): MessageStore;
  /** Messages that a memory returned, with the traces of the answers among them. */
  inMemory(messages: readonly Message[]): readonly Message[];
}

export interface Draft {
  /** When the step began: ISO 8601, and by the monotonic clock. */
  startedAt: string;
  startedMs: number;
  /** The text of the model call under way, as far as it was streamed. */
  text: string;
  /** Its reasoning, if output guardrails hold it back. */
  reasoning: string;
  /** The reply with tool calls, and their results as they arrive. */
  messages: Message[] | undefined;
  /** The state with the finished step, before the loop has it: kept if a criterion, a guardrail or a processor fails. */
  finished: AgentState | undefined;
  /** The checked value of structured output. */
  output: unknown;
  /** Notes for the journal to keep with the step. */
  notes: JsonObject | undefined;
  /** The input of the model call, and when it began, for the journal. */
  input: StepInput | undefined;
  /** The failed attempts of the model call. */
  retries: RetryRecord[];
}

/** The step in which something happens, and its span. */
export interface StepPlace {
  /** From 1. */
  readonly step: number;
  readonly span: TraceSpan;
}
