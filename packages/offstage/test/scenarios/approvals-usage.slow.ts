// Usage across approval and crash: the tokens a subagent used before its process was killed are counted exactly once.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sqliteStore } from "../../src/index.ts";
import type { CrashPoint } from "../../src/testing/index.ts";
import type { AgentJob, AgentReport } from "../processes/agent-worker.ts";
import { effectsIn, spawnAgents } from "../processes/spawn-agents.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-usage-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// The steward makes two model calls and its subagent three, 15 tokens each.
const [whole, below] = [75, 45];

const points: readonly Omit<CrashPoint, "action">[] = [
  { at: "run.child", when: "after", nth: 1 },
  { at: "step.commit", when: "after", nth: 1 },
  { at: "tool.intent", when: "after", nth: 1 },
  { at: "step.commit", when: "before", nth: 2 },
  { at: "step.commit", when: "after", nth: 2 },
  { at: "run.end", when: "before", nth: 1 },
  { at: "run.end", when: "after", nth: 1 },
];
const cases = points.flatMap((point) => (["runId", "state"] as const).map((source) => ({ ...point, source })));
type Case = (typeof cases)[number];

/** Starts all cases in one process, approves and kills each in its own process, and finishes all in one more. */
async function finishAll(): Promise<ReadonlyMap<Case, { job: AgentJob; asked: AgentReport; finished: AgentReport }>> {
  const jobs = cases.map(({ at, when, nth, source }): AgentJob => {
    const place = join(folder, `${source}-${at}-${when}-${nth}`);
    writeFileSync(`${place}.effects`, "");
    return { path: `${place}.db`, effects: `${place}.effects`, agent: "steward", isStreaming: false };
  });
  const asked = (await spawnAgents(jobs)).reports;
  const resuming = jobs.map((job, n): AgentJob => {
    const { runId = "", state } = asked[n] ?? {};
    return { ...job, resume: cases[n]?.source === "runId" ? { runId } : { state } };
  });
  const waiting = [...resuming.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await kill(...next);
  };
  await Promise.all([work(), work()]);
  const finished = (await spawnAgents(resuming)).reports;
  return new Map(
    cases.map((each, n) => [
      each,
      { job: jobs[n] as AgentJob, asked: asked[n] as AgentReport, finished: finished[n] as AgentReport },
    ]),
  );
}

async function kill(n: number, job: AgentJob): Promise<void> {
  const { source: _, ...point } = cases[n] as Case;
  const killAt = { ...point, action: "kill" } as const;
  const { signal, errors } = await spawnAgents([{ ...job, decisions: { approve: ["cy"] }, killAt }]);
  expect(signal, errors).toBe("SIGKILL");
}

describe("a subagent that was approved and then killed", () => {
  let outcomes: Awaited<ReturnType<typeof finishAll>>;
  beforeAll(async () => {
    outcomes = await finishAll();
  });

  test.for(cases)("$when $at ($nth) has its tokens counted once if resumed by $source", async (each) => {
    const { job, asked, finished } = outcomes.get(each) ?? {};
    expect(asked).toMatchObject({ status: "waiting", approvals: ["cy"], tokens: 30 });
    expect(finished).toMatchObject({ status: "completed", output: "Done.", tokens: whole });
    expect(effectsIn(job?.effects ?? "").cy ?? 0).toBeLessThanOrEqual(1);
    await using store = sqliteStore({ path: job?.path ?? "" });
    const run = await store.runs.get(asked?.runId ?? "");
    expect([run?.usage?.totalTokens, run?.children[0]?.usage?.totalTokens]).toEqual([whole, below]);
    expect(await store.verify()).toEqual([]);
  });
});
