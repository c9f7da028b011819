// The journal port: how the loop records a run while it happens. No storage here.
import type { JsonObject } from "../../base/json.ts";
import type { AssistantMessage, Message, ToolMessage } from "../../messages/message.ts";
import type { Usage } from "../../tokens/usage.ts";
import type { SpanData } from "../../tracing/span-data.ts";
import type {
  AnswerRecord,
  InputRecord,
  QuestionRecord,
  RetryRecord,
  RunError,
  RunRecord,
  RunStatus,
  StepRecord,
} from "./run-record.ts";
import type { PendingMessage, SentMessage } from "./session.ts";

/** A run that begins. */
export interface RunStart {
  readonly runId: string;
  /** The id was generated for this run, so there is no recorded run of that id to resume. Default false: the session looks for one. */
  readonly isFresh?: boolean | undefined;
  /** Rejects with `run-exists` instead of resuming a recorded run of that id. Default false. */
  readonly refusesKnown?: boolean | undefined;
  readonly agent: string;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly parentRunId?: string | undefined;
  /** The tool call of the parent run that a subagent's run answers. */
  readonly parentToolCallId?: string | undefined;
  readonly traceId?: string | undefined;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Further data to keep with the run. */
  readonly notes?: JsonObject | undefined;
  /** The new messages of this run; they join the conversation. */
  readonly input: readonly Message[];
  /**
   * The input replaces the newest turn, in the same write: the turn that the run of this id began, or one that no run began if this is
   * empty. Rejects with `session-conflict` if the newest turn is another. Without input, which a guardrail may have blocked, it stays.
   */
  readonly replaces?: string | undefined;
  /**
   * Called, possibly more than once, with the messages of the inbox before they join the run. Without it they stay there. It resolves
   * with the messages as they are to be stored, and whether a guardrail blocked them and the input.
   */
  readonly join?: ((pending: readonly PendingMessage[]) => Promise<Joining>) | undefined;
  /** How many earlier messages to load: the latest, cut from the front to whole turns. */
  readonly historyLimit: number | undefined;
  /** Loads the conversation from the message with this id on instead, or all of it if there is no such message. */
  readonly historyAfter?: string | undefined;
  /** Whether to wait while another run uses the session, or to reject with `SessionBusyError`. */
  readonly onBusy: "queue" | "reject";
  readonly signal?: AbortSignal | undefined;
}

/** The messages of an inbox that join a run. */
export interface Joining {
  readonly messages: readonly PendingMessage[];
  readonly isBlocked: boolean;
}

/** The input of a model call, and when the call began. */
export interface StepInput {
  readonly step: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly input: InputRecord;
  /** The failed attempts of a call that never succeeded. */
  readonly retries?: readonly RetryRecord[] | undefined;
}

/** How a run ended. */
export interface RunEnd {
  readonly status: Exclude<RunStatus, "running" | "interrupted">;
  readonly reason: string;
  /** Why the run was asked to stop, if that was said. */
  readonly stopReason?: string | undefined;
  /** The model that was called last; missing if that is not known. */
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  /** The tokens of the run and its subagents. */
  readonly usage: Usage;
  /** Their cost in US dollars; missing if a model has no price. */
  readonly cost?: number | undefined;
  readonly endedAt: string;
  /**
   * The messages that join the conversation: the answer, partial text marked `interrupted`, or none. A message that is also in
   * the last step, as the same object or with the same id and no calls, is stored once.
   */
  readonly answer: readonly Message[];
  /** Ends the run even if its inbox has messages: they are left for the next run. */
  readonly leavesInbox?: boolean | undefined;
  /** The last step, if it was not written yet; it becomes durable in the same write. */
  readonly lastStep?: StepRecord | undefined;
  readonly error?: RunError | undefined;
  /** The input of a model call that failed, which belongs to no finished step. */
  readonly failedInput?: StepInput | undefined;
  /** Further data to keep with the run; merged into the notes it began with. */
  readonly notes?: JsonObject | undefined;
  /** Spans that ended since the last write. */
  readonly spans?: readonly SpanData[] | undefined;
}

/** Why an end was not written. */
export type EndRefusal = "stop" | "inbox";

/** A run that begins inside another. */
export type NewRun = Omit<RunStart, "historyLimit" | "historyAfter" | "onBusy" | "join" | "replaces">;

/** The session that a run holds, identified by its place in the queue and by the run id; see lease/lease.ts. */
export interface HeldSession {
  readonly place: object;
  readonly runId: string;
}

/**
 * The record of one run.
 *
 * **Contract:** each write is atomic and idempotent, and durable when its promise resolves. Methods reject and never throw.
 * Steps are written in order. The log copies what it keeps. After `end` or `abandon` nothing more is written, and the session
 * is free for the next run.
 */
