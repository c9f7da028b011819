// The engine on DBOS: runs of the same agents on several workers over one Postgres. The queue decides which worker works on a run,
// and the journal has what was done; this file connects them.
import { setTimeout as sleep } from "node:timers/promises";
import { warn } from "../../base/warn.ts";
import { messageOf, OffstageError } from "../../errors.ts";
import type { RunEngine } from "../../serve/runs/run-host.ts";
import { EngineClient, type SubmitOptions } from "./client.ts";
import { type CheckedEngineOptions, checkEngineOptions, type DbosEngineOptions } from "./engine-options.ts";
import type { Job, QueueNames } from "./job.ts";
import { type EngineMetrics, engineMetrics } from "./metrics.ts";
import { type Reaper, startReaper } from "./reaper.ts";
import { runsOnWorkers } from "./runs-on-workers.ts";
import { connectPg, type Dbos, type DbosClient, type DbosSdk, loadDbos } from "./sdk.ts";
import { giveSignOfLife, type SignOfLife } from "./sign-of-life.ts";
import { work } from "./work.ts";

/** A run that begins again and again. */
export interface Schedule extends Omit<SubmitOptions, "runId" | "delayMs" | "priority"> {
  /** Unique within the engine. A schedule of the same name is replaced. */
  readonly name: string;
  /** When, as a cron expression: "0 7 * * 1-5". */
  readonly cron: string;
  /** Default "UTC". */
  readonly timeZone?: string | undefined;
  readonly agent: string;
}

export interface CloseOptions {
  /** How long to wait for runs that this worker works on. The others continue on another worker. Default 30,000. */
  readonly timeoutMs?: number | undefined;
}

/** Runs on several workers. In a worker, call `start()`; elsewhere, use it as a client. */
export interface DbosEngine extends AsyncDisposable {
  /** Makes this process a worker. One per process. */
  start(): Promise<void>;
  /** The engine for a process that is no worker. */
  client(): EngineClient;
  submit: EngineClient["submit"];
  result: EngineClient["result"];
  events: EngineClient["events"];
  decide: EngineClient["decide"];
  stop: EngineClient["stop"];
  health: EngineClient["health"];
  /** For `serve({ engine })`. */
  hostRuns: RunEngine["hostRuns"];
  /** Adds or replaces a schedule. Needs a started engine. */
  schedule(schedule: Schedule): Promise<void>;
  /** Takes no more runs, waits for those under way, and closes. Close the store afterwards: that hands over the rest. */
  close(options?: CloseOptions): Promise<void>;
}

interface Worker {
  readonly dbos: Dbos;
  readonly reaper: Reaper;
  readonly signOfLife: SignOfLife;
  readonly onSchedule: (at: Date, submitted: unknown) => Promise<unknown>;
}

