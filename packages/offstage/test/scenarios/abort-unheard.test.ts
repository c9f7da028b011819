// What does not listen to an abort is left behind: the run ends, its subagents before it, and its session is free.
import { describe, expect, test, vi } from "vitest";
import { Agent, InMemorySession, memoryStore, type Processor, type Store } from "../../src/index.ts";
import { createStore } from "../../src/sessions/store.ts";
import type { StoreDriver } from "../../src/sessions/store-driver.ts";
import { memoryDriver } from "../../src/sessions/stores/memory.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { payingAgent, payTo } from "../support/approval-cast.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, deaf, glance, pause, quietMemory } from "../support/cast.ts";

const hangs = () => new Promise<never>(() => {});

/** A store that is told once a run has begun, before whoever began it. */
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

describe("where something does not listen", () => {
  bothWays("a memory that takes the answer for ever does not hold the session", async ({ play, ended }) => {
    const session = new InMemorySession();
    const controller = new AbortController();
    let added = 0;
    // The first time it is told the input, the second time the answer.
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

  bothWays("a step that was done is kept, though a processor still thought about it", async ({ play, ended }) => {
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

  bothWays("a run that was aborted during its first write ends there too, and nobody resumes it", async ({ play }) => {
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

  bothWays("what was said beside a call is no answer", async ({ play }) => {
    const session = new InMemorySession();
    const controller = new AbortController();
    const model = scriptedModel([{ text: "Let me look.", toolCalls: [{ name: "deaf" }] }]);
    const agent = new Agent({ model, tools: [deaf] });
    const settled = play(agent, "Go", { session, signal: controller.signal }).catch(() => {});
    await pause(5);
    controller.abort();
    await settled;
    expect(glance(await session.getItems())).toEqual(["user: Go"]);
    expect(agent.messages.all()).toHaveLength(2);
  });

  bothWays("a subagent ends before the run that called it, behind a processor too", async ({ play }) => {
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

describe("taking up a run from a store that does not answer", () => {
  const silent = {
    "to a write": (driver: StoreDriver) => ({ ...driver, commit: hangs }),
    "to a read": (driver: StoreDriver) => ({ ...driver, get: hangs }),
  };

  test.for(Object.entries(silent))("%s ends with the abort, by resume and by resumeStream", async ([, mute]) => {
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

  test("that answers late after all leaves it ended", async () => {
    const controller = new AbortController();
    let begun = 0;
    // The first is that of the run, the second that of the resumption.
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
