// Rules for resuming a run that hold for every kind of session.
import { describe, expect, test } from "vitest";
import { ended, start } from "../../testing/store-claims/claim.ts";
import { InMemorySession } from "../in-memory-session.ts";
import { memoryStore, sqliteStore } from "../open-store.ts";
import type { PersistentSession } from "../persistent-session.ts";
import type { RunLog } from "../ports/journal.ts";

type AnySession = InMemorySession | PersistentSession;

const kinds: readonly (readonly [string, () => AnySession])[] = [
  ["in memory", () => new InMemorySession("s")],
  ["on a memory store", () => memoryStore().session("s")],
  ["on SQLite", () => sqliteStore({ path: ":memory:" }).session("s")],
];

function reopen({ journal }: AnySession, runId: string): Promise<RunLog> {
  return journal.reopen(runId, { historyLimit: 50, onBusy: "reject" });
}

const broken = { code: "model-failed", message: "The server is down." };
const failed = ended("", { status: "failed", reason: "model-failed", answer: [], error: broken });

describe.for(kinds)("%s", ([, make]) => {
  test("a subagent's run cannot be resumed by its own id; the error names the outermost run", async () => {
    const session = make();
    const log = await session.journal.open(start("r", "question"));
    const child = await log.child(start("child", "sub"));
    await child.child(start("below", "sub-sub"));
    await log.abandon();
    for (const runId of ["child", "below"])
      await expect(reopen(session, runId)).rejects.toMatchObject({
        code: "run-not-resumable",
        message: `Run "${runId}" cannot be resumed: it belongs to run "r". Resume that run.`,
      });
    await (await reopen(session, "r")).end(ended("answer"));
    expect(await session.getItemCount()).toBe(2);
  });

  test("a run that ended for good or does not exist cannot be resumed, and the session stays free", async () => {
    const session = make();
    const endings = [
      { status: "completed", reason: "answered", why: "it is completed" },
      { status: "stopped", reason: "aborted", why: "it was stopped (aborted)" },
      { status: "stopped", reason: "guardrail", why: "it was stopped (guardrail)" },
    ] as const;
    for (const { status, reason, why } of endings) {
      const log = await session.journal.open(start(reason, "question"));
      await log.end(ended("answer", { status, reason }));
      await expect(reopen(session, reason)).rejects.toMatchObject({
        code: "run-not-resumable",
        message: `Run "${reason}" cannot be resumed: ${why}. Start a new run.`,
      });
    }
    await expect(reopen(session, "nobody")).rejects.toMatchObject({
      code: "run-not-found",
      message: 'Session "s" has no run "nobody".',
    });
  });

  test("a resumed run, and a subagent's run in it, have no trace of their earlier end", async () => {
    const session = make();
    const log = await session.journal.open(start("r", "question"));
    await (await log.child(start("child", "sub"))).end(failed);
    await log.end(failed);
    expect(await session.run("r")).toMatchObject({ status: "failed", error: broken });
    const again = await reopen(session, "r");
    await again.child(start("child", "sub"));
    for (const runId of ["r", "child"]) {
      const run = await session.run(runId);
      expect(run?.status).toBe("running");
      for (const name of ["reason", "endedAt", "error"]) expect(run).not.toHaveProperty(name);
    }
    await again.end(ended("answer"));
    const run = await session.run("r");
    expect(run).toMatchObject({ status: "completed", reason: "finished" });
    expect(run).not.toHaveProperty("error");
  });
});
