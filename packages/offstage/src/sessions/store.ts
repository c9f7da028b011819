// A store of sessions, runs and spans, on any driver. The files beside this one do the work.
import type { JsonValue } from "../base/json.ts";
import { objectWith, shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { SpanData } from "../tracing/span-data.ts";
import type { FoundRun } from "./found-run.ts";
import type { Journal } from "./journal.ts";
import { PersistentSession } from "./persistent-session.ts";
import { type PruneOptions, type PruneReport, prune } from "./prune.ts";
import { getRun, getValue, type ListedRun, type ListRunsOptions, listRuns } from "./run-list.ts";
import { findRun, refusing } from "./run-reader.ts";
import { deleteSession, getSession, type ListSessionsOptions, listSessions, type SessionInfo } from "./session-list.ts";
import { findSpans, type SpanPlace } from "./span-list.ts";
import { addSpans } from "./span-rows.ts";
import { type CoreOptions, openCore, type StoreCore } from "./store-core.ts";
import type { StoreDriver } from "./store-driver.ts";
import { checkStoreOptions } from "./store-rules.ts";
import { storedJournal } from "./stored-journal.ts";
import { type Violation, verifyStore } from "./verify-store.ts";

/** The property that holds the driver of a store, for wrappers. */
export const storeDriver: unique symbol = Symbol.for("offstage.driver");

/** The property that holds the options and the namespace of a store, for wrappers. */
export const storeOptions: unique symbol = Symbol.for("offstage.store-options");

/** An open store. */
export interface Store extends AsyncDisposable {
  readonly [storeDriver]: StoreDriver;
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
  /** The same store in another namespace. */
  namespace(name: string): Store;
  /** Removes old sessions, with everything that belongs to them. */
  prune(options: PruneOptions): Promise<PruneReport>;
  /** Checks all rows of this namespace and returns what is wrong; empty if nothing is. Changes nothing. */
  verify(): Promise<Violation[]>;
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
  /** The full value of a tool result that was clipped for the model. */
  value(runId: string, toolCallId: string): Promise<JsonValue | undefined>;
  /** The journal that can resume the run; undefined if there is no such run. */
  journal(runId: string): Promise<Journal | undefined>;
}

export interface StoredSpans {
  /** Stores spans that belong to no run. */
  add(spans: readonly SpanData[]): Promise<void>;
  /** The spans of a run, a trace or a session, ordered by start time. */
  list(place: SpanPlace): Promise<SpanData[]>;
}

const someDriver = objectWith("a store driver", "open", "prepare", "get", "read", "commit", "close");

/** Creates a store on a driver: the driver keeps rows, and the store does everything else. */
export function createStore(driver: StoreDriver, options: CoreOptions = {}): Store {
  if (!someDriver.isFit(driver)) {
    const methods = "open, prepare, get, read, commit and close";
    const message = `createStore() needs a store driver with the methods ${methods}; found ${shownValue(driver)}.`;
    throw new OffstageError("invalid-argument", message);
  }
  checkStoreOptions("createStore()", options);
  return storeOf(openCore(driver, options));
}

/** The store on a core. */
export function storeOf(core: StoreCore): Store {
  const { cells } = core;
  return {
    [storeDriver]: core.bare,
    [storeOptions]: core.options,
    get name() {
      return core.driver.name;
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
      get: (runId) => getRun(cells, runId),
      value: (runId, toolCallId) => getValue(cells, runId, toolCallId),
      journal: async (runId) => {
        const place = await findRun(cells.context, runId, refusing(runId));
        return place && storedJournal(cells, place[0]);
      },
    },
    spans: {
      add: (spans) => addSpans(cells.context, spans),
      list: (place) => findSpans(cells, place),
    },
    namespace: (name) => storeOf(core.namespace(name)),
    prune: (options) => prune(cells, options),
    verify: () => verifyStore(cells),
    close: core.close,
    [Symbol.asyncDispose]: core.close,
  };
}
