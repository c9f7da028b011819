// Many aborts at random moments: none is slow, leaks, or lets anything start afterwards.
import { getEventListeners } from "node:events";
import { describe, expect } from "vitest";
import { Agent, type RunOptions, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, pause } from "../support/cast.ts";

describe("a thousand aborts at random moments", () => {
  const active = () => process.getActiveResourcesInfo().filter((kind) => kind !== "Immediate").length;

  for (const [kind, isDeaf] of [
    ["with tools that honour the abort", false],
    ["with tools that ignore the abort", true],
  ] as const) {
    bothWays(
      `${kind}: each settles within 250 ms, nothing starts afterwards, nothing leaks`,
      async ({ way }) => {
        const before = active();
        const worst = { ms: 0, startedAfter: 0, listeners: 0, wrong: 0, resolved: 0 };
        for (let batch = 0; batch < 20; batch++) {
          await Promise.all(
            Array.from({ length: 25 }, (_, index) => abortOnce(way, isDeaf, batch * 25 + index, worst)),
          );
        }
        expect(worst).toMatchObject({ startedAfter: 0, listeners: 0, wrong: 0 });
        expect(worst.ms).toBeLessThan(250);
        expect(worst.resolved).toBeLessThan(250);
        await pause(20);
        expect(active()).toBeLessThanOrEqual(before);
      },
      30_000,
    );
  }
});

interface Worst {
  ms: number;
  startedAfter: number;
  listeners: number;
  wrong: number;
  resolved: number;
}

// Aborts one run with a slow model, slow tools, a retry and a subagent, somewhere in its first 25 ms.
async function abortOnce(way: "run" | "stream", isDeaf: boolean, seed: number, worst: Worst): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const begin = () => {
    if (signal.aborted) worst.startedAfter++;
  };
  const wait = tool({
    name: "wait",
    timeoutMs: 5000,
    execute: async (_, options) => {
      begin();
      await pause(3, isDeaf ? undefined : options.signal);
    },
  });
  const childModel = scriptedModel(async () => {
    begin();
    await pause(2);
    return calls({ name: "wait" });
  });
  const child = new Agent({ name: "child", model: childModel, tools: [wait] });
  const model = scriptedModel(async ({ index }) => {
    begin();
    await pause(1);
    if (index % 4 === 1) return Object.assign(new Error("busy"), { statusCode: 429 });
    return index % 4 === 2
      ? calls({ name: "child", input: { prompt: "x" } })
      : calls({ name: "wait" }, { name: "wait" });
  });
  const agent = new Agent({
    model,
    tools: [wait, child.asTool()],
    retry: { initialDelayMs: 4, maxRetries: 50 },
    maxParallelTools: 1,
  });
  const at = (seed * 7919) % 26;
  let abortedAt = 0;
  const reason = { seed };
  const settled = start(agent, way, { signal, tracing: false }).then(
    () => worst.resolved++,
    (error: unknown) => {
      if (error !== reason) worst.wrong++;
    },
  );
  if (at > 0) await pause(at);
  abortedAt = performance.now();
  controller.abort(reason);
  await settled;
  worst.ms = Math.max(worst.ms, performance.now() - abortedAt);
  worst.listeners = Math.max(worst.listeners, getEventListeners(signal, "abort").length);
}

async function start(agent: Agent, way: "run" | "stream", options: RunOptions): Promise<unknown> {
  if (way === "run") return agent.run("Go", options);
  const stream = agent.stream("Go", options);
  for await (const event of stream) if (event.type === "run-end") break;
  return stream.result;
}
