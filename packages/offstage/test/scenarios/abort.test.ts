// Abort settles at once, starts nothing more, leaves nothing behind, and rejects with the signal's own reason.
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { Agent, type RunOptions, sqliteStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, deaf, glance, patient, pause, quietMemory } from "../support/cast.ts";

const hangs = () => new Promise<never>(() => {});

describe("at every moment", () => {
  const moments: readonly [string, () => Agent][] = [
    ["during the model call", () => new Agent({ model: scriptedModel([hangs]) })],
    [
      "during a tool that listens",
      () => new Agent({ model: scriptedModel([calls({ name: "patient" })]), tools: [patient] }),
    ],
    [
      "during a tool that does not",
      () => new Agent({ model: scriptedModel([calls({ name: "deaf" })]), tools: [deaf] }),
    ],
    [
      "during several tools",
      () =>
        new Agent({
          model: scriptedModel([calls({ name: "deaf" }, { name: "patient" }, { name: "deaf" })]),
          tools: [deaf, patient],
        }),
    ],
    [
      "during the back-off of a retry",
      () =>
        new Agent({
          model: scriptedModel([Object.assign(new Error("busy"), { statusCode: 503 })]),
          retry: { initialDelayMs: 60_000, maxDelayMs: 60_000 },
        }),
    ],
    [
      "inside a subagent",
      () => {
        const child = new Agent({ name: "child", model: scriptedModel([hangs]) });
        return new Agent({
          model: scriptedModel([calls({ name: "child", input: { prompt: "x" } })]),
          tools: [child.asTool()],
        });
      },
    ],
    ["while instructions are made", () => new Agent({ model: scriptedModel([]), instructions: hangs })],
    [
      "while a guardrail thinks",
      () => new Agent({ model: scriptedModel([]), inputGuardrails: [{ name: "slow", check: hangs }] }),
    ],
    [
      "while a tool guardrail thinks",
      () =>
        new Agent({
          model: scriptedModel([calls({ name: "deaf" })]),
          tools: [deaf],
          toolInputGuardrails: [{ name: "slow", check: hangs }],
        }),
    ],
    [
      "while an output guardrail thinks",
      () => new Agent({ model: scriptedModel(["Hi."]), outputGuardrails: [{ name: "slow", check: hangs }] }),
    ],
    [
      "while a criterion thinks",
      () =>
        new Agent({
          model: scriptedModel(["Hi."]),
          stopWhen: (state) => (state.stepCount > 0 ? hangs() : undefined),
        }),
    ],
    [
      "while a schema checks",
      () =>
        new Agent({
          model: scriptedModel([calls({ name: "checked" })]),
          tools: [tool({ name: "checked", input: slowSchema, execute: () => 1 })],
        }),
    ],
    [
      "while the schema of the output checks",
      () => new Agent({ model: scriptedModel(["{}"]), output: slowSchema }) as unknown as Agent,
    ],
    ["while a processor thinks before the step", () => new Agent({ model: scriptedModel([]), processors: [hangs] })],
    [
      "while a processor thinks after the step",
      () => new Agent({ model: scriptedModel(["Hi."]), processors: [(state, next) => next(state).then(hangs)] }),
    ],
    [
      "during a tool, behind a processor",
      () =>
        new Agent({
          model: scriptedModel([calls({ name: "deaf" })]),
          tools: [deaf],
          processors: [(state, next) => next(state)],
        }),
    ],
    [
      "while a memory is asked",
      () => new Agent({ model: scriptedModel([]), memory: { ...quietMemory(), getMessages: hangs } }),
    ],
  ];

  for (const [moment, make] of moments) {
    for (const reason of [new Error("enough"), "a word", { code: 7 }, null]) {
      const shown = reason instanceof Error ? "an Error" : JSON.stringify(reason);
      bothWays(
        `${moment}, it rejects with the signal's own reason: ${shown}`,
        async ({ play, ended }) => {
          const controller = new AbortController();
          const settled = play(make(), "Go", { signal: controller.signal }).then(
            () => "resolved",
            (error: unknown) => ({ error }),
          );
          await pause(5);
          const at = performance.now();
          controller.abort(reason);
          expect(await settled).toEqual({ error: reason });
          expect(performance.now() - at).toBeLessThan(250);
          expect(ended.at(-1)?.outcome).toMatchObject({ status: "stopped", reason: "aborted" });
        },
        2000,
      );
    }
  }

  bothWays("before the run, nothing is called", async ({ play, ended }) => {
    const model = scriptedModel(["Never."]);
    const reason = new Error("too late");
    await expect(play(new Agent({ model }), "Go", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect({ calls: model.callCount, ended: ended.length }).toEqual({ calls: 0, ended: 1 });
  });

  bothWays("a run that is aborted as soon as it is there calls no model", async ({ play }) => {
    const model = scriptedModel(["Never."]);
    const controller = new AbortController();
    const running = play(new Agent({ model }), "Go", { signal: controller.signal });
    controller.abort(new Error("changed my mind"));
    await expect(running).rejects.toThrow("changed my mind");
    expect(model.callCount).toBe(0);
  });

  bothWays("nor is anything written, on a store", async ({ play }) => {
    await using store = sqliteStore({ path: ":memory:" });
    const session = store.session("s");
    const agent = new Agent({ model: scriptedModel(["One."]) });
    await play(agent, "First", { session });
    const controller = new AbortController();
    const running = play(agent, "Second", { session, signal: controller.signal });
    controller.abort(new Error("changed my mind"));
    await expect(running).rejects.toThrow("changed my mind");
    expect(glance(await session.getItems())).toEqual(["user: First", "assistant: One."]);
    expect(await session.runs()).toHaveLength(1);
  });

  bothWays("without a reason, it rejects with an AbortError", async ({ play }) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 5);
    const settled = play(new Agent({ model: scriptedModel([hangs]) }), "Go", { signal: controller.signal });
    await expect(settled).rejects.toMatchObject({ name: "AbortError" });
  });

  bothWays("after the run, it changes nothing", async ({ play }) => {
    const controller = new AbortController();
    const result = await play(new Agent({ model: scriptedModel(["Hi."]) }), "Go", { signal: controller.signal });
    controller.abort();
    expect(result.output).toBe("Hi.");
  });
});

