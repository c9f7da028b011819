// A subagent that needs approval to start, and again for a call of its own, in processes that are killed.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { sqliteStore } from "../../src/index.ts";
import { effectsIn, spawnAgents } from "../processes/spawn-agents.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-bound-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("a subagent that needs approval to start, and again for a call of its own", () => {
  test.each([
    ["run.child", "after"],
    ["tool.result", "after"],
    ["step.commit", "before"],
    ["step.commit", "after"],
    ["run.end", "before"],
    ["run.end", "after"],
  ] as const)("does nothing twice if its process is killed at %s (%s the write)", async (at, when) => {
    const place = join(folder, `${at}-${when}`);
    writeFileSync(`${place}.effects`, "");
    const job = { path: `${place}.db`, effects: `${place}.effects`, agent: "guard", isStreaming: false } as const;
    const [{ runId = "" } = {}] = (await spawnAgents([job])).reports;
    const approved = { ...job, resume: { runId }, decisions: { approve: ["worker"] } };
    const killed = await spawnAgents([{ ...approved, killAt: { at, when, action: "kill" } }]);
    expect(killed.signal, killed.errors).toBe("SIGKILL");
    const [finished] = (await spawnAgents([{ ...job, resume: { runId } }])).reports;
    expect(finished).toMatchObject({ status: "completed", output: "Done." });
    expect(effectsIn(job.effects)).toEqual({ charge: 1, put: 1, look: 1 });
    await using store = sqliteStore({ path: job.path });
    expect((await store.runs.get(runId))?.children).toMatchObject([{ status: "completed" }]);
  });
});
