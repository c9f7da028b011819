// A tool choice that forces a call holds for the first step of a run, so that the model can answer.
import { describe, expect } from "vitest";
import { Agent, type ModelSettings, memoryStore } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echo, echoing } from "../support/cast.ts";

function agentOf(modelSettings: ModelSettings) {
  const model = scriptedModel([calls(echoing("a")), calls(echoing("b")), "Done."]);
  return { model, agent: new Agent({ model, tools: [echo], modelSettings: { temperature: 0, ...modelSettings } }) };
}

const choicesOf = (model: ReturnType<typeof scriptedModel>) => model.requests.map(({ options }) => options.toolChoice);

describe("toolChoice", () => {
  const required = { type: "required" } as const;
  const named = { type: "tool", toolName: "echo" } as const;
  for (const [toolChoice, sent] of [
    ["required", required],
    [required, required],
    [named, named],
  ] as const)
    bothWays(`${JSON.stringify(toolChoice)} holds for the first step`, async ({ play }) => {
      const { agent, model } = agentOf({ toolChoice });
      expect((await play(agent, "Go")).text).toBe("Done.");
      expect(choicesOf(model)).toEqual([sent, undefined, undefined]);
      expect(model.requests.map(({ options }) => options.temperature)).toEqual([0, 0, 0]);
      expect(model.requests.every(({ options }) => !("toolChoiceOn" in options))).toBe(true);
    });

  bothWays("holds for every step if it is told to", async ({ play }) => {
    const { agent, model } = agentOf({ toolChoice: "required", toolChoiceOn: "every-step" });
    await play(agent, "Go");
    expect(choicesOf(model)).toEqual([required, required, required]);
  });

  for (const type of ["auto", "none"] as const)
    bothWays(`"${type}" holds for every step`, async ({ play }) => {
      const { agent, model } = agentOf({ toolChoice: type });
      await play(agent, "Go");
      expect(choicesOf(model)).toEqual([{ type }, { type }, { type }]);
    });

  bothWays("is recorded as it was sent, and not forced again on resume", async ({ play }) => {
    const store = memoryStore();
    const { agent, model } = agentOf({ toolChoice: "required" });
    const { runId } = await play(agent, "Go", { session: store.session("s"), maxSteps: 1 });
    await agent.resume(runId, { store, maxSteps: 5 });
    expect(choicesOf(model)).toEqual([required, undefined, undefined]);
    const settings = await Promise.all([1, 2].map(async (step) => (await store.runs.input(runId, step))?.settings));
    expect(settings).toEqual([{ temperature: 0, toolChoice: required }, { temperature: 0 }]);
  });

  bothWays("holds for the first step of each run", async ({ play }) => {
    const model = scriptedModel([calls(echoing("a")), "One.", calls(echoing("b")), "Two."]);
    const agent = new Agent({ model, tools: () => [echo], modelSettings: { toolChoice: "required" } });
    for (const text of ["One", "Two"]) await play(agent, text);
    expect(choicesOf(model)).toEqual([required, undefined, required, undefined]);
  });
});
