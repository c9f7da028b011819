// A subagent that finished before its parent was cut off: its answer is reused, and nothing is done again.
import { describe, expect, test } from "vitest";
import { Agent, InMemorySession, type Store, tool } from "../../src/index.ts";
import { memoryDriver } from "../../src/sessions/drivers/memory/memory.ts";
import type { StoreDriver, WriteLabel } from "../../src/sessions/ports/store-driver.ts";
import { createStore } from "../../src/sessions/store.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { ended, start, step } from "../../src/testing/store-claims/claim.ts";
import { calls } from "../support/cast.ts";

function payingParent() {
  const paid: string[] = [];
  const pay = tool({ name: "pay", execute: () => paid.push("pay") });
  const cashier = new Agent({ name: "cashier", model: scriptedModel([calls({ name: "pay" }), "Paid."]), tools: [pay] });
  const ask = calls({ name: "cashier", input: { prompt: "Pay it" } });
  const parent = new Agent({ name: "parent", model: scriptedModel([ask, "Done."]), tools: [cashier.asTool()] });
  return { parent, paid };
}

/** A store whose process dies before its nth write with this label, and leaves the session free for others. */
function dyingAt(driver: StoreDriver, label: WriteLabel, nth: number): Store {
  let count = 0;
  const commit: StoreDriver["commit"] = async (given) => {
    if (given.label === label) count++;
    if (count >= nth && given.label !== "run.abandon") throw new Error("the process died");
    return driver.commit(given);
  };
  return createStore({ ...driver, commit, close: async () => {} });
}

describe("a subagent that finished before its parent was cut off", () => {
  test("does not run again, even after a second crash", async () => {
    const driver = memoryDriver();
    const { parent, paid } = payingParent();
    // The first result is the subagent's own, the second the parent's.
    const first = dyingAt(driver, "tool.result", 2);
    await expect(parent.run("Go", { session: first.session("s") })).rejects.toThrow("the process died");
    await using store = createStore(driver);
    const [{ runId } = { runId: "" }] = await store.runs.list({ status: "interrupted" });
    await expect(parent.resume(runId, { store: dyingAt(driver, "run.end", 1) })).rejects.toThrow("the process died");
    expect((await store.runs.get(runId))?.children.map(({ status }) => status)).toEqual(["completed"]);
    expect((await parent.resume(runId, { store })).output).toBe("Done.");
    expect(paid).toEqual(["pay"]);
    expect(await store.verify()).toEqual([]);
  });

  test("stays completed on an in-memory session", async () => {
    const session = new InMemorySession("s");
    const { journal } = session;
    const log = await journal.open(start("r", "question"));
    const child = await log.child(start("child", "sub"));
    await child.end(ended("", { lastStep: step(1, []) }));
    await log.abandon();
    const before = await session.run("child");
    const again = await journal.reopen("r", { historyLimit: 50, onBusy: "queue" });
    const childAgain = await again.child(start("child", "sub"));
    expect(await session.run("child")).toEqual(before);
    await childAgain.end(ended("", { status: "failed", reason: "error" }));
    expect(await session.run("child")).toEqual(before);
  });
});
