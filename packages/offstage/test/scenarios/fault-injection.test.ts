// Fault injection: after an abort or a store failure at any await of a run, the next message works and the run can be finished.
import { describe, expect } from "vitest";
import { createStore, type StoreDriver } from "../../src/doors/store-driver.ts";
import { Agent, memoryStore, type Store, sqliteStore } from "../../src/index.ts";
import { storeSource } from "../../src/sessions/store.ts";
import { type CrashPoint, crashingStore, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { echo, echoing, glance } from "../support/cast.ts";
import { expectRecovered, isCausedBy, workingAgent } from "../support/fault-recovery.ts";

const crash = new Error("the store broke");
const stores = { "a memory store": () => memoryStore(), SQLite: () => sqliteStore({ path: ":memory:" }) };

describe("a write that throws", () => {
  const labels = ["run.begin", "tool.intent", "tool.result", "step.commit", "run.end", "run.child"] as const;
  for (const at of labels) {
    for (const when of ["before", "after"] as const) {
      // The subagent's only call is written together with its step.
      for (const nth of at === "tool.result" ? [1, 2, 3] : at === "run.end" ? [1, 2] : [1]) {
        const point: CrashPoint = { at, when, nth, action: crash };
        bothWays(`${when} ${at} (${nth}) leaves a session that still works`, async ({ play }) => {
          for (const open of Object.values(stores)) {
            await using store = crashingStore(open(), point);
            const session = store.session("s");
            const working = workingAgent();
            const error = await play(working.agent, "Go", { session }).then(
              () => undefined,
              (reason: unknown) => reason,
            );
            if (error !== undefined) expect(isCausedBy(error, crash), String(error)).toBe(true);
            await expectRecovered(store, session, working);
          }
        });
      }
    }
  }
});

/** A store whose nth operation throws. `disarm()` turns that off and returns whether the operation was reached. */
async function failingAt(store: Store, nth: number): Promise<{ store: Store; disarm: () => boolean }> {
  const driver = await store[storeSource].load();
  let count = 0;
  const guarded = <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) => {
    return async (...args: Args): Promise<T> => {
      if (++count === nth) throw crash;
      return work(...args);
    };
  };
  const failing: StoreDriver = {
    ...driver,
    name: driver.name,
    open: () => driver.open(),
    prepare: (version) => driver.prepare(version),
    close: () => driver.close(),
    get: guarded((places) => driver.get(places)),
    read: guarded((range) => driver.read(range)),
    commit: guarded((commit) => driver.commit(commit)),
  };
  const disarm = () => {
    const isReached = count >= nth;
    count = nth;
    return isReached;
  };
  return { store: createStore(failing), disarm };
}

describe("a store that fails", () => {
  for (const [kind, open] of Object.entries(stores)) {
    bothWays(`at any single operation of a run leaves a session that still works, on ${kind}`, async ({ play }) => {
      for (let nth = 1, isReached = true; isReached; nth++) {
        const failing = await failingAt(open(), nth);
        await using store = failing.store;
        await store.ready().catch(() => undefined);
        const session = store.session("s");
        const working = workingAgent();
        await play(working.agent, "Go", { session }).catch((error: unknown) => {
          expect(isCausedBy(error, crash), `operation ${nth}: ${String(error)}`).toBe(true);
        });
        isReached = failing.disarm();
        await expectRecovered(store, session, working);
      }
    });
  }
});

describe("an abort", () => {
  for (const [kind, open] of Object.entries(stores)) {
    bothWays(`at any event of a run leaves a session that still works, on ${kind}`, async ({ play }) => {
      for (let nth = 1, isReached = true; isReached; nth++) {
        await using store = open();
        const session = store.session("s");
        const working = workingAgent();
        const aborting = new AbortController();
        let count = 0;
        const tick = () => void (++count === nth && aborting.abort(crash));
        const hooks = {
          onRunStart: tick,
          onStepStart: tick,
          onModelStart: tick,
          onModelEnd: tick,
          onToolStart: tick,
          onToolEnd: tick,
          onStepEnd: tick,
          onMessageAdded: tick,
        };
        await play(working.agent, "Go", { session, hooks, signal: aborting.signal }).catch((error: unknown) => {
          expect(error).toBe(crash);
        });
        isReached = count >= nth;
        await expectRecovered(store, session, working);
      }
    });
  }
});

bothWays("a guardrail that fails after the last tool result does not lose that result", async ({ play }) => {
  for (const open of Object.values(stores)) {
    await using store = open();
    const fails = { name: "fails", check: () => Promise.reject(crash) };
    const agent = new Agent({
      model: scriptedModel([{ text: "I look.", toolCalls: [echoing("a")] }, "Done."]),
      tools: [echo],
      maxSteps: 1,
      outputGuardrails: [fails],
    });
    const session = store.session("s");
    await expect(play(agent, "Go", { session })).rejects.toThrow();
    const [run] = await session.runs();
    const { steps = [], openStep } = (await store.runs.get(run?.runId ?? "")) ?? {};
    const kept = [...steps.flatMap(({ messages }) => messages), ...(openStep?.results ?? [])];
    expect(glance(kept)).toContain("tool: echo a");
  }
});
