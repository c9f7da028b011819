// Runs in this process: detached from connections, each with a log that any number of readers follow.
import type { Agent } from "../../agent/agent.ts";
import type { AgentStream } from "../../agent/agent-stream.ts";
import type { ResumeOptions } from "../../agent/ports/agent-options.ts";
import type { Decisions } from "../../agent/ports/approvals.ts";
import { StopRequest } from "../../agent/run/stop-request.ts";
import { isOffstageError } from "../../errors.ts";
import type { UserMessage } from "../../messages/message.ts";
import { replacingTurn } from "../../sessions/journal/plain-journal.ts";
import type { Steering } from "../../sessions/ports/journal.ts";
import type { SessionPort } from "../../sessions/ports/session.ts";
import type { FoundRun } from "../../sessions/records/run-reader.ts";
import type { Show } from "../telling/show.ts";
import { tellRecord, tellSteps } from "../telling/tell-record.ts";
import { Teller } from "../telling/teller.ts";
import { EventLog, type EventReader } from "./event-log.ts";
import { followRun } from "./follow-run.ts";
import type { HostedRun, RunHost, SessionPlace } from "./run-host.ts";

export interface RunsHereOptions {
  readonly agent: Agent<unknown>;
  readonly show: Show;
  /** Keeps a serverless process alive until the promise settles. */
  readonly waitUntil: ((work: Promise<unknown>) => void) | undefined;
  /** Called when a run fails. */
  readonly onError: (error: unknown, about: { readonly sessionId: string; readonly runId: string }) => void;
}

const stopReason = "its client stopped it";

/** How long the end of a run is kept for a client whose connection was cut. */
const keepEndMs = 60_000;

interface RunHere extends HostedRun {
  readonly log: EventLog;
  abort(reason: unknown): void;
}

type Resuming = Decisions & Pick<ResumeOptions, "onBusy">;

/** The host that runs an agent in this process. */
export class RunsHere implements RunHost {
  readonly #options: RunsHereOptions;
  readonly #runs = new Map<string, RunHere>();
  /** Sessions whose run is being resumed after a crash. */
  readonly #recovering = new Map<string, Promise<HostedRun | undefined>>();

  constructor(options: RunsHereOptions) {
    this.#options = options;
  }

  /** Starts a run, or says the message to the run that works on the session, here or elsewhere. A run whose process died is resumed first. */
  async start(place: SessionPlace, message: UserMessage): Promise<HostedRun> {
    const sent = await place.session.journal.inbox?.steer([message]);
    if (sent?.runId !== undefined) return this.#steered(place, message, sent);
    return (await this.recover(place)) === undefined ? this.#startHere(place, message) : this.start(place, message);
  }

  replace(place: SessionPlace, message: UserMessage, replaced: string): Promise<HostedRun> {
    return this.#startHere(place, message, replacingTurn(place.session, replaced));
  }

  #startHere(place: SessionPlace, message: UserMessage, session: SessionPort = place.session): Promise<HostedRun> {
    const { context } = place;
    const onBusy = session === place.session ? "queue" : "reject";
    const stream = this.#options.agent.stream(message, { session, context, onBusy });
    const teller = new Teller(stream.runId, this.#options.show);
    return this.#host(place, { stream, teller, log: this.#logOf(place, stream.runId) });
  }

