// The client of an engine: submits runs, follows them and decides about them, from any process.
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { parseInput } from "../../agent/agent.ts";
import type { RunInput } from "../../agent/ports/agent-options.ts";
import type { Decisions } from "../../agent/ports/approvals.ts";
import { isObject, type JsonObject } from "../../base/json.ts";
import { anything, checkOptions, numberFrom, type OptionRule, someText, wholeFrom } from "../../base/options.ts";
import { poll } from "../../base/poll.ts";
import { OffstageError } from "../../errors.ts";
import { textOf } from "../../messages/message.ts";
import type { EventReader } from "../../serve/runs/event-log.ts";
import type { ServedEvent } from "../../serve/telling/served-event.ts";
import type { Show } from "../../serve/telling/show.ts";
import { checkId } from "../../sessions/head/namespace-rows.ts";
import type { FoundRun } from "../../sessions/records/run-reader.ts";
import { type Store, storeOptions } from "../../sessions/store.ts";
import { eventsOf, followQueuedRun } from "./follow.ts";
import { enqueueJob, firstIdOf, type Job, jobOf, type QueueNames, sessionKey, workflowIdOf } from "./job.ts";
import type { DbosClient, Workflow } from "./sdk.ts";

export interface SubmitOptions extends InNamespace {
  readonly input: RunInput;
  /** The id of the session. Default: a new session. */
  readonly session?: string | undefined;
  /** The id of the run. A run that is submitted twice under one id runs once. Default: a new id. */
  readonly runId?: string | undefined;
  /** Values for tools, hooks and guardrails. They are kept in the queue as JSON. */
  readonly context?: JsonObject | undefined;
  readonly maxSteps?: number | undefined;
  /** Lower numbers come first, from 1. Default 100. */
  readonly priority?: number | undefined;
  /** How long to wait before the run may begin. */
  readonly delayMs?: number | undefined;
}

const submitRules: Readonly<Record<keyof SubmitOptions, OptionRule>> = {
  input: anything,
  session: someText,
  namespace: { isFit: (value) => typeof value === "string", words: "text" },
  runId: someText,
  context: { isFit: isPlainJson, words: "an object that is JSON" },
  maxSteps: wholeFrom(1),
  priority: wholeFrom(1),
  delayMs: numberFrom(0),
};

export interface Submitted {
  readonly runId: string;
  readonly session: string;
}

/** The load of an engine. */
export interface EngineHealth {
  /** Runs that wait for a worker. */
  readonly queued: number;
  /** Runs that wait for their time: delayed ones, and retries. */
  readonly delayed: number;
  /** Runs that a worker works on. */
  readonly running: number;
  /** The workers that work on runs, by id. */
  readonly workers: readonly string[];
  /** How long the first run in the queue has been waiting. */
  readonly oldestQueuedMs: number | undefined;
}

/** The tenant of a run. Default: the namespace of the store. */
export interface InNamespace {
  readonly namespace?: string | undefined;
}

export interface ResultOptions extends InNamespace {
  /** Ends the waiting, not the run. */
  readonly signal?: AbortSignal | undefined;
}

export interface StopOptions extends InNamespace {
  readonly reason?: string | undefined;
}

/** The record of a run that has ended or waits, and its text. */
export interface EngineResult extends FoundRun {
  /** The answer; of a run that was stopped, the text so far. */
  readonly text: string;
}

export interface ReadOptions extends InNamespace {
  readonly show: Show;
  /** The record as the client has seen it, if the run was resumed since. */
  readonly told?: FoundRun | undefined;
}

export interface ClientParts {
  readonly store: Store;
  readonly names: QueueNames;
  readonly agents: ReadonlyMap<string, unknown>;
  connect(): Promise<DbosClient>;
}

const defaultPriority = 100;
const activeStatuses = ["ENQUEUED", "DELAYED", "PENDING"];
// The statuses of recorded runs that can be stopped.
const openStatuses: readonly string[] = ["running", "interrupted", "waiting"];

export class EngineClient {
  readonly #parts: ClientParts;

  constructor(parts: ClientParts) {
    this.#parts = parts;
  }

