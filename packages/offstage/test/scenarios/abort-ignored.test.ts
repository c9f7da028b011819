// An abort does not wait for code that ignores it: subagents end, then the run, and the session is released.
import { describe, expect, test, vi } from "vitest";
import { Agent, InMemorySession, memoryStore, type Processor, type Store } from "../../src/index.ts";
import { memoryDriver } from "../../src/sessions/drivers/memory/memory.ts";
import type { StoreDriver } from "../../src/sessions/ports/store-driver.ts";
import { createStore } from "../../src/sessions/store.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { payingAgent, payTo } from "../support/approval-cast.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, deaf, glance, pause, quietMemory } from "../support/cast.ts";

const hangs = () => new Promise<never>(() => {});

/** A store that calls `onBegun` when a run's first write has succeeded, before the run learns of it. */
function storeWith(onBegun: () => unknown): Store {
  const driver = memoryDriver();
  const commit: StoreDriver["commit"] = async (given) => {
    const refused = await driver.commit(given);
    if (given.label === "run.begin") onBegun();
    await pause(5);
    return refused;
  };
  return createStore({ ...driver, commit });
}

describe("an aborted run", () => {
  bothWays("releases its session even if the memory never finishes adding the answer", async ({ play, ended }) => {
    const session = new InMemorySession();
    const controller = new AbortController();
    let added = 0;
    // The first call adds the input, the second the answer.
    const memory = { ...quietMemory(), add: () => (++added === 2 ? hangs() : Promise.resolve()) };
    const agent = new Agent({ model: scriptedModel(["Hi."]), memory });
    const settled = play(agent, "Go", { session, signal: controller.signal }).catch(() => "ended");
    await pause(5);
    controller.abort();
    await settled;
    expect({ added, ended: ended.length }).toEqual({ added: 2, ended: 1 });
    const next = new Agent({ model: scriptedModel(["Again."]) });
    expect((await next.run("And now?", { session })).output).toBe("Again.");
  });

  bothWays("keeps a finished step even if a processor is still pending", async ({ play, ended }) => {
    const store = memoryStore();
    const session = store.session("s");
    const controller = new AbortController();
    const thinks: Processor = (state, next) => next(state).then(hangs);
    const agent = new Agent({ model: scriptedModel(["Hello there."]), processors: [thinks] });
    const settled = play(agent, "Go", { session, signal: controller.signal }).catch(() => {});
    await pause(5);
    controller.abort();
    await settled;
    const said = ["user: Go", "assistant: Hello there."];
    expect(ended[0]?.steps).toHaveLength(1);
    expect(glance(agent.messages.all())).toEqual(said);
    expect(glance(await session.getItems())).toEqual(said);
    expect((await session.getItems())[1]?.metadata?.interrupted).toBe(true);
    const [{ runId = "" } = {}] = await session.runs();
    expect((await store.runs.get(runId))?.steps).toHaveLength(1);
    await store.close();
  });

  bothWays("is stored as stopped even if it was aborted during its first write", async ({ play }) => {
    const controller = new AbortController();
    const store = storeWith(() => controller.abort(new Error("enough")));
    const session = store.session("s");
    const agent = new Agent({ model: scriptedModel([]) });
    await expect(play(agent, "Go", { session, signal: controller.signal })).rejects.toThrow("enough");
    await vi.waitFor(async () => {
      expect(await store.runs.list()).toMatchObject([{ status: "stopped", reason: "aborted" }]);
    });
    expect(glance(await session.getItems())).toEqual(["user: Go"]);
    await store.close();
  });

  bothWays("keeps text beside a tool call, marked as interrupted", async ({ play }) => {
    const session = new InMemorySession();
    const controller = new AbortController();
    const model = scriptedModel([{ text: "Let me look.", toolCalls: [{ name: "deaf" }] }]);
    const agent = new Agent({ model, tools: [deaf] });
    const settled = play(agent, "Go", { session, signal: controller.signal }).catch(() => {});
    await pause(5);
    controller.abort();
    await settled;
    expect(glance(await session.getItems())).toEqual(["user: Go", "assistant: Let me look."]);
    expect((await session.getItems()).at(-1)?.metadata?.interrupted).toBe(true);
  });

  bothWays("ends after its subagents, even with a processor around the step", async ({ play }) => {
    const order: string[] = [];
    const told = (name: string) => ({ onRunEnd: () => void order.push(name) });
    const child = new Agent({ name: "child", model: scriptedModel([hangs]), hooks: told("child") });
    const agent = new Agent({
      model: scriptedModel([calls({ name: "child", input: { prompt: "x" } })]),
      tools: [child.asTool()],
      processors: [(state, next) => next(state)],
      hooks: told("parent"),
    });
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 5);
    await play(agent, "Go", { signal: controller.signal }).catch(() => {});
    expect(order).toEqual(["child", "parent"]);
  });
});

describe("resuming a run from a store that hangs", () => {
  const silent = {
    writes: (driver: StoreDriver) => ({ ...driver, commit: hangs }),
    reads: (driver: StoreDriver) => ({ ...driver, get: hangs }),
  };

  test.for(Object.entries(silent))("on %s ends when aborted, with resume() and resumeStream()", async ([, mute]) => {
    const driver = memoryDriver();
    const { agent } = payingAgent([calls(payTo("ann"))]);
    const { runId } = await agent.run("Pay Ann", { session: createStore(driver).session("s") });
    const reason = new Error("enough");
    for (const way of ["resume", "resumeStream"] as const) {
      const controller = new AbortController();
      const options = { store: createStore(mute(driver)), approve: ["ann"], signal: controller.signal };
      const resumed = way === "resume" ? agent.resume(runId, options) : agent.resumeStream(runId, options).result;
      setTimeout(() => controller.abort(reason), 5);
      await expect(resumed).rejects.toBe(reason);
    }
    expect((await createStore(driver).runs.get(runId))?.status).toBe("waiting");
  });

  test("leaves the run stopped if the store answers after the abort", async () => {
    const controller = new AbortController();
    let begun = 0;
    // The first write is the run's, the second the resumption's.
    const store = storeWith(() => ++begun === 2 && controller.abort(new Error("enough")));
    const { agent, paid } = payingAgent([calls(payTo("ann"))]);
    const { runId, usage } = await agent.run("Pay Ann", { session: store.session("s") });
    const resumed = agent.resume(runId, { store, approve: ["ann"], signal: controller.signal });
    await expect(resumed).rejects.toThrow("enough");
    await vi.waitFor(async () => expect((await store.runs.get(runId))?.status).toBe("stopped"));
    expect((await store.runs.get(runId))?.usage).toEqual(usage);
    expect(paid).toEqual([]);
    await store.close();
  });
});
