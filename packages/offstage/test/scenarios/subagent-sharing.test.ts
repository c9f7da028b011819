// A subagent shares usage, depth, budget, abort and context with its parent.
import { describe, expect } from "vitest";
import { Agent, type AgentOptions, type RunResult, tokenLimit, tool } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, deaf, echo, echoing, patient } from "../support/cast.ts";

function agent(
  name: string,
  script: readonly ScriptEntry[],
  options: Omit<AgentOptions, "model" | "name"> = {},
): Agent {
  return new Agent({ name, model: scriptedModel(script), ...options });
}

const ask = (name: string, prompt = "Do it") => calls({ name, input: { prompt } });

describe("a subagent and its parent", () => {
  bothWays("the usage of a run is its own plus that of its children", async ({ play }) => {
    const used = (inputTokens: number, outputTokens: number) => ({ usage: { inputTokens, outputTokens } });
    const c = agent("c", [{ ...calls(echoing("x")), ...used(1, 2) }, new Error("late")], { tools: [echo] });
    const b = agent(
      "b",
      [
        { ...ask("c"), ...used(10, 20) },
        { text: "b", ...used(100, 200) },
      ],
      { tools: [c.asTool()] },
    );
    const a = agent(
      "a",
      [
        { ...ask("b"), ...used(1000, 2000) },
        { text: "a", ...used(10_000, 20_000) },
      ],
      { tools: [b.asTool()] },
    );
    const result = await play(a, "Go");
    expect(result.usage).toEqual({ inputTokens: 11_111, outputTokens: 22_222, totalTokens: 33_333 });
    expect(result.children[0]?.usage.totalTokens).toBe(333);
    expect(result.children[0]?.children[0]?.usage.totalTokens).toBe(3);
  });

  bothWays("subagents nest three levels deep, and a fourth level is refused", async ({ play }) => {
    const bottom = agent("l4", ["never"]);
    const l3 = agent("l3", [ask("l4"), "l3 done"], { tools: [bottom.asTool()] });
    const l2 = agent("l2", [ask("l3"), "l2 done"], { tools: [l3.asTool()] });
    const l1 = agent("l1", [ask("l2"), "l1 done"], { tools: [l2.asTool()] });
    const result = await play(agent("top", [ask("l1"), "top done"], { tools: [l1.asTool()] }), "Go");
    const third = result.children[0]?.children[0]?.children[0] as RunResult<unknown>;
    expect(third.agent).toBe("l3");
    expect(third.steps[0]?.toolResults[0]).toMatchObject({
      isError: true,
      content: "[Subagent: l4] Failed: subagents may nest 3 deep, and this would be level 4",
    });
    expect(third.children).toEqual([]);
  });

  bothWays("an agent that calls itself does not recurse forever", async ({ play }) => {
    let self: Agent | undefined;
    const again = tool({
      name: "again",
      input: { type: "object", properties: { prompt: { type: "string" } } },
      execute: (input, options) => (self as Agent).asTool().execute(input, options),
    });
    self = new Agent({ name: "narcissus", model: scriptedModel(() => ask("again")), tools: [again], maxSteps: 1 });
    const { outcome } = await play(self, "Go");
    expect(outcome.reason).toBe("step-limit");
  });

  bothWays("the parent's token limit stops a child, and then the parent", async ({ play }) => {
    const model = scriptedModel(() => ({ ...calls(echoing("x")), usage: { inputTokens: 40, outputTokens: 10 } }));
    const child = new Agent({ name: "spender", model, tools: [echo] });
    const parent = agent("boss", [{ ...ask("spender"), usage: { inputTokens: 40, outputTokens: 10 } }], {
      tools: [child.asTool()],
      stopWhen: tokenLimit(200),
    });
    const result = await play(parent, "Go");
    expect(result.children[0]).toMatchObject({ outcome: { status: "stopped", reason: "token-limit" } });
    expect(result.children[0]?.steps).toHaveLength(3);
    expect(result.outcome).toMatchObject({ status: "stopped", reason: "token-limit" });
    expect(result.usage.totalTokens).toBe(200);
  });

  for (const [name, waits] of [
    ["a tool that honours it", patient],
    ["a tool that ignores it", deaf],
  ] as const) {
    bothWays(`an abort reaches ${name} three levels down, and every level ends`, async ({ play, ended }) => {
      const controller = new AbortController();
      const c = agent("c", [calls({ name: waits.name })], { tools: [waits] });
      const b = agent("b", [ask("c")], { tools: [c.asTool()] });
      const a = agent("a", [ask("b")], { tools: [b.asTool()] });
      const reason = new Error("enough");
      setTimeout(() => controller.abort(reason), 10);
      await expect(play(a, "Go", { signal: controller.signal })).rejects.toBe(reason);
      const [top] = ended;
      const levels = [top, top?.children[0], top?.children[0]?.children[0]];
      expect(levels.map((level) => [level?.agent, level?.outcome.reason])).toEqual([
        ["a", "aborted"],
        ["b", "aborted"],
        ["c", "aborted"],
      ]);
      expect(top?.usage.totalTokens).toBe(45);
    });
  }

  bothWays(
    "a child that exceeds its timeout is aborted, becomes an error result, and its tokens count",
    async ({ play }) => {
      const child = agent("slow", [calls({ name: "patient" })], { tools: [patient] });
      const result = await play(
        agent("boss", [ask("slow"), "Ok."], { tools: [child.asTool({ timeoutMs: 20 })] }),
        "Go",
      );
      expect(result.steps[0]?.toolResults[0]).toMatchObject({
        isError: true,
        content: expect.stringContaining("20 ms"),
      });
      expect(result.children[0]?.outcome).toMatchObject({ status: "stopped", reason: "aborted" });
      expect(result.usage.totalTokens).toBe(45);
    },
  );

  bothWays("the context is shared in both directions", async ({ play }) => {
    const trail: unknown[] = [];
    const note = tool({
      name: "note",
      execute: (_, { context, agent: who }) => {
        trail.push(context.get("last"));
        context.set("last", who);
      },
    });
    const child = agent("scribe", [calls({ name: "note" }), "Written."], { tools: [note] });
    const parent = agent("boss", [ask("scribe"), calls({ name: "note" }), "Ok."], { tools: [child.asTool(), note] });
    await play(parent, "Go", { context: { last: "start" } });
    expect(trail).toEqual(["start", "scribe"]);
  });
});
