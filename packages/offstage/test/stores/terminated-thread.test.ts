// A worker thread that is terminated while it holds a session. Its process lives on, so only its thread tells that it is gone.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, expect, test } from "vitest";
import { Agent, openStore, SessionBusyError } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-thread-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function hangingThread(url: string): Promise<Worker> {
  const worker = new Worker(new URL("../processes/agent-thread.ts", import.meta.url), { workerData: { url } });
  await new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  return worker;
}

// Other systems do not tell about threads: there a lease expires after a minute.
test.runIf(process.platform === "linux")(
  "a terminated worker thread that held a session is replaced at once",
  async () => {
    const url = `sqlite:${join(folder, "thread.db")}`;
    const worker = await hangingThread(url);
    await using store = openStore(url);
    const agent = new Agent({ model: scriptedModel(() => "here") });
    const [held] = await store.runs.list();
    expect(held?.status).toBe("running");
    await expect(agent.run("too early", { session: store.session("s"), onBusy: "reject" })).rejects.toThrow(
      SessionBusyError,
    );
    await worker.terminate();
    const begun = performance.now();
    expect((await store.runs.get(held?.runId ?? ""))?.status).toBe("interrupted");
    const { text } = await agent.run("hi", { session: store.session("s") });
    expect(text).toBe("here");
    expect(performance.now() - begun).toBeLessThan(2_000);
    expect((await store.sessions.get("s"))?.lastStatus).toBe("completed");
    expect(await store.verify()).toEqual([]);
  },
);
