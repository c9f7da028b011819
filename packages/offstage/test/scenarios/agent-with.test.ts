// `with`, `requireOutput` and `require`: small helpers of agents, results and contexts.
import { expect, test } from "vitest";
import { z } from "zod";
import { Agent, AgentContext, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const cue = tool({ name: "cue", execute: () => "done" });

test("with() makes a new agent with some options replaced, and leaves the first as it is", async () => {
  const agent = new Agent({ name: "desk", model: scriptedModel(["One."]), instructions: "Be brief.", tools: [cue] });
  const other = scriptedModel(["Two."]);
  const changed = agent.with({ model: other, instructions: undefined });
  expect((await changed.run("Hi")).text).toBe("Two.");
  expect(changed.name).toBe("desk");
  expect(other.requests[0]?.messages.map(({ role }) => role)).toEqual(["user"]);
  expect(other.requests[0]?.options.tools).toHaveLength(1);
  expect(agent.getMessages()).toEqual([]);
  expect((await agent.run("Hi")).text).toBe("One.");
  expect(changed).toBeInstanceOf(Agent);
  expect(agent.constructor.name).toBe("Agent");
});

test.each([
  [{ modle: 1 }, 'Unknown agent option "modle"'],
  [5, "with() needs an object of agent options; found 5."],
  [{ model: undefined }, "unsupported-model"],
])("with(%j) is refused", (options, words) => {
  const agent = new Agent({ model: scriptedModel([]) });
  const change = () => agent.with(options as object);
  expect(change).toThrow(words === "unsupported-model" ? expect.objectContaining({ code: words }) : words);
});

test("requireOutput() gives the checked value, and throws if a limit left none", async () => {
  const output = z.object({ title: z.string() });
  const agent = new Agent({
    model: scriptedModel(['{ "title": "A" }', { toolCalls: [{ name: "cue" }] }]),
    tools: [cue],
    output,
    maxSteps: 1,
  });
  expect((await agent.run("Hi")).requireOutput()).toEqual({ title: "A" });
  const stopped = await agent.run("Hi");
  expect(stopped.output).toBeUndefined();
  expect(() => stopped.requireOutput()).toThrow(
    expect.objectContaining({ code: "no-output", message: expect.stringContaining("stopped (step-limit)") }),
  );
  expect(Object.keys(stopped)).not.toContain("requireOutput");
});

test("a context gives a required value, or says which is missing", () => {
  const context = new AgentContext<{ user?: string }>({ user: "Anna" });
  expect(context.require("user")).toBe("Anna");
  context.delete("user");
  expect(() => context.require("user")).toThrow('The context has no "user".');
});