const slowSchema = {
  "~standard": {
    version: 1 as const,
    vendor: "slow",
    validate: hangs,
    jsonSchema: { input: () => ({ type: "object" }), output: () => ({ type: "object" }) },
  },
};

describe("what is kept", () => {
  bothWays("finished steps and their tokens, and the tokens of the step that was cut", async ({ play, ended }) => {
    const controller = new AbortController();
    const quick = tool({ name: "quick", execute: () => "done" });
    const model = scriptedModel([calls({ name: "quick" }), calls({ name: "patient" })]);
    setTimeout(() => controller.abort(), 10);
    await play(new Agent({ model, tools: [quick, patient] }), "Go", { signal: controller.signal }).catch(() => {});
    const [result] = ended;
    expect(result?.steps).toHaveLength(1);
    expect(result?.usage.totalTokens).toBe(30);
    expect(glance(result?.messages.all() ?? [])).toEqual(["user: Go", "assistant: [quick]", "tool: done"]);
  });

  test("the text streamed so far, marked as interrupted", async () => {
    const agent = new Agent({ model: scriptedModel(["One two three four."]) });
    for await (const event of agent.stream("Count")) if (event.type === "text-delta" && event.delta === "two ") break;
    await pause(1);
    const last = agent.getMessages().at(-1);
    expect(last).toMatchObject({
      role: "assistant",
      content: expect.stringMatching(/^One two /),
      metadata: { interrupted: true },
    });
  });

  bothWays("a valid conversation: the next message works", async ({ play, ended }) => {
    const controller = new AbortController();
    const model = scriptedModel([calls({ name: "deaf" }), "Hello again."]);
    const agent = new Agent({ model, tools: [deaf] });
    setTimeout(() => controller.abort(), 5);
    await play(agent, "Go", { signal: controller.signal }).catch(() => {});
    const next = await agent.execute((ended[0] as (typeof ended)[0]).state.withUserMessage("And now?"));
    expect(glance(next.messages)).toEqual(["user: Go", "user: And now?", "assistant: Hello again."]);
  });
});

bothWays("a tool that gives its items over time is told to stop giving", async ({ play }) => {
  let given = 0;
  let isOver = false;
  const ticking = tool({
    name: "ticking",
    async *execute() {
      try {
        for (;;) {
          await pause(1);
          yield given++;
        }
      } finally {
        isOver = true;
      }
    },
  });
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 15);
  const agent = new Agent({ model: scriptedModel([calls({ name: "ticking" })]), tools: [ticking] });
  await play(agent, "Go", { signal: controller.signal }).catch(() => {});
  const before = given;
  await pause(10);
  expect({ isOver, more: given - before <= 1 }).toEqual({ isOver: true, more: true });
});

describe("one thousand aborts at random moments", () => {
  const active = () => process.getActiveResourcesInfo().filter((kind) => kind !== "Immediate").length;

  for (const [kind, isDeaf] of [
    ["with tools that honour it", false],
    ["with tools that ignore it", true],
  ] as const) {
    bothWays(
      `${kind}: each settles within 250 ms, nothing starts after, nothing leaks`,
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

// One run with a slow model, slow tools, a retry and a subagent, aborted somewhere in its first 25 ms.
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
