import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { buildCall, buildTool, runBuilt } from "../../test/support/build-tool-run.ts";
import type { StepToolCall } from "../state/step.ts";
import { runTools } from "./run-tool.ts";

const callsOf = (count: number): StepToolCall[] =>
  Array.from({ length: count }, (_, i) => buildCall({ toolCallId: `c${i}`, inputText: JSON.stringify({ i }) }));

test("13 calls, four of which fail differently, give 13 results in call order", async () => {
  const tools = [
    buildTool({
      timeoutMs: 30,
      execute: async ({ i }) => {
        await sleep(13 - (i as number));
        if (i === 2) throw new Error("broken");
        if (i === 5) return new Promise(() => undefined);
        return i;
      },
    }),
  ];
  const calls = callsOf(13)
    .with(7, buildCall({ toolCallId: "c7", toolName: "missing" }))
    .with(9, buildCall({ toolCallId: "c9", inputText: "{" }));
  const results = await runTools(calls, 13, (call) => runBuilt({ call, tools }));
  expect(results.map(({ toolCallId }) => toolCallId)).toEqual(calls.map(({ toolCallId }) => toolCallId));
  expect(results.flatMap(({ isError }, i) => (isError ? [i] : []))).toEqual([2, 5, 7, 9]);
});

test.for([1, 3, 10])("at most %d run at once", async (maxParallel) => {
  let running = 0;
  let most = 0;
  await runTools(callsOf(20), maxParallel, async () => {
    most = Math.max(most, ++running);
    await sleep(1);
    running--;
  });
  expect(most).toBe(maxParallel);
});

test("1,000 calls in one reply give 1,000 results", async () => {
  const results = await runTools(callsOf(1000), 16, async ({ toolCallId }) => toolCallId);
  expect(results).toEqual(callsOf(1000).map(({ toolCallId }) => toolCallId));
});

test("no calls give no results", async () => {
  expect(await runTools([], 4, async () => 1)).toEqual([]);
});

describe("a rejection", () => {
  test("rejects all, and no further call starts", async () => {
    const started: string[] = [];
    const running = runTools(callsOf(6), 2, async ({ toolCallId }) => {
      started.push(toolCallId);
      await sleep(1);
      if (toolCallId === "c0") throw new Error("stop");
    });
    await expect(running).rejects.toThrow("stop");
    expect(started).toEqual(["c0", "c1"]);
  });

  test("of the only call rejects, too", async () => {
    await expect(runTools(callsOf(1), 4, () => Promise.reject(new Error("stop")))).rejects.toThrow("stop");
  });
});
