// N parallel calls give N results in call order, whatever throws or hangs.
import { describe, expect } from "vitest";
import { z } from "zod";
import { Agent, type Tool, tool } from "../../src/index.ts";
import { type ScriptedToolCall, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { broken, calls, deaf, echo, echoing, glance, patient, pause } from "../support/cast.ts";

const slow: Tool = tool({
  name: "slow",
  input: z.object({ ms: z.number() }),
  execute: async ({ ms }, { signal }) => {
    await pause(ms, signal);
    return `slept ${ms}`;
  },
});

const hanging: Tool = tool({ name: "hanging", timeoutMs: 30, execute: deaf.execute });

const thirteen: readonly ScriptedToolCall[] = [
  { name: "slow", input: { ms: 20 } },
  echoing("1"),
  { name: "broken" },
  { name: "slow", input: { ms: 5 } },
  { name: "hanging" },
  echoing("5"),
  { name: "echo", input: { text: 6 } },
  echoing("7"),
  { name: "nobody", input: {} },
  { name: "slow", input: { ms: 1 } },
  echoing("10"),
  echoing("11"),
  { name: "slow", input: { ms: 10 } },
];

describe("thirteen calls, four of which fail differently", () => {
  bothWays("give thirteen results in call order", async ({ play }) => {
    const model = scriptedModel([calls(...thirteen), "Most of it worked."]);
    const agent = new Agent({ model, tools: [slow, echo, broken, hanging] });
    const { steps, output } = await play(agent, "Go");
    expect(output).toBe("Most of it worked.");
    const [step] = steps;
    expect(step?.toolResults.map(({ toolCallId }) => toolCallId)).toEqual(
      step?.toolCalls.map(({ toolCallId }) => toolCallId),
    );
    expect(step?.toolResults.map(({ content }) => content)).toEqual([
      "slept 20",
      "echo 1",
      'The tool "broken" failed: the pipe burst',
      "slept 5",
      'The tool "hanging" took longer than 30 ms. It was told to stop; its effect is unknown.',
      "echo 5",
      expect.stringContaining("text: "),
      "echo 7",
      expect.stringContaining('There is no tool "nobody". Available tools: "slow", "echo", "broken", "hanging".'),
      "slept 1",
      "echo 10",
      "echo 11",
      "slept 10",
    ]);
  });

  bothWays("mark the four failures as errors, for the model too", async ({ play }) => {
    const model = scriptedModel([calls(...thirteen), "Ok."]);
    const { steps, messages } = await play(new Agent({ model, tools: [slow, echo, broken, hanging] }), "Go");
    const failed = steps[0]?.toolResults.flatMap((result, index) => (result.isError ? [index] : []));
    expect(failed).toEqual([2, 4, 6, 8]);
    expect(messages.filter({ isError: true })).toHaveLength(4);
    const sent = model.requests[1]?.messages.filter(({ role }) => role === "tool") ?? [];
    expect(sent.map((message) => message.metadata?.isError ?? false)).toEqual(
      thirteen.map((_, index) => failed?.includes(index)),
    );
  });

  bothWays("give the same results when run two at a time", async ({ play }) => {
    const run = async (maxParallelTools: number) => {
      const model = scriptedModel([calls(...thirteen), "Ok."]);
      const result = await play(new Agent({ model, tools: [slow, echo, broken, hanging], maxParallelTools }), "Go");
      return glance(result.messages.all());
    };
    expect(await run(2)).toEqual(await run(16));
  });
});

describe("40 calls in one reply", () => {
  const crowd = async (maxParallelTools: number | undefined) => {
    let now = 0;
    let most = 0;
    const counted = tool({
      name: "counted",
      execute: async () => {
        most = Math.max(most, ++now);
        await pause(2);
        now--;
        return "ok";
      },
    });
    const model = scriptedModel([calls(...Array.from({ length: 40 }, () => ({ name: "counted" }))), "Ok."]);
    const agent = new Agent({
      model,
      tools: [counted],
      ...(maxParallelTools === undefined ? undefined : { maxParallelTools }),
    });
    return { agent, most: () => most };
  };

  for (const [given, expected] of [
    [undefined, 16],
    [1, 1],
    [3, 3],
    [100, 40],
  ] as const) {
    bothWays(`run at most ${expected} at once with maxParallelTools ${given ?? "left out"}`, async ({ play }) => {
      const { agent, most } = await crowd(given);
      const { steps } = await play(agent, "Go");
      expect(most()).toBe(expected);
      expect(steps[0]?.toolResults).toHaveLength(40);
    });
  }
});

bothWays("a hanging tool is aborted after its timeout and delays no other call", async ({ play }) => {
  let reason: unknown;
  const hangs = tool({
    name: "hangs",
    timeoutMs: 20,
    execute: (_, { signal }) =>
      new Promise(() => {
        signal.addEventListener("abort", () => {
          reason = signal.reason;
        });
      }),
  });
  const model = scriptedModel([calls({ name: "hangs" }, echoing("a")), "Ok."]);
  const { steps } = await play(new Agent({ model, tools: [hangs, echo] }), "Go");
  expect(steps[0]?.toolResults.map(({ isError }) => isError)).toEqual([true, false]);
  expect(reason).toMatchObject({ name: "TimeoutError" });
});

bothWays("a tool that returns in time leaves no timer behind", async ({ play }) => {
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const before = timers();
  const prompt = tool({ name: "prompt", timeoutMs: 60_000, execute: () => "now" });
  await play(new Agent({ model: scriptedModel([calls({ name: "prompt" }), "Ok."]), tools: [prompt] }), "Go");
  expect(timers()).toBe(before);
});

bothWays("if a guardrail fails, calls that have not started never start", async ({ fail }) => {
  const started: string[] = [];
  const noted = tool({
    name: "noted",
    input: z.object({ id: z.string() }),
    execute: async ({ id }) => {
      started.push(id);
      await pause(5);
    },
  });
  const model = scriptedModel([
    calls(...["a", "b", "c", "d", "e", "f"].map((id) => ({ name: "noted", input: { id } }))),
  ]);
  const agent = new Agent({
    model,
    tools: [noted],
    maxParallelTools: 2,
    toolOutputGuardrails: [
      {
        name: "fragile",
        check: ({ call }) => {
          if (call.inputText.includes("a")) throw new Error("no");
        },
      },
    ],
  });
  const error = await fail(agent, "Go");
  expect(error.code).toBe("guardrail-failed");
  await pause(20);
  expect(started).toEqual(["a", "b"]);
});

bothWays("a failed run leaves no tool of its step running", async ({ fail }) => {
  let running = 0;
  const busy = tool({
    name: "busy",
    input: z.object({ ms: z.number() }),
    execute: async ({ ms }) => {
      running++;
      await pause(ms);
      running--;
    },
  });
  const agent = new Agent({
    model: scriptedModel([calls({ name: "busy", input: { ms: 1 } }, { name: "busy", input: { ms: 30 } })]),
    tools: [busy, patient],
    toolOutputGuardrails: [
      {
        name: "fragile",
        check: () => {
          throw new Error("no");
        },
      },
    ],
  });
  await fail(agent, "Go");
  expect(running).toBe(0);
});