  /**
   * Puts a run into the queue. Durable when it resolves; a worker begins it when its session is free. `replaces` is the run
   * whose turn the input replaces, if that is the newest.
   */
  async submit(agent: string, options: SubmitOptions, replaces?: string): Promise<Submitted> {
    checkOptions(options, submitRules, "submit()");
    const { agents, names } = this.#parts;
    if (!agents.has(agent))
      throw invalid(`Unknown agent "${agent}". Agents of this engine: ${[...agents.keys()].join(", ")}.`);
    const { runId = crypto.randomUUID(), session = crypto.randomUUID(), context, maxSteps } = options;
    const namespace = this.#namespaceOf(options);
    checkId(runId, "run id");
    checkId(session, "session id");
    const { priority = defaultPriority, delayMs } = options;
    const job: Job = {
      id: workflowIdOf(namespace, runId),
      runId,
      agent,
      namespace,
      session,
      input: parseInput(options.input),
      ...(replaces !== undefined && { replaces }),
      ...(context && { context }),
      ...(maxSteps !== undefined && { maxSteps }),
      serial: 0,
      lost: 0,
    };
    await enqueueJob(await this.#parts.connect(), names, job, { priority, delayMs });
    // The queue orders by milliseconds: a run that is submitted after this one comes after it.
    await sleep(2);
    return { runId, session };
  }

  /** The record of a run when it has ended or waits for a person. Rejects with `run-failed` if it failed for good. */
  async result(runId: string, options: ResultOptions = {}): Promise<EngineResult> {
    const { signal } = options;
    const settled = await poll(() => this.#settled(runId, options), { firstMs: 50, longestMs: 1000, signal });
    return { ...settled, text: lastText(settled) };
  }

  async #settled(runId: string, place: InNamespace): Promise<FoundRun | undefined> {
    const isActive = await this.#isActive(runId, place);
    const found = await this.#storeOf(place).runs.get(runId);
    if (found?.status === "completed" || found?.status === "stopped") return found;
    if (isActive) return undefined;
    if (found?.status === "waiting") return found;
    if (found?.status === "failed") throw failure(found);
    // Between a job and the one that follows it, or not known here.
    const known = await this.#workflowsOf(runId, place);
    if (known.length === 0) throw new OffstageError("run-not-found", `No run "${runId}" was submitted to this engine.`);
    if (known.every(({ status }) => status === "CANCELLED") && found === undefined)
      throw new OffstageError("run-failed", `Run "${runId}" was stopped before it began.`);
    return undefined;
  }

  /** The events of a run, from its record: without deltas, a step when it is finished. Ends when the run ends or waits. */
  events(runId: string, options: InNamespace = {}): AsyncIterable<ServedEvent> {
    return eventsOf(this.read(runId, { ...options, show: "trace" }));
  }

  /** The same for a server, with what its clients may see. */
  read(runId: string, options: ReadOptions): EventReader {
    const store = this.#storeOf(options);
    const checkQueued = async (): Promise<void> => void (await this.#settled(runId, options));
    return followQueuedRun(runId, { ...options, store, checkQueued, isActive: () => this.#isActive(runId, options) });
  }

  /** Decides about the calls and questions that a run waits for. A worker resumes it. */
  async decide(runId: string, decisions: Decisions & InNamespace): Promise<void> {
    const { namespace: _, ...decided } = decisions;
    const found = await this.#storeOf(decisions).runs.get(runId);
    if (found === undefined) throw new OffstageError("run-not-found", `There is no run "${runId}".`);
    if (found.status !== "waiting")
      throw new OffstageError(
        "run-not-resumable",
        `Run "${runId}" does not wait for a decision: it is ${found.status}.`,
      );
    checkDecided(found, decided);
    const client = await this.#parts.connect();
    const namespace = this.#namespaceOf(decisions);
    const id = workflowIdOf(namespace, runId);
    const [first] = await client.listWorkflows({ workflowIDs: [id], loadInput: true });
    const submitted = jobOf(first ?? {});
    const job: Job = {
      runId,
      agent: found.agent,
      session: found.sessionId,
      namespace,
      input: [],
      context: submitted?.context,
      maxSteps: submitted?.maxSteps,
      decisions: decided,
      id: `${id}:${crypto.randomUUID()}`,
      serial: 0,
      lost: 0,
    };
    await enqueueJob(client, this.#parts.names, job, { priority: 0 });
  }

  /** Stops a run, wherever it works, waits or is queued. False if it has ended already. */
  async stop(runId: string, options: StopOptions = {}): Promise<boolean> {
    const client = await this.#parts.connect();
    const { runs } = this.#storeOf(options);
    const queued = await this.#workflowsOf(runId, options, ["ENQUEUED", "DELAYED"]);
    for (const { workflowID } of queued) await client.cancelWorkflow(workflowID);
    // A worker may have taken the run and not begun it yet.
    do {
      if (await runs.stop(runId, { reason: options.reason })) return true;
      const found = await runs.get(runId);
      // A run that has begun since then is stopped the next time.
      if (found !== undefined && !openStatuses.includes(found.status)) break;
      await sleep(20);
    } while ((await this.#workflowsOf(runId, options, ["PENDING"])).length > 0);
    return queued.length > 0;
  }

  /** Stops what works on a session, waits in it or is queued for it. False if there is nothing. */
  async stopSession(sessionId: string, options: StopOptions = {}): Promise<boolean> {
    const session = sessionKey(this.#namespaceOf(options), sessionId);
    const queued = await this.#workflows({ attributes: { session }, status: activeStatuses, loadInput: true });
    const status = ["running", "waiting"] as const;
    const recorded = await this.#storeOf(options).session(sessionId).runs({ status });
    const runs = [...queued.flatMap((workflow) => jobOf(workflow) ?? []), ...recorded];
    const ids = new Set(runs.map(({ runId }) => runId));
    const stopped = await Promise.all([...ids].map((runId) => this.stop(runId, options)));
    return stopped.includes(true);
  }

  async health(): Promise<EngineHealth> {
    const active = await this.#workflows({ status: activeStatuses });
    const having = (status: string): Workflow[] => active.filter((each) => each.status === status);
    const oldest = Math.min(...having("ENQUEUED").map(({ createdAt = Number.POSITIVE_INFINITY }) => createdAt));
    return {
      queued: having("ENQUEUED").length,
      delayed: having("DELAYED").length,
      running: having("PENDING").length,
      workers: [...new Set(having("PENDING").flatMap(({ executorId = [] }) => executorId))],
      oldestQueuedMs: Number.isFinite(oldest) ? Math.max(0, Date.now() - oldest) : undefined,
    };
  }

  #namespaceOf({ namespace }: InNamespace): string {
    return namespace ?? this.#parts.store[storeOptions].namespace ?? "";
  }

  #storeOf({ namespace }: InNamespace): Store {
    const { store } = this.#parts;
    return namespace === undefined ? store : store.namespace(namespace);
  }

  async #isActive(runId: string, place: InNamespace): Promise<boolean> {
    return (await this.#workflowsOf(runId, place, activeStatuses)).length > 0;
  }

  async #workflowsOf(runId: string, place: InNamespace, status?: readonly string[]): Promise<readonly Workflow[]> {
    const id = workflowIdOf(this.#namespaceOf(place), runId);
    const found = await this.#workflows({ workflow_id_prefix: id, ...(status && { status }) });
    return found.filter(({ workflowID }) => firstIdOf(workflowID) === id);
  }

  async #workflows(filter: object): Promise<readonly Workflow[]> {
    const client = await this.#parts.connect();
    const { workflow } = this.#parts.names;
    return client.listWorkflows({ workflowName: workflow, loadInput: false, loadOutput: false, ...filter });
  }
}

function checkDecided({ runId, approvals }: FoundRun, decisions: Decisions): void {
  const waiting = new Set(approvals.map(({ toolCallId }) => toolCallId));
  for (const decided of Object.values(decisions).flat()) {
    const toolCallId = typeof decided === "string" ? decided : decided?.toolCallId;
    if (waiting.has(toolCallId)) continue;
    const known = [...waiting].map((id) => `"${id}"`).join(", ");
    throw invalid(`Run "${runId}" does not wait for call "${toolCallId}". It waits for: ${known}.`);
  }
}

function lastText({ status, steps }: FoundRun): string {
  const [reply] = status === "waiting" ? [] : (steps.at(-1)?.messages ?? []);
  return reply === undefined ? "" : textOf(reply);
}

function failure({ runId, error, reason }: FoundRun): OffstageError {
  const sentence = error?.message ?? reason ?? "no reason was recorded";
  return new OffstageError("run-failed", `Run "${runId}" failed: ${sentence}`);
}

function isPlainJson(value: unknown): boolean {
  try {
    return isObject(value) && isDeepStrictEqual(JSON.parse(JSON.stringify(value)), value);
  } catch {
    return false;
  }
}

function invalid(sentence: string): OffstageError {
  return new OffstageError("invalid-argument", sentence);
}
