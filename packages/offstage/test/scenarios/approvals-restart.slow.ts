// Approvals across restarts: one process waits, another decides, a third finds the run done.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { sqliteStore } from "../../src/index.ts";
import type { AgentJob, AgentReport } from "../processes/agent-worker.ts";
import { effectsIn, spawnAgents } from "../processes/spawn-agents.ts";
import { glance } from "../support/cast.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-approvals-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function inNewProcess(job: AgentJob): Promise<AgentReport> {
  const { reports, errors } = await spawnAgents([job]);
  expect(reports, errors).toHaveLength(1);
  return reports[0] ?? {};
}

describe("calls waiting for approval", () => {
  const sources = ["runId", "state"] as const;
  test.for(sources.flatMap((source) => [false, true].map((isStreaming) => ({ source, isStreaming }))))(
    "are decided in new processes by $source (streaming: $isStreaming), and each runs once or never",
    async ({ source, isStreaming }) => {
      const place = join(folder, `${source}-${isStreaming}`);
      const job: AgentJob = { path: `${place}.db`, effects: `${place}.effects`, agent: "payer", isStreaming };
      writeFileSync(job.effects, "");
      const asked = await inNewProcess(job);
      expect(asked).toMatchObject({ status: "waiting", approvals: ["ann", "bob", "cy"] });
      const resumeOf = ({ runId = "", state }: AgentReport) => (source === "runId" ? { runId } : { state });

      const reject = [{ toolCallId: "bob", reason: "Too much." }];
      const partly = await inNewProcess({ ...job, resume: resumeOf(asked), decisions: { approve: ["ann"], reject } });
      expect(partly).toMatchObject({ status: "waiting", approvals: ["cy"] });
      expect(effectsIn(job.effects)).toEqual({ ann: 1 });

      const whole = await inNewProcess({ ...job, resume: resumeOf(partly), decisions: { approve: ["cy"] } });
      expect(whole).toMatchObject({ status: "completed", output: "Done.", runId: asked.runId });
      expect(whole.results).toMatchObject({ ann: "paid ann", bob: expect.stringContaining("Too much.") });
      expect(whole.results?.inner).toBe("[Subagent: inner] Paid.");

      const again = { ...job, resume: resumeOf(partly), decisions: { approve: ["cy"] } };
      expect(await inNewProcess(again)).toEqual({ failure: "run-not-resumable" });
      expect(effectsIn(job.effects)).toEqual({ ann: 1, cy: 1 });

      await using store = sqliteStore({ path: job.path });
      expect(glance(await store.session("s").getItems())).toEqual(["user: Go", "assistant: Done."]);
      expect(await store.verify()).toEqual([]);
    },
  );

  test.each([
    ["tool.intent", "after", 1],
    ["run.child", "before", 1],
    ["tool.intent", "after", 2],
    ["run.end", "before", 1],
    ["run.end", "after", 1],
    ["run.end", "before", 2],
  ] as const)("keep waiting if their process was killed at %s (%s write %i)", async (at, when, nth) => {
    const place = join(folder, `killed-${at}-${when}-${nth}`);
    const job: AgentJob = { path: `${place}.db`, effects: `${place}.effects`, agent: "payer", isStreaming: false };
    writeFileSync(job.effects, "");
    const killed = await spawnAgents([{ ...job, killAt: { at, when, nth, action: "kill" } }]);
    expect(killed.signal, killed.errors).toBe("SIGKILL");
    await using store = sqliteStore({ path: job.path });
    const [{ runId = "" } = {}] = await store.runs.list();
    const asked = await inNewProcess({ ...job, resume: { runId } });
    expect(asked).toMatchObject({ status: "waiting", approvals: ["ann", "bob", "cy"] });
    const decisions = { approve: ["ann", "cy"], reject: ["bob"] };
    expect(await inNewProcess({ ...job, resume: { runId }, decisions })).toMatchObject({ output: "Done." });
    expect(effectsIn(job.effects)).toEqual({ ann: 1, cy: 1 });
    expect(await store.verify()).toEqual([]);
  });
});
