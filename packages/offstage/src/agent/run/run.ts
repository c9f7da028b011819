// A run while it happens: what every part of the loop shares. Mutable on purpose, and private to the agent room.

import type { Cancellation } from "../../base/cancellation.ts";
import { isoNow } from "../../base/clock.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Mutable } from "../../base/mutable.ts";
import type { Compaction } from "../../memory/compaction/compaction.ts";
import type { MemoryFeed } from "../../memory/memory-feed.ts";
import type { Message, MessageMetadata } from "../../messages/message.ts";
import type { Messages } from "../../messages/messages.ts";
import type { ModelInput } from "../../models/model-input.ts";
import type { ReentrancyScope } from "../../sessions/held-session.ts";
import type { RunLog } from "../../sessions/journal.ts";
import type { SessionPort } from "../../sessions/session.ts";
import type { AgentContext } from "../../state/agent-context.ts";
import type { AgentState } from "../../state/agent-state.ts";
import type { Criterion } from "../../state/criterion.ts";
import type { SpanData } from "../../tracing/span-data.ts";
import type { TraceSpan } from "../../tracing/trace-span.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import type { RunOptions } from "../ports/agent-options.ts";
import type { DecisionBook } from "../ports/approvals.ts";
import type { Emit } from "../ports/events.ts";
import type { GuardrailTrip } from "../ports/guardrails.ts";
import type { RunResult } from "../ports/run-result.ts";
import type { Ledger } from "./ledger.ts";
import type { TrackedMessages } from "./tracked-messages.ts";

export interface Run {
  readonly config: AgentConfig;
  readonly options: RunOptions;
  readonly runId: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly parent: Run | undefined;
  /** The call of the parent that this run answers. */
  readonly parentToolCallId: string | undefined;
  /** 0 for a run that nobody called as a tool. */
  readonly depth: number;
  readonly isStreaming: boolean;
  /** The run was given a state, whose conversation it continues; a session's is not loaded over it. */
  readonly hasOwnState: boolean;
  readonly cancellation: Cancellation;
  readonly context: AgentContext;
  /** What was decided of calls that need approval. */
  readonly decisions: DecisionBook;
  /** Undefined where nobody listens, so that no event is made in vain. */
  readonly emit: Emit | undefined;
  readonly criteria: readonly Criterion[];
  readonly ledger: Ledger;
  readonly span: TraceSpan;
  /** Whether its spans are kept. Where not, its own span stands in for all that would be started in it; ending it does nothing. */
  readonly isTraced: boolean;
  readonly modelInput: ModelInput;
  readonly children: RunResult<unknown>[];
  readonly trips: GuardrailTrip[];
  /** The agent's own list of what was said and done. */
  readonly tracked: TrackedMessages;
  /** The new messages of this run. */
  input: readonly Message[];
  /** They were given as text. */
  readonly isTextInput: boolean;
  /** The message that was made of text: plain, and frozen through and through. */
  frozenInput: Message | undefined;
  /** The newest answer as it was made: plain, and frozen through and through. */
  frozenAnswer: Message | undefined;
  /** What shortens the model's input, where the agent has it. */
  compaction: Compaction | undefined;
  /** The memory that is told the answer. */
  feed: MemoryFeed | undefined;
  /** What the journal is to keep with the step under way. */
  stepNotes: JsonObject | undefined;
  instructions: Messages;
  /** The session of a run that is nobody's subagent, where it has one. */
  readonly session: SessionPort | undefined;
  /** What the code within it is entered with; a subagent's run is within the one above it. */
  readonly around: ReentrancyScope | undefined;
  log: RunLog | undefined;
  /** The newest state: what a failure or an abort leaves. */
  state: AgentState;
  /** The text of the model call under way, as far as it was streamed. */
  partialText: string;
  /** What the step under way has produced so far, where it has calls: the reply, and results as they come. */
  underWay: Message[] | undefined;
  /** The checked value of structured output. */
  output: unknown;
  /** What the ids of its messages begin with. */
  readonly idPrefix: string;
  /** The highest number given to a message so far; message ids end in it. */
  lastNumber: number;
  /** Spans that ended since the journal was last written to, where it keeps them. */
  readonly endedSpans: SpanData[];
  /** How many steps the journal has. */
  recordedSteps: number;
  /** Steps that joined a conversation of which no run is recorded, before the run was taken up again. */
  saidSteps: number;
}

/** Gives the run its log: what begins within it knows from here on which session it holds. */
export function takeLog(run: Run, log: RunLog | undefined): void {
  run.log = log;
  if (run.around !== undefined) run.around.held = log?.held;
}

/** The messages a model call sees, by section: instructions first, then the sections of a state for inference. */
export function inputSections({ instructions }: Run, { store }: AgentState): readonly Messages[] {
  // AgentState.INFERENCE_SECTIONS, written out: this is made for every model call.
  return [
    instructions,
    store.section("summary"),
    store.section("buffer"),
    store.section("messages"),
    store.section("execution_buffer"),
  ];
}

/** Metadata while it is being put together. */
export type Stamp = Mutable<MessageMetadata>;

/** The id of the message with a number. */
export function messageId(run: Run, number: number): string {
  return run.idPrefix + number;
}

/** The id of the run's next message. */
export function nextMessageId(run: Run): string {
  run.lastNumber++;
  return run.idPrefix + run.lastNumber;
}

/** What a message that this run makes carries; without a step, one that it was given. */
export function stamp(run: Run, step?: number): Stamp {
  const { runId, config, startedAt } = run;
  const id = nextMessageId(run);
  return step === undefined
    ? { id, createdAt: startedAt, runId, agent: config.name }
    : { id, createdAt: isoNow(), runId, step, agent: config.name };
}

/** Links a message to the span that produced it, which names the message in turn when it ends. For runs that are traced. */
export function linkSpan(stamped: Stamp, span: TraceSpan): void {
  stamped.traceId = span.traceId;
  stamped.spanId = span.spanId;
}
