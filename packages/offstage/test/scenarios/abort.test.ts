// An abort settles at once, starts nothing new, leaves nothing behind, and rejects with the signal's own reason.
import { describe, expect, test } from "vitest";
import { Agent, memoryStore, type RunResult, sqliteStore, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, deaf, glance, patient, pause, quietMemory } from "../support/cast.ts";

const hangs = () => new Promise<never>(() => {});

describe("an abort", () => {
  const moments: readonly [string, () => Agent][] = [
    ["during the model call", () => new Agent({ model: scriptedModel([hangs]) })],
    [
      "during a tool that honours it",
      () => new Agent({ model: scriptedModel([calls({ name: "patient" })]), tools: [patient] }),
    ],
    [
      "during a tool that ignores it",
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
    ["while the instructions are being built", () => new Agent({ model: scriptedModel([]), instructions: hangs })],
    [
      "while an input guardrail is pending",
      () => new Agent({ model: scriptedModel([]), inputGuardrails: [{ name: "slow", check: hangs }] }),
    ],
    [
      "while a tool guardrail is pending",
      () =>
        new Agent({
          model: scriptedModel([calls({ name: "deaf" })]),
          tools: [deaf],
          toolInputGuardrails: [{ name: "slow", check: hangs }],
        }),
    ],
    [
      "while an output guardrail is pending",
      () => new Agent({ model: scriptedModel(["Hi."]), outputGuardrails: [{ name: "slow", check: hangs }] }),
    ],
    [
      "while a criterion is pending",
      () =>
        new Agent({
          model: scriptedModel(["Hi."]),
          stopWhen: (state) => (state.stepCount > 0 ? hangs() : undefined),
        }),
    ],
    [
      "while a tool's input is being validated",
      () =>
        new Agent({
          model: scriptedModel([calls({ name: "checked" })]),
          tools: [tool({ name: "checked", input: slowSchema, execute: () => 1 })],
        }),
    ],
    [
      "while the output is being validated",
      () => new Agent({ model: scriptedModel(["{}"]), output: slowSchema }) as unknown as Agent,
    ],
    [
      "while a processor is pending before the step",
      () => new Agent({ model: scriptedModel([]), processors: [hangs] }),
    ],
    [
      "while a processor is pending after the step",
      () => new Agent({ model: scriptedModel(["Hi."]), processors: [(state, next) => next(state).then(hangs)] }),
    ],
    [
      "during a tool with a processor around the step",
      () =>
        new Agent({
          model: scriptedModel([calls({ name: "deaf" })]),
          tools: [deaf],
          processors: [(state, next) => next(state)],
        }),
    ],
    [
      "while the memory is being read",
      () => new Agent({ model: scriptedModel([]), memory: { ...quietMemory(), getMessages: hangs } }),
    ],
  ];

  for (const [moment, make] of moments) {
    for (const reason of [new Error("enough"), "a word", { code: 7 }, null]) {
      const shown = reason instanceof Error ? "an Error" : JSON.stringify(reason);
      bothWays(
        `${moment} rejects at once with the signal's own reason: ${shown}`,
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

  bothWays("before the run starts prevents any model call", async ({ play, ended }) => {
    const model = scriptedModel(["Never."]);
    const reason = new Error("too late");
    await expect(play(new Agent({ model }), "Go", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect({ calls: model.callCount, ended: ended.length }).toEqual({ calls: 0, ended: 1 });
  });

  bothWays("right after the run starts prevents any model call", async ({ play }) => {
    const model = scriptedModel(["Never."]);
    const controller = new AbortController();
    const running = play(new Agent({ model }), "Go", { signal: controller.signal });
    controller.abort(new Error("changed my mind"));
    await expect(running).rejects.toThrow("changed my mind");
    expect(model.callCount).toBe(0);
  });

  bothWays("right after the run starts prevents any write to the store", async ({ play }) => {
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

  bothWays("during a model call takes the place of its error, and prevents a retry", async ({ play }) => {
    const controller = new AbortController();
    const reason = new Error("gone");
    const busy = () => {
      controller.abort(reason);
      return Object.assign(new Error("busy"), { statusCode: 503 });
    };
    const model = scriptedModel([busy, "Never."]);
    const agent = new Agent({ model, retry: { initialDelayMs: 0 } });
    await expect(play(agent, "Go", { signal: controller.signal })).rejects.toBe(reason);
    expect(model.callCount).toBe(1);
  });

  bothWays("without a reason rejects with an AbortError", async ({ play }) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 5);
    const settled = play(new Agent({ model: scriptedModel([hangs]) }), "Go", { signal: controller.signal });
    await expect(settled).rejects.toMatchObject({ name: "AbortError" });
  });

  bothWays("after the run changes nothing", async ({ play }) => {
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

describe("an aborted run", () => {
  bothWays(
    "keeps its finished steps, and the calls and tokens of the step that was cut off",
    async ({ play, ended }) => {
      const controller = new AbortController();
      const quick = tool({ name: "quick", execute: () => "done" });
      const model = scriptedModel([calls({ name: "quick" }), calls({ name: "patient" })]);
      setTimeout(() => controller.abort(), 10);
      await play(new Agent({ model, tools: [quick, patient] }), "Go", { signal: controller.signal }).catch(() => {});
      const [result] = ended;
      expect(result?.steps).toHaveLength(1);
      expect(result?.usage.totalTokens).toBe(30);
      expect(glance(result?.messages.all() ?? [])).toEqual([
        "user: Go",
        "assistant: [quick]",
        "tool: done",
        "assistant: [patient]",
      ]);
    },
  );

  test("keeps the text streamed so far, marked as interrupted", async () => {
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

  test("inside a tool keeps the text beside the call, unless output guardrails have not seen it", async () => {
    const passes = { name: "passes", check: () => undefined };
    for (const outputGuardrails of [[], [passes]]) {
      const session = memoryStore().session("s");
      const script = [{ text: "Let me look. ", toolCalls: [{ name: "deaf", input: {} }] }];
      const agent = new Agent({ model: scriptedModel(script), tools: [deaf], outputGuardrails });
      let ends = 0;
      const hooks = { onToolStart: () => stream.abort(), onToolEnd: () => void ends++ };
      const stream = agent.stream("Go", { session, hooks });
      const { result } = (await stream.result.catch((error) => error)) as { result: RunResult };
      const kept = outputGuardrails.length === 0 ? "Let me look. " : "";
      expect([result.text, ends]).toEqual([kept, 1]);
      const said = kept === "" ? [] : ["assistant: Let me look. "];
      expect(glance(await session.getItems())).toEqual(["user: Go", ...said]);
    }
  });

  bothWays("leaves a valid conversation: the next message works", async ({ play, ended }) => {
    const controller = new AbortController();
    const model = scriptedModel([calls({ name: "deaf" }), "Hello again."]);
    const agent = new Agent({ model, tools: [deaf] });
    setTimeout(() => controller.abort(), 5);
    await play(agent, "Go", { signal: controller.signal }).catch(() => {});
    const next = await agent.execute((ended[0] as (typeof ended)[0]).state.withUserMessage("And now?"));
    expect(glance(next.messages)).toEqual(["user: Go", "user: And now?", "assistant: Hello again."]);
  });
});

bothWays("an abort closes the async generator of a running tool", async ({ play }) => {
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

test("an abort after the last reply rejects: the run does not end as if nothing had happened", async () => {
  const controller = new AbortController();
  const agent = new Agent({ model: scriptedModel(["A long answer."]) });
  const hooks = { onModelEnd: () => controller.abort(new Error("enough")) };
  await expect(agent.run("Write.", { signal: controller.signal, hooks })).rejects.toThrow("enough");
});
