// A failing store fails the run with store-failed, whatever was being written, and with the result so far.
import { describe, expect } from "vitest";
import { z } from "zod";
import { Agent, memoryStore } from "../../src/index.ts";
import { crashingStore, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echo, echoing, glance } from "../support/cast.ts";

const gone = new Error("the disk is gone");

describe("a store that throws", () => {
  for (const at of ["run.begin", "tool.intent", "tool.result", "step.commit", "run.end"] as const)
    bothWays(`at ${at} fails the run with store-failed, the name of the store and the cause`, async ({ fail }) => {
      await using store = crashingStore(memoryStore(), { at, when: "before", action: gone });
      const model = scriptedModel([calls(echoing("a"), echoing("b")), "Done."]);
      const error = await fail(new Agent({ model, tools: [echo] }), "Go", { session: store.session("s") });
      expect(error).toMatchObject({
        code: "store-failed",
        message: "the store in memory failed: the disk is gone",
        cause: gone,
      });
      expect(error.result.outcome).toMatchObject({ status: "failed", reason: "store-failed" });
    });
});

describe("an answer that could not be stored", () => {
  const broken = () => crashingStore(memoryStore(), { at: "run.end", when: "before", action: gone });

  bothWays("is in the result so far", async ({ fail }) => {
    await using store = broken();
    const error = await fail(new Agent({ model: scriptedModel(["Hi."]) }), "Go", { session: store.session("s") });
    expect(error.result).toMatchObject({ output: "Hi.", text: "Hi.", outcome: { status: "failed" } });
    expect(glance(error.result.state.messages)).toEqual(["user: Go", "assistant: Hi."]);
    expect(glance(await store.session("s").getItems())).toEqual(["user: Go"]);
  });

  bothWays("is in the result as the validated value if there is a schema", async ({ fail }) => {
    await using store = broken();
    const output = z.object({ n: z.number() });
    const agent = new Agent({ model: scriptedModel(['{"n": 1}']), output });
    const error = await fail(agent, "Go", { session: store.session("s") });
    expect(error.result.output).toEqual({ n: 1 });
  });

  bothWays("stays out of the result if a guardrail blocked it", async ({ fail }) => {
    await using store = broken();
    const output = z.object({ n: z.number() });
    const blocks = { name: "never", check: () => false };
    const agent = new Agent({ model: scriptedModel(['{"n": 1}']), output, outputGuardrails: [blocks] });
    const error = await fail(agent, "Go", { session: store.session("s") });
    expect(error.result.output).toBeUndefined();
    expect(error.result.text).not.toContain("1");
  });
});