  // The run takes the message in after its step. If it ends before that, a run of its own answers the message.
  #steered(place: SessionPlace, message: UserMessage, sent: Steering): HostedRun {
    const runId = sent.runId as string;
    const { session } = place;
    const here = this.#runs.get(place.key);
    const working: HostedRun =
      here?.runId === runId ? here : { runId, read: () => followRun(session, runId, { show: this.#options.show }) };
    const answering = sent.joined.then(async (joined) => {
      const isLeft = joined === "next" && (await sent.withdraw());
      return isLeft ? this.start(place, message) : working;
    });
    this.#options.waitUntil?.(answering.catch(() => undefined));
    answering.catch((error) => this.#options.onError(error, { sessionId: session.sessionId, runId }));
    return { runId, read: () => lazily(answering.then((run) => run.read("start"))) };
  }

  recover(place: SessionPlace): Promise<HostedRun | undefined> {
    const { key } = place;
    const recovering = this.#recovering.get(key) ?? this.#recover(place).finally(() => this.#recovering.delete(key));
    this.#recovering.set(key, recovering);
    return recovering;
  }

  async #recover(place: SessionPlace): Promise<HostedRun | undefined> {
    const { session } = place;
    const [newest] = await session.runs({ limit: 1 });
    if (newest?.status !== "interrupted" || newest.agent !== this.#options.agent.name) return undefined;
    const { runId } = newest;
    try {
      const run = await session.run(runId);
      return run && (await this.resume(place, run, { onBusy: "reject" }));
    } catch (error) {
      const isElsewhere = isOffstageError(error, "session-busy") || isOffstageError(error, "run-not-resumable");
      if (!isElsewhere) this.#options.onError(error, { sessionId: session.sessionId, runId });
      return undefined;
    }
  }

  async resume(place: SessionPlace, run: FoundRun, options: Resuming): Promise<HostedRun> {
    const { store, session, context } = place;
    const { runId } = run;
    const teller = new Teller(runId, this.#options.show);
    const log = this.#logOf(place, runId);
    const read = (id: string) => session.run(id);
    const told = await tellRecord(run, teller, { read });
    for (const event of told) if (event.type !== "run-end") log.push(event);
    log.markResumed();
    const stream = this.#options.agent.resumeStream(runId, { store, context, ...options });
    return this.#host(place, { stream, teller, log });
  }

  find({ key }: SessionPlace): HostedRun | undefined {
    return this.#runs.get(key);
  }

  // A run that works here ends at once; one that works elsewhere, waits or was interrupted is stopped through the store.
  async stop({ key, session, store }: SessionPlace): Promise<boolean> {
    const here = this.#runs.get(key);
    if (here !== undefined && !here.log.isEnded) {
      here.abort(new StopRequest(stopReason));
      return true;
    }
    const working = await session.runs({ status: "running", limit: 1 });
    const open = await session.runs({ status: ["waiting", "interrupted"], limit: 1 });
    let isStopped = false;
    for (const { runId } of [...working, ...open])
      isStopped = (await store.runs.stop(runId, { reason: stopReason })) || isStopped;
    return isStopped;
  }

  async #host(place: SessionPlace, { stream, teller, log }: Hosting): Promise<HostedRun> {
    const { runId } = stream;
    const run: RunHere = {
      runId,
      log,
      read: (from) => log.read(from),
      abort: (reason) => stream.abort(reason),
    };
    const pumped = this.#pump({ stream, teller, log });
    // If the run cannot begin, the caller gets the error.
    pumped.catch(() => undefined);
    await stream.started;
    const work = pumped.catch((error) => {
      this.#options.onError(error, { sessionId: place.session.sessionId, runId });
    });
    this.#runs.set(place.key, run);
    this.#options.waitUntil?.(work);
    void work.then(() => this.#forgetLater(place.key, run));
    return run;
  }

  // Rejects with the failure of the run, after its last event was told.
  async #pump({ stream, teller, log }: Hosting): Promise<void> {
    let isStopped = false;
    try {
      for await (const event of stream) {
        for (const told of teller.tell(event)) log.push(told);
        if (event.type === "run-end") isStopped = event.outcome.status === "stopped";
      }
    } catch (error) {
      if (!isStopped) throw error;
    } finally {
      log.end();
    }
  }

  // A client whose connection was cut may come back for the end.
  #forgetLater(key: string, run: RunHere): void {
    const forget = (): void => {
      clearTimeout(timer);
      if (this.#runs.get(key) === run) this.#runs.delete(key);
    };
    const timer = setTimeout(forget, keepEndMs);
    (timer as { unref?(): void }).unref?.();
    run.log.onSeen(forget);
  }

  #logOf({ session }: SessionPlace, runId: string): EventLog {
    const read = (id: string) => session.run(id);
    return new EventLog(async (throughStep) => {
      const run = await read(runId);
      if (run === undefined) return [];
      const teller = new Teller(runId, this.#options.show);
      const steps = run.steps.filter(({ step }) => step <= throughStep);
      const { openStep: _, ...finished } = run;
      return [
        teller.start(run.agent),
        ...(await tellSteps({ ...finished, steps, status: "running" }, teller, { read })),
      ];
    });
  }
}

/** A reader that is not known yet. */
function lazily(opening: Promise<EventReader>): EventReader {
  let isClosed = false;
  return {
    next: async () => {
      const reader = await opening;
      return isClosed ? undefined : reader.next();
    },
    close: () => {
      isClosed = true;
      opening.then(
        (reader) => reader.close(),
        () => undefined,
      );
    },
  };
}

interface Hosting {
  readonly stream: AgentStream<unknown>;
  readonly teller: Teller;
  readonly log: EventLog;
}