export interface RunLog {
  readonly runId: string;
  /** The tenant of the session; undefined if runs are not stored. */
  readonly namespace?: string | undefined;
  /** The conversation before this run's input: whole turns, oldest first. */
  readonly history: readonly Message[];
  /** How many messages the conversation had before this run's input, loaded or not; undefined if that is not known. */
  readonly earlierCount?: number | undefined;
  /** The session that this run holds; undefined for a subagent's run, which shares the session of its parent. */
  readonly held?: HeldSession | undefined;
  /** For a resumed run: everything recorded before. */
  readonly recorded?: RunRecord | undefined;
  /** The tool messages of earlier runs of this session, by run id, for `toolHistory`. */
  toolTraces(runIds: readonly string[]): Promise<ReadonlyMap<string, readonly Message[]>>;
  /** Records that the calls of `message` are about to run, except those in `waiting`, which will not start without approval. */
  intend(step: number, message: AssistantMessage, waiting?: readonly string[], input?: StepInput): Promise<void>;
  /**
   * Records the result of one of these calls. A result that was not settled is written with its step. `metadata.status` of the
   * result may say that the call was "rejected" or "interrupted".
   */
  settle(step: number, result: ToolMessage): Promise<void>;
  /** Records that one of these calls waits: for approval, before it starts, or for the answer to its question. */
  wait(step: number, toolCallId: string, question?: QuestionRecord): Promise<void>;
  /** Records a decision about one of these calls while the run works; `message` is the reply with the changed input. */
  decide(step: number, change: Omit<CallChange, "runId">, message: AssistantMessage): Promise<void>;
  /** Records a finished step. */
  step(record: StepRecord): Promise<void>;
  /**
   * Records the end of the run, and releases the session. Writes nothing and resolves with "stop" if the run was asked to stop and
   * `end` says otherwise, or with "inbox" if the run completes and something was said that it has not seen.
   */
  end(end: RunEnd): Promise<EndRefusal | undefined>;
  /** For a run that begins: the messages of the inbox that it took in, before its input. */
  readonly joined: readonly Message[];
  /** The messages that were said since the run last looked, oldest first. Costs nothing if there are none. */
  inbox(): Promise<readonly PendingMessage[]>;
  /** Moves messages from the inbox to the conversation, behind a step; 0 is the input. Blocked messages are only recorded. */
  join(step: number, joining: readonly PendingMessage[], isBlocked: boolean): Promise<void>;
  /** Calls `listener`, at most once, when the run is asked to stop, with the reason. */
  onStop(listener: (reason: string) => void): void;
  /** The text of a question as the log keeps it: a redactor may change it. */
  questionText(text: string): string;
  /** Opens the log of a subagent's run, which has no conversation of its own. Resumes the run if its id is known. */
  child(start: NewRun): Promise<RunLog>;
  /** Releases the session without an end, which makes the run `interrupted`. Never rejects. */
  abandon(): Promise<void>;
}

/**
 * Records the runs of one session.
 *
 * **Contract:** methods reject and never throw. Runs get the session in the order in which they asked for it.
 */
export interface Journal {
  /** True if spans passed with a write are stored. */
  readonly keepsSpans: boolean;
  /** True if runs are stored, so that they can be resumed by id. */
  readonly keepsRuns: boolean;
  /** True if the inputs of model calls are stored. */
  readonly keepsInput: boolean;
  /** The tenant of the session. */
  readonly namespace: string;
  /** Identifies store and namespace: two sessions are the same if they have the same scope and the same id. */
  readonly scope: object;
  /** The inbox of the session; undefined if it has none. */
  readonly inbox: SessionInbox | undefined;
  /** Acquires the session for one run, reads the conversation, and makes the run and its input durable. */
  open(start: RunStart): Promise<RunLog>;
  /**
   * Acquires the session to resume a run that was interrupted, waits, failed or was stopped by a limit. Rejects with `run-not-found`, with
   * `run-not-resumable` if the run completed or was stopped by a person or a guardrail, or with `store-corrupt` if a part of its record cannot be read.
   */
  reopen(runId: string, options: ReopenOptions): Promise<RunLog>;
}

/** How another run reaches the one that works on a session. */
export interface SessionInbox {
  /** Says something to the run that works. Undefined if none does; then nothing was written. */
  steer(messages: readonly Message[]): Promise<Steering | undefined>;
  /** Everything recorded of a run; undefined if there is no such run. */
  read(runId: string): Promise<RunRecord | undefined>;
}

/** Messages that were put into the inbox. */
export interface Steering extends SentMessage {
  /** The run that worked when they were said; undefined if none did. */
  readonly runId: string | undefined;
  /** The run that has taken them; undefined if none has. */
  takenBy(): Promise<string | undefined>;
  /** Takes them back. False if a run was faster. */
  withdraw(): Promise<boolean>;
}

/** The decisions with which a run is resumed. */
export interface Admission {
  /** Merged into the notes of the run. */
  readonly notes?: JsonObject | undefined;
  /** Calls of the run or of its subagents that a person changed. */
  readonly calls?: readonly CallChange[] | undefined;
}

/** A call that waits, as a person changed it. */
export interface CallChange {
  readonly runId: string;
  readonly toolCallId: string;
  /** The input to run with, as JSON text. The record keeps both inputs. */
  readonly editedInput?: string | undefined;
  /** The answers to all questions of the call so far. */
  readonly answers?: readonly AnswerRecord[] | undefined;
}

export interface ReopenOptions extends Pick<RunStart, "historyLimit" | "historyAfter" | "onBusy" | "signal"> {
  /**
   * Called before anything is written, possibly more than once, with the run and the runs of its subagents. It rejects to leave
   * them as they are; what it resolves with is written together with the resume.
   */
  readonly admit?: ((recorded: RunRecord, beneath: ReadonlyMap<string, RunRecord>) => Promise<Admission>) | undefined;
}
