// Finds the jobs of workers that died, and puts them back into the queue. Every worker does this for all others.
import { setTimeout as sleep } from "node:timers/promises";
import { warn } from "../../base/warn.ts";
import { messageOf } from "../../errors.ts";
import { enqueueJob, type Job, jobOf, type QueueNames } from "./job.ts";
import type { DbosClient, Workflow } from "./sdk.ts";
import type { SignOfLife } from "./sign-of-life.ts";

export interface ReaperParts {
  readonly client: DbosClient;
  readonly names: QueueNames;
  readonly workerId: string;
  readonly signOfLife: SignOfLife;
  readonly everyMs: number;
  /** How many workers may die while they work on a run, before it counts as the cause. */
  readonly maxLost: number;
}

export interface Reaper {
  stop(): Promise<void>;
}

export function startReaper(parts: ReaperParts): Reaper {
  const stopping = new AbortController();
  const { signal } = stopping;
  // A worker whose connection broke gives its sign again within a second: only who is silent twice is dead.
  let silent: ReadonlySet<string> = new Set();
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        silent = await reap(parts, silent);
      } catch (error) {
        if (!signal.aborted) warn(`Looking for the runs of lost workers failed: ${messageOf(error)}`);
      }
      await sleep(parts.everyMs, undefined, { signal, ref: false }).catch(() => {});
    }
  };
  const watching = watch();
  return {
    async stop() {
      stopping.abort();
      await watching;
    },
  };
}

// Returns the workers that gave no sign of life this time.
async function reap(parts: ReaperParts, silentBefore: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const { client, names, workerId, signOfLife } = parts;
  const running = await client.listWorkflows({ queueName: names.queue, status: "PENDING", loadInput: true });
  const byWorker = Map.groupBy(running, ({ executorId }) => executorId ?? "");
  const silent = new Set<string>();
  for (const [other, workflows] of byWorker) {
    if (other === workerId || (await signOfLife.isAlive(other))) continue;
    silent.add(other);
    if (silentBefore.has(other)) await requeueAll(parts, workflows);
  }
  return silent;
}

// A healthy run is lost with the run that kills its worker. So no run is to blame while one that was lost as often shares its worker.
async function requeueAll(parts: ReaperParts, workflows: readonly Workflow[]): Promise<void> {
  const timesLost = workflows.map((workflow) => jobOf(workflow)?.lost ?? 0);
  const most = Math.max(...timesLost);
  const hasSuspect = most >= parts.maxLost && timesLost.filter((times) => times === most).length === 1;
  for (const workflow of workflows) {
    const job = jobOf(workflow);
    if (job !== undefined) await requeue(parts, workflow, { ...job, isToBlame: hasSuspect && job.lost === most });
  }
}

// First the new job, then the end of the old one: a crash in between leaves both, and the next look does the rest. Two workers that
// do this at once make the same job.
async function requeue({ client, names }: ReaperParts, workflow: Workflow, job: Job): Promise<void> {
  const lost = job.lost + 1;
  // Runs that share a worker with one that kills it are lost with it. From the second time on they come back at different moments,
  // until one of them dies without the others.
  const delayMs = lost === 1 || job.isToBlame ? 0 : Math.random() * 1000 * 2 ** Math.min(lost, 5);
  await enqueueJob(client, names, { ...job, serial: job.serial + 1, lost }, { priority: 0, delayMs });
  await client.cancelWorkflow(workflow.workflowID);
}
