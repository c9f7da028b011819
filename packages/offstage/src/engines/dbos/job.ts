// A job: what a queue holds of a run. The journal has the run itself, so a job says only which run, and what to begin it with.

import type { Decisions } from "../../agent/ports/approvals.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Message } from "../../messages/message.ts";
import type { DbosClient } from "./sdk.ts";

export interface Job {
  /** The id of the first workflow of this job. */
  readonly id: string;
  readonly runId: string;
  readonly agent: string;
  readonly namespace: string;
  readonly session: string;
  /** The new messages, if the run has not begun. */
  readonly input: readonly Message[];
  /** The run whose turn the input replaces. */
  readonly replaces?: string | undefined;
  readonly context?: JsonObject | undefined;
  readonly maxSteps?: number | undefined;
  readonly decisions?: Decisions | undefined;
  /** Numbers the workflows of this job, from 0. */
  readonly serial: number;
  /** How many workers died while they worked on it. */
  readonly lost: number;
  /** Whether too many workers died while they worked on it, the last of them on no other run that was lost as often. */
  readonly isToBlame?: boolean | undefined;
}

/** The names under which workers and clients meet. */
export interface QueueNames {
  readonly queue: string;
  readonly workflow: string;
  /** The same for all builds: the journal resumes a run whatever the code of its agent looks like by now. */
  readonly version: string;
}

export interface EnqueueJobOptions {
  readonly delayMs?: number | undefined;
  /** Lower numbers come first. 0 is for runs that have begun. */
  readonly priority: number;
}

/** Puts a job into the queue. A job that is there already is left as it is. */
export async function enqueueJob(
  client: DbosClient,
  names: QueueNames,
  job: Job,
  { delayMs = 0, priority }: EnqueueJobOptions,
): Promise<void> {
  await client.enqueue(
    {
      queueName: names.queue,
      workflowName: names.workflow,
      workflowID: job.serial === 0 ? job.id : `${job.id}:${job.serial}`,
      queuePartitionKey: sessionKey(job.namespace, job.session),
      attributes: { session: sessionKey(job.namespace, job.session) },
      appVersion: names.version,
      priority,
      // In quarters of a second: DBOS refuses seconds that are not whole milliseconds.
      ...(delayMs > 0 && { delaySeconds: Math.ceil(delayMs / 250) / 4 }),
    },
    job,
  );
}

/** The job of a workflow; undefined if it is not one of ours. */
export function jobOf({ input }: { readonly input?: readonly unknown[] }): Job | undefined {
  const [job] = (input ?? []) as readonly (Job | undefined)[];
  return typeof job?.runId === "string" ? job : undefined;
}

/** The session of a job, unique among all namespaces. */
export function sessionKey(namespace: string, session: string): string {
  return JSON.stringify([namespace, session]);
}

/** The id of the first workflow of a run, unique among all namespaces. Later ones have suffixes, each after a colon. */
export function workflowIdOf(namespace: string, runId: string): string {
  return `${encodeURIComponent(namespace)}/${encodeURIComponent(runId)}`;
}

/** The id of the first workflow of the same run. */
export function firstIdOf(workflowID: string): string {
  return workflowID.split(":", 1)[0] as string;
}