/** Creates an engine on DBOS. Nothing is connected before the first use. Needs the package "@dbos-inc/dbos-sdk". */
export function dbosEngine(given: DbosEngineOptions): DbosEngine {
  const options = checkEngineOptions(given);
  const { store, agents, name } = options;
  const names: QueueNames = { queue: `${name}-runs`, workflow: `${name}-run`, version: "offstage" };
  const connecting = connection(options, names);
  const connect = (): Promise<DbosClient> => connecting.client();
  const client = new EngineClient({ store, names, agents, connect });
  const metrics = engineMetrics(options.meter, async () => (await client.health()).queued);
  let starting: Promise<Worker> | undefined;
  const close = async ({ timeoutMs = 30_000 }: CloseOptions = {}): Promise<void> => {
    const worker = await starting?.catch(() => undefined);
    starting = undefined;
    await worker?.reaper.stop();
    await worker?.dbos.shutdown({ deregister: true, workflowCompletionTimeoutMS: timeoutMs });
    await worker?.signOfLife.stop();
    await connecting.close();
  };
  return {
    start: async () => {
      starting ??= startWorker({ options, names, metrics, sdk: await loadDbos(), client: await connect() });
      try {
        await starting;
      } catch (error) {
        starting = undefined;
        throw error;
      }
    },
    client: () => client,
    submit: (agent, submitted) => client.submit(agent, submitted),
    result: (runId, awaited) => client.result(runId, awaited),
    events: (runId, place) => client.events(runId, place),
    decide: (runId, decisions) => client.decide(runId, decisions),
    stop: (runId, stopping) => client.stop(runId, stopping),
    health: () => client.health(),
    hostRuns: (hosting) => runsOnWorkers(client, hosting),
    schedule: async ({ name: scheduleName, cron, timeZone = "UTC", ...submitted }) => {
      const worker = await starting;
      if (worker === undefined)
        throw new OffstageError("invalid-argument", "schedule() needs a worker: call engine.start() first.");
      const { dbos, onSchedule } = worker;
      const schedule = { scheduleName, schedule: cron, cronTimezone: timeZone, workflowFn: onSchedule };
      await dbos.applySchedules([{ ...schedule, context: { ...submitted, scheduleName } }]);
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

interface EngineConnection {
  client(): Promise<DbosClient>;
  close(): Promise<void>;
}

function connection({ url, name }: CheckedEngineOptions, { queue }: QueueNames): EngineConnection {
  let opening: Promise<DbosClient> | undefined;
  const open = async (): Promise<DbosClient> => {
    const { DBOS, DBOSClient } = await loadDbos();
    await migrate(DBOS, url);
    const client = await DBOSClient.create({
      systemDatabaseUrl: url,
      systemDatabasePoolSize: 4,
      applicationName: name,
      logger: quietLogger,
    });
    await client.registerQueue(queue, { partitionConcurrency: 1, onConflict: "never_update", applicationName: name });
    return client;
  };
  return {
    client: async () => {
      opening ??= open();
      try {
        return await opening;
      } catch (error) {
        opening = undefined;
        throw error;
      }
    },
    close: async () => {
      const opened = await opening?.catch(() => undefined);
      opening = undefined;
      await opened?.destroy();
    },
  };
}

// Creates the tables of DBOS: a client may come before the first worker. One process at a time, because two would collide. Polls for
// its turn: DBOS builds indexes concurrently, which waits for every open statement, one that waits for a lock included.
async function migrate(dbos: Dbos, url: string): Promise<void> {
  const turn = await connectPg(url);
  turn.on("error", () => {});
  await turn.connect();
  const takeTurn = async (): Promise<boolean> => {
    const lock = "SELECT pg_try_advisory_lock(hashtextextended($1, 0)) AS taken";
    const { rows } = await turn.query(lock, ["offstage migrates dbos"]);
    return rows[0]?.taken === true;
  };
  try {
    while (!(await takeTurn())) await sleep(50);
    await dbos.migrate(url);
  } finally {
    await turn.end();
  }
}

// DBOS reports each recovered connection and each cancelled job; errors of runs reach the record.
const quietLogger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: (entry: unknown) => warn(`DBOS: ${messageOf(entry)}`),
};

interface StartParts {
  readonly options: CheckedEngineOptions;
  readonly names: QueueNames;
  readonly metrics: EngineMetrics;
  readonly sdk: DbosSdk;
  readonly client: DbosClient;
}

async function startWorker(parts: StartParts): Promise<Worker> {
  const { options, names, client } = parts;
  const { DBOS: dbos } = parts.sdk;
  if (dbos.isInitialized())
    throw new OffstageError(
      "invalid-argument",
      "This process has started an engine already: DBOS allows one per process.",
    );
  const { url, name, concurrency, maxRunning, rateLimit, maxLost, pollMs, watchMs } = options;
  const workerId = crypto.randomUUID();
  await client.registerQueue(names.queue, {
    workerConcurrency: concurrency,
    globalConcurrency: maxRunning,
    partitionConcurrency: 1,
    ...(rateLimit && { rateLimit: { limitPerPeriod: rateLimit.runs, periodSec: rateLimit.perSeconds } }),
    minPollingIntervalMs: pollMs,
    onConflict: "always_update",
    applicationName: name,
  });
  dbos.setConfig({
    name,
    systemDatabaseUrl: url,
    applicationVersion: names.version,
    executorID: workerId,
    listenQueues: [names.queue],
    logger: quietLogger,
  });
  dbos.registerWorkflow((job: Job) => workOn(parts, job), { name: names.workflow });
  const onSchedule = dbos.registerWorkflow(
    (at: Date, submitted: unknown) => submitScheduled(parts, at, submitted as Scheduled),
    { name: `${name}-schedule` },
  );
  const signOfLife = await giveSignOfLife(url, workerId);
  try {
    await dbos.launch();
  } catch (error) {
    await signOfLife.stop();
    throw error;
  }
  const reaper = startReaper({ client, names, workerId, signOfLife, everyMs: watchMs, maxLost });
  return { dbos, reaper, signOfLife, onSchedule };
}

async function workOn({ options, metrics }: StartParts, job: Job): Promise<{ status: string }> {
  const startedMs = performance.now();
  const worked = await work(job, options);
  metrics.attempt(job.agent, performance.now() - startedMs, worked);
  return { status: worked.status };
}

type Scheduled = Omit<Schedule, "name" | "cron" | "timeZone"> & { readonly scheduleName: string };

async function submitScheduled({ options, names, client }: StartParts, at: Date, scheduled: Scheduled): Promise<void> {
  const { scheduleName, agent, ...submitted } = scheduled;
  const { store, agents } = options;
  const submitter = new EngineClient({ store, names, agents, connect: async () => client });
  // The same id for the same time, so that a repeated schedule submits once.
  await submitter.submit(agent, { ...submitted, runId: `${scheduleName}@${new Date(at).toISOString()}` });
}
