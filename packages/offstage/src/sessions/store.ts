// A store of sessions, runs and spans, on any driver. The folders beside this file do the work.
import type { JsonValue } from "../base/json.ts";
import { type OptionRule, objectWith, shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { MessageQuery } from "../query/message-query.ts";
import type { SpanData } from "../tracing/span-data.ts";
import type { DriverSource } from "./head/connection.ts";
import { checkId } from "./head/namespace-rows.ts";
import { refuseDamage } from "./journal/resumed-run.ts";
import { storedJournal } from "./journal/stored-journal.ts";
import { PersistentSession } from "./persistent-session.ts";
import type { Journal } from "./ports/journal.ts";
import type { StoreDriver } from "./ports/store-driver.ts";
import { type Annotation, annotate, annotationsOf, type NewAnnotation } from "./records/annotations.ts";
import { type MemoryRows, memoryRows } from "./records/memories.ts";
import { type RecordedInput, readInput } from "./records/model-input.ts";
import { deleteSession, type PruneOptions, type PruneReport, prune } from "./records/prune.ts";
import { getValue, type ListedRun, type ListRunsOptions, listRuns } from "./records/run-list.ts";
import { type FoundRun, findRun, getRun } from "./records/run-reader.ts";
import { type Numbers, type NumbersOptions, numbers } from "./records/search/numbers.ts";
import { type FoundMessage, type SearchOptions, search } from "./records/search/search.ts";
import { queryOver, type StoreQueryOptions } from "./records/search/store-query.ts";
import { getSession, type ListSessionsOptions, listSessions, type SessionInfo } from "./records/session-list.ts";
import { addSpans, findSpans, type SpanPlace } from "./records/span-list.ts";
import { type StopRunOptions, stopRun } from "./records/stop-run.ts";
import { type VerifyOptions, type Violation, verifyStore } from "./records/verify.ts";
import { type CoreOptions, checkStoreOptions, openCore, type StoreCore } from "./store-core.ts";

/** The property that holds where the driver of a store comes from, for wrappers. */
export const storeSource: unique symbol = Symbol.for("offstage.store-source");

/** The property that holds the options and the namespace of a store, for wrappers. */
export const storeOptions: unique symbol = Symbol.for("offstage.store-options");

/** An open store. */
export interface Store extends AsyncDisposable {
  readonly [storeSource]: DriverSource;
  readonly [storeOptions]: CoreOptions;
  /** The store, as errors name it. */
  readonly name: string;
  /** Opens the store now instead of on first use; rejects if that fails. */
  ready(): Promise<void>;
  /** The session with this id; without an id, a new session. */
  session(id?: string): PersistentSession;
  readonly sessions: StoredSessions;
  readonly runs: StoredRuns;
  readonly spans: StoredSpans;
  /** Finds messages of all sessions, newest first. */
  search(options?: SearchOptions): AsyncIterable<FoundMessage>;
  /** A query over the messages that `search` finds, or over one run with its subagents: statistics, tool summary, timeline, export. */
  query(options?: StoreQueryOptions): Promise<MessageQuery>;
  /** Runs, failures, tokens, cost and durations, by group. The result prints itself as a table. */
  numbers(options?: NumbersOptions): Promise<Numbers>;
  /** Stores feedback on a run or on one of its messages. */
  annotate(annotation: NewAnnotation): Promise<Annotation>;
  /** The messages of a persistent memory; see `PersistentMemory`. */
  memory(id: string): MemoryRows;
  /** The same store in another namespace. */
  namespace(name: string): Store;
  /** Removes old sessions, with everything that belongs to them. */
  prune(options: PruneOptions): Promise<PruneReport>;
  /** Checks all rows of this namespace and returns what is wrong; empty if nothing is. Changes nothing. */
  verify(options?: VerifyOptions): Promise<Violation[]>;
  /** Completes requested changes, abandons open runs, and closes what the store opened, in all namespaces. Idempotent. */
  close(): Promise<void>;
}

export interface StoredSessions {
  /** Lists sessions, most recently active first. */
  list(options?: ListSessionsOptions): Promise<SessionInfo[]>;
  get(sessionId: string): Promise<SessionInfo | undefined>;
  /** Removes a session with its runs and spans; false if there was none. Rejects with `SessionBusyError` if a run uses it. */
  delete(sessionId: string): Promise<boolean>;
}

export interface StoredRuns {
  /** Lists runs, newest first. */
  list(options?: ListRunsOptions): Promise<ListedRun[]>;
  /** Everything recorded of a run, and the calls that wait for approval. Reads only: does not resume the run. */
  get(runId: string): Promise<FoundRun | undefined>;
  /** The input of a step: messages, tools and settings as they were sent to the model. Undefined if that was not kept. */
  input(runId: string, step: number): Promise<RecordedInput | undefined>;
  /**
   * Stops a run, from any process. True if it was running or waiting. A run that works ends within seconds, with the outcome
   * `stopped` and the reason `stop-requested`; a run that waits, or whose process died, has ended when this resolves.
   */
  stop(runId: string, options?: StopRunOptions): Promise<boolean>;
  /** The full value of a tool result that was clipped for the model. */
  value(runId: string, toolCallId: string): Promise<JsonValue | undefined>;
  /** The feedback on a run, oldest first. */
  annotations(runId: string): Promise<Annotation[]>;
  /** The journal that can resume the run; undefined if there is no such run. */
  journal(runId: string): Promise<Journal | undefined>;
}

export interface StoredSpans {
  /** Stores spans that belong to no run. */
  add(spans: readonly SpanData[]): Promise<void>;
  /** The spans of a run with its subagents, of a trace or of a session, ordered by start time. */
  list(place: SpanPlace): Promise<SpanData[]>;
}

/** The rule for an option that takes a store. */
export const someStore: OptionRule = objectWith("a store", "session", "search", "namespace", "ready");

const someDriver = objectWith("a store driver", "open", "prepare", "get", "read", "commit", "close");

/** Creates a store on a driver: the driver keeps rows, and the store does everything else. */
export function createStore(driver: StoreDriver, options: CoreOptions = {}): Store {
  if (!someDriver.isFit(driver)) {
    const methods = "open, prepare, get, read, commit and close";
    const message = `createStore() needs a store driver with the methods ${methods}; found ${shownValue(driver)}.`;
    throw new OffstageError("invalid-argument", message);
  }
  checkStoreOptions("createStore()", options);
  return storeOf(openCore({ name: driver.name, load: async () => driver }, options));
}

function checkedRunId(runId: string): string {
  checkId(runId, "run id");
  return runId;
}

/** The store on a core. */
export function storeOf(core: StoreCore): Store {
  const { cells } = core;
  return {
    [storeSource]: core.source,
    [storeOptions]: core.options,
    get name() {
      return core.connection.name;
    },
    ready: core.ready,
    session: (id) => new PersistentSession(cells, id),
    sessions: {
      list: (options) => listSessions(cells, options),
      get: async (sessionId) => getSession(cells.of(sessionId)),
      delete: async (sessionId) => deleteSession(cells.of(sessionId)),
    },
    runs: {
      list: (options) => listRuns(cells, options),
      get: async (runId) => getRun(cells, checkedRunId(runId)),
      stop: async (runId, options) => stopRun(cells, checkedRunId(runId), options),
      input: async (runId, step) => readInput(cells, checkedRunId(runId), step),
      value: async (runId, toolCallId) => getValue(cells, checkedRunId(runId), toolCallId),
      annotations: async (runId) => annotationsOf(cells, checkedRunId(runId)),
      journal: async (runId) => {
        const row = await findRun(cells.context, checkedRunId(runId), refuseDamage(runId));
        return row && storedJournal(cells, row.session_id);
      },
    },
    spans: {
      add: (spans) => addSpans(cells.context, spans),
      list: (place) => findSpans(cells, place),
    },
    search: (options) => search(cells, options),
    query: (options) => queryOver(cells, options),
    numbers: (options) => numbers(cells, options),
    annotate: (annotation) => annotate(cells, annotation),
    memory: (id) => memoryRows(cells.context, id),
    namespace: (name) => storeOf(core.namespace(name)),
    prune: (options) => prune(cells, options),
    verify: (options) => verifyStore(cells, options),
    close: core.close,
    [Symbol.asyncDispose]: core.close,
  };
}
