// The port between serving and running: where the runs of a server happen. Serving knows nothing else of them.
import type { Decisions } from "../../agent/ports/approvals.ts";
import type { UserMessage } from "../../messages/message.ts";
import type { PersistentSession } from "../../sessions/persistent-session.ts";
import type { FoundRun } from "../../sessions/records/run-reader.ts";
import type { Store } from "../../sessions/store.ts";
import type { Show } from "../telling/show.ts";
import type { EventReader, ReadFrom } from "./event-log.ts";

/** The session that a request is about, as `authorize` allowed it. */
export interface SessionPlace {
  /** The store in the namespace of the request. */
  readonly store: Store;
  readonly session: PersistentSession;
  /** Unique among all namespaces of the store. */
  readonly key: string;
  /** The context for tools, hooks and instructions. */
  readonly context: object | undefined;
}

/** A run that can be read. */
export interface HostedRun {
  readonly runId: string;
  /** Reads its events. The run does not wait for readers, and does not notice when they leave. */
  read(from: ReadFrom): EventReader;
}

/** Does runs elsewhere. */
export interface RunEngine {
  /** The host of the runs of an agent, by its name. */
  hostRuns(options: { readonly agent: string; readonly show: Show }): RunHost;
}

/**
 * Does the runs of a server.
 *
 * **Contract:** `start` and `resume` resolve when the run has begun and its input is durable, and reject with an `OffstageError` if it
 * cannot begin. The run then goes on without any reader. If a run works on the session, `start` says the message to that run instead. `find` gives a run of the session that works here; others are read from
 * the record. `recover` never rejects, and at most one process resumes the run.
 */
export interface RunHost {
  start(place: SessionPlace, message: UserMessage): Promise<HostedRun>;
  /**
   * Starts a run whose message replaces the newest turn, which the run `replaced` began. Rejects with `session-busy` or
   * `session-conflict` if a run works or that is not the newest turn; then nothing changes.
   */
  replace(place: SessionPlace, message: UserMessage, replaced: string): Promise<HostedRun>;
  resume(place: SessionPlace, run: FoundRun, decisions: Decisions): Promise<HostedRun>;
  find(place: SessionPlace): HostedRun | undefined;
  /** Resumes the newest run of the session here if its process died. Undefined if there is nothing to resume, or if it is resumed elsewhere. */
  recover(place: SessionPlace): Promise<HostedRun | undefined>;
  /** Stops the run that works on the session or waits, in whichever process. False if there is none. */
  stop(place: SessionPlace): Promise<boolean>;
}
