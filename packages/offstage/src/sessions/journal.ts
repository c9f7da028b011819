// The journal: what the loop writes of a run while it happens. The port between agent and sessions; no storage here.
import type { JsonObject, JsonValue } from "../base/json.ts";
import type { AssistantMessage, Message, ToolCall, ToolMessage } from "../messages/message.ts";
import type { Usage } from "../tokens/usage.ts";
import type { SpanData } from "../tracing/span-data.ts";

export const runStatuses = ["running", "completed", "stopped", "failed", "interrupted", "waiting"] as const;

/** How a journaled run stands. */
export type RunStatus = (typeof runStatuses)[number];

/** What is known when a run begins. */
export interface RunStart {
  readonly runId: string;
  /** The id was made for this run, so the session need not look whether it has to resume a run of that id. */
  readonly isFresh?: boolean | undefined;
  readonly agent: string;
  readonly parentRunId?: string | undefined;
  /** The call of the parent run that a subagent's run answers. */
  readonly parentToolCallId?: string | undefined;
  readonly traceId?: string | undefined;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Anything further worth keeping with the run. */
  readonly notes?: JsonObject | undefined;
  /** The new messages of this run, as they join the conversation. */
  readonly input: readonly Message[];
  /** How many earlier messages to load: the latest, cut from the front to whole turns. */
  readonly historyLimit: number | undefined;
  /** What to do while another run holds the session. */
  readonly onBusy: "queue" | "reject";
  readonly signal?: AbortSignal | undefined;
}

/** One finished step. */
export interface StepRecord {
  /** From 1. */
  readonly step: number;
  /** Those that are the same objects as were given to `intend` and `settle` are not written again. */
  readonly messages: readonly Message[];
  readonly usage: Usage;
  readonly finishReason: string;
  readonly startedAt: string;
  readonly durationMs: number;
  /** Whole values of results that were clipped for the model, by tool call id. */
  readonly values?: Readonly<Record<string, JsonValue>> | undefined;
  /** Anything further worth keeping with the step, such as compaction. */
  readonly notes?: JsonObject | undefined;
  /** Spans that ended since the last write. */
  readonly spans?: readonly SpanData[] | undefined;
}

/** How a run ended. */
export interface RunEnd {
  readonly status: Exclude<RunStatus, "running" | "interrupted">;
  readonly reason: string;
  readonly usage: Usage;
  readonly endedAt: string;
  /**
   * What joins the conversation: the answer, or partial text marked `interrupted`, or nothing. A message that is the
   * same object in the last step is kept once.
   */
  readonly answer: readonly Message[];
  /** The last step where it was not written yet: it is made durable in the same write. */
  readonly lastStep?: StepRecord | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  /** Anything further worth keeping with the run; joins the notes it began with. */
  readonly notes?: JsonObject | undefined;
  /** Spans that ended since the last write. */
  readonly spans?: readonly SpanData[] | undefined;
}

/** What a list of runs shows of one. `running` is only said of a run whose process still holds its session. */
export interface RunInfo {
  readonly runId: string;
  readonly sessionId: string;
  readonly agent: string;
  readonly status: RunStatus;
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly reason?: string;
  readonly usage?: Usage;
  readonly error?: { readonly code: string; readonly message: string };
  readonly parentRunId?: string;
  readonly parentToolCallId?: string;
  readonly traceId?: string;
  readonly notes?: JsonObject;
}

/** A step that did not finish: its calls, and the results that were recorded. */
export interface OpenStep {
  readonly step: number;
  readonly message: AssistantMessage;
  readonly results: readonly ToolMessage[];
  /** The calls without a result. */
  readonly pending: readonly ToolCall[];
  /** The ids of those that waited for approval, and had not begun; left out where none did. */
  readonly waiting?: readonly string[];
}

/** Everything recorded of a run. Input and answer are read from the conversation; what was removed there is gone here. */
export interface RunRecord extends RunInfo {
  readonly input: readonly Message[];
  /** Finished steps in order; whole values are read apart, by `store.runs.value`. */
  readonly steps: readonly StepRecord[];
  readonly openStep?: OpenStep;
  /** Some of its messages are not in the conversation any more, or cannot be read there. */
  readonly isIncomplete?: boolean;
  /** Runs of subagents, in the order they began. */
  readonly children: readonly RunInfo[];
}

/** What is recorded of a run that begins. */
export type NewRun = Omit<RunStart, "historyLimit" | "onBusy">;

/** What a run holds: its place in the queue of the session, and under which id. */
export interface HeldSession {
  readonly place: object;
  readonly runId: string;
}

/**
 * The record of one run.
 *
 * **Contract:** each write is atomic and idempotent, and durable when its promise resolves. Methods reject and never throw.
 * Steps are written in order. The log copies what it keeps. After `end` or `abandon` nothing further is written, and the
 * session is free for the next run.
 */
export interface RunLog {
  readonly runId: string;
  /** The conversation before this run's input: whole turns, oldest first. */
  readonly history: readonly Message[];
  /** The session that this run holds; a run beneath another has none of its own. See held-session.ts. */
  readonly held?: HeldSession | undefined;
  /** What was recorded before, where the run is taken up again. */
  readonly recorded?: RunRecord | undefined;
  /** The tool messages of earlier runs of this session, by run id, for `toolHistory`. */
  toolTraces(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly Message[]>>;
  /** These calls are about to run, save those with the ids in `waiting`: they will not begin without approval. */
  intend(step: number, message: AssistantMessage, waiting?: readonly string[]): Promise<void>;
  /** One of them has its result. A result that was not settled comes with its step. */
  settle(step: number, result: ToolMessage): Promise<void>;
  /** One of them waits for approval after all, and has not begun. */
  wait(step: number, toolCallId: string): Promise<void>;
  step(record: StepRecord): Promise<void>;
  end(end: RunEnd): Promise<void>;
  /** Opens the record of a subagent's run beneath this one; it has no conversation of its own. A known id is taken up again. */
  child(start: NewRun): Promise<RunLog>;
  /** Frees the session without an end: the run reads as interrupted. Never rejects. */
  abandon(): Promise<void>;
}

/** Where runs are recorded. **Contract:** methods reject and never throw. Runs get the session in the order of their calls. */
export interface Journal {
  /** Whether spans handed over with a write are kept. */
  readonly keepsSpans: boolean;
  /** Whether runs are kept, so that one can be taken up again by its id. */
  readonly keepsRuns: boolean;
  /** Takes the session for one run, reads its conversation, and makes input and run row durable. */
  open(start: RunStart): Promise<RunLog>;
  /**
   * Takes the session again for a run that was interrupted, waits or failed, and makes it `running`. Throws
   * `run-not-found`, `run-not-resumable` where the run completed or was stopped, or `store-corrupt` where what it did cannot be
   * read.
   */
  reopen(runId: string, options: ReopenOptions): Promise<RunLog>;
}

export interface ReopenOptions extends Pick<RunStart, "historyLimit" | "onBusy" | "signal" | "traceId"> {
  /**
   * Asked with what is recorded before anything is written, perhaps more than once. Throws to leave the run as it is; what
   * it gives joins the run's notes.
   */
  readonly admit?: ((recorded: RunRecord) => JsonObject | undefined) | undefined;
}
