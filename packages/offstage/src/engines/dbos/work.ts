// Works on a job: runs or resumes its run, and decides what follows if that fails.

import { setTimeout as sleep } from "node:timers/promises";
import type { ResumeOptions, RunInput, RunOptions } from "../../agent/ports/agent-options.ts";
import type { RunResult } from "../../agent/ports/run-result.ts";
import { warn } from "../../base/warn.ts";
import { isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import { type Journaled, replacingTurn } from "../../sessions/journal/plain-journal.ts";
import type { SessionPort } from "../../sessions/ports/session.ts";
import type { FoundRun } from "../../sessions/records/run-reader.ts";
import type { Store } from "../../sessions/store.ts";
import { noUsage } from "../../tokens/usage.ts";
import type { Job } from "./job.ts";

/** An agent, as far as an engine needs it. */
export interface EngineAgent {
  readonly name: string;
  run(input: RunInput, options: RunOptions): Promise<RunResult<unknown>>;
  resume(runId: string, options: ResumeOptions): Promise<RunResult<unknown>>;
}

export interface WorkLimits {
  /** How many times a run that failed for a passing reason is resumed. */
  readonly maxRetries: number;
  readonly retryDelayMs: number;
}

export interface WorkParts {
  readonly store: Store;
  readonly agents: ReadonlyMap<string, EngineAgent>;
  readonly limits: WorkLimits;
}

/** The outcome of a job. */
export interface Worked {
  readonly status: string;
  readonly result?: RunResult<unknown> | undefined;
}

/**
 * Runs or resumes the run of a job, and tries again if it fails for a reason that may pass. The job stays where it is meanwhile: the
 * next run of the session must not overtake it. Never rejects because the run failed.
 */
export async function work(job: Job, parts: WorkParts): Promise<Worked> {
  const { maxRetries, retryDelayMs } = parts.limits;
  const store = parts.store.namespace(job.namespace);
  if (job.isToBlame) return endAsFailed(store, job, lostSentence(job));
  for (let tries = 0; ; tries++) {
    try {
      const agent = agentOf(job, parts);
      const result = await runOrResume(store, agent, job);
      return { status: result?.outcome.status ?? (await statusOf(store, job)), result };
    } catch (error) {
      const mayPass = passingCodes.some((code) => isOffstageError(error, code));
      if (!mayPass || tries === maxRetries) return endFailed(store, job, error);
      await sleep(Math.min(retryDelayMs * 2 ** tries, longestDelayMs));
    }
  }
}

const longestDelayMs = 60_000;

// The reasons that may be gone the next time.
const passingCodes = ["model-failed", "store-connection", "store-locked", "session-busy", "session-conflict"] as const;

async function runOrResume(store: Store, agent: EngineAgent, job: Job): Promise<RunResult<unknown> | undefined> {
  const { runId, context, maxSteps } = job;
  const options = { ...(context && { context }), ...(maxSteps !== undefined && { maxSteps }) };
  const found = await store.runs.get(runId);
  if (found === undefined) {
    try {
      return await agent.run(job.input, { ...options, runId, session: sessionOf(store, job) });
    } catch (error) {
      // A worker that was thought to be lost has begun it.
      if (!isOffstageError(error, "run-exists")) throw error;
    }
  }
  return resume(agent, job, { found, options: { ...options, store } });
}

function sessionOf(store: Store, { session, replaces }: Job): SessionPort & Journaled {
  const found = store.session(session);
  return replaces === undefined ? found : replacingTurn(found, replaces);
}

interface Resuming {
  readonly found: FoundRun | undefined;
  readonly options: ResumeOptions;
}

async function resume(
  agent: EngineAgent,
  job: Job,
  { found, options }: Resuming,
): Promise<RunResult<unknown> | undefined> {
  const { runId, decisions } = job;
  if (found?.status === "completed" || found?.status === "stopped") return undefined;
  if (found?.status === "waiting" && decisions === undefined) return undefined;
  try {
    return await agent.resume(runId, { ...options, ...decisions });
  } catch (error) {
    if (!isOffstageError(error, "run-not-resumable") && !isOffstageError(error, "invalid-argument")) throw error;
    if (found?.status === "waiting") warn(`The decisions about run "${runId}" were refused: ${messageOf(error)}`);
    // It ended while this worker waited for its session; or the decisions were used before a worker died.
    if (decisions === undefined || found?.status === "waiting") return undefined;
    return await agent.resume(runId, options);
  }
}

async function statusOf(store: Store, { runId }: Job): Promise<string> {
  return (await store.runs.get(runId))?.status ?? "failed";
}

// A run that began has recorded why it failed.
async function endFailed(store: Store, job: Job, error: unknown): Promise<Worked> {
  const found = await store.runs.get(job.runId);
  return found?.status === "failed" ? { status: "failed" } : endAsFailed(store, job, messageOf(error));
}

// Without the agent: a run that kills its workers must not get another chance to.
async function endAsFailed(store: Store, job: Job, message: string): Promise<Worked> {
  const { runId, agent, input } = job;
  const { journal } = sessionOf(store, job);
  try {
    const start = {
      runId,
      agent,
      input,
      startedAt: new Date().toISOString(),
      historyLimit: 0,
      onBusy: "queue",
    } as const;
    const log = await journal.open(start).catch((error) => {
      // The turn to replace is no longer the newest: the conversation stays as it is.
      if (job.replaces === undefined || !isOffstageError(error, "session-conflict")) throw error;
      return journal.open({ ...start, input: [] });
    });
    const { usage = noUsage } = log.recorded ?? {};
    const error = { code: "run-failed", message };
    await log.end({
      status: "failed",
      reason: job.lost > 0 ? "worker-lost" : "engine",
      usage,
      error,
      endedAt: new Date().toISOString(),
      answer: [],
    });
  } catch (error) {
    if (!isOffstageError(error, "run-not-resumable")) throw error;
  }
  return { status: "failed" };
}

function lostSentence({ lost, runId }: Job): string {
  return `${lost} workers died while they worked on run "${runId}", so it is not tried again. Look at its last tool call, and resume it with agent.resume("${runId}", { store }) once the cause is mended.`;
}

function agentOf({ agent }: Job, { agents }: WorkParts): EngineAgent {
  const found = agents.get(agent);
  if (found !== undefined) return found;
  const known = [...agents.keys()].map((name) => `"${name}"`).join(", ");
  throw new OffstageError("invalid-argument", `This worker has no agent "${agent}". It has: ${known}.`);
}
