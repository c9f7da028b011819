// Cost grows with the size of a reply, not with its square: many calls, many approvals, and ReAct replies of any shape.
import { describe, expect, test } from "vitest";
import { Agent, AgentState, memoryStore, reactDriver, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const look = tool({ name: "look", execute: () => "seen" });
const pay = tool({ name: "pay", needsApproval: true, execute: () => "paid" });
const ask = tool({ name: "ask", needsApproval: () => true, execute: () => "asked" });

const agentOf = (name: string, count: number) =>
  new Agent({
    model: scriptedModel(
      [{ toolCalls: Array.from({ length: count }, (_, index) => ({ name, id: `c${index}`, input: {} })) }, "Done."],
      { record: false },
    ),
    tools: [look, pay, ask],
  });

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Expects ten times the size to cost far less than a hundred times. A second try, because other processes may be busy. */
async function expectLinear(prepare: (size: number) => Promise<() => Promise<unknown>>): Promise<void> {
  const ratio = async () => {
    const small = await timeOf(await prepare(1000));
    return (await timeOf(await prepare(10_000))) / Math.max(small, 5);
  };
  const first = await ratio();
  expect(first < 40 ? first : await ratio()).toBeLessThan(40);
}

describe("ten thousand calls in a reply", () => {
  test("run in linear time", () => expectLinear(async (size) => () => agentOf("look", size).run("Go")));

  test("run in linear time on a store", () =>
    expectLinear(async (size) => () => agentOf("look", size).run("Go", { session: memoryStore().session("s") })));

  test.for(["pay", "ask"])("wait, are saved, approved and run in linear time: %s", (name) =>
    expectLinear(async (size) => async () => {
      const agent = agentOf(name, size);
      const { state, approvals } = await agent.run("Go");
      const saved = AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
      const { output } = await agent.resume(saved, { approve: approvals });
      expect([approvals.length, output]).toEqual([size, "Done."]);
    }),
  );

  test("are read from a store and rejected by their ids in linear time", () =>
    expectLinear(async (size) => {
      const store = memoryStore();
      const agent = agentOf("pay", size);
      const { runId } = await agent.run("Go", { session: store.session("s") });
      return async () => {
        const { approvals = [] } = (await store.runs.get(runId)) ?? {};
        const { output } = await agent.resume(runId, {
          store,
          reject: approvals.map(({ toolCallId }) => toolCallId),
        });
        expect([approvals.length, output]).toEqual([size, "Done."]);
      };
    }));
});

describe("a ReAct reply of a hundred thousand", () => {
  const shapes: Readonly<Record<string, (size: number) => string>> = {
    "blank lines": (size) => `${"\n".repeat(size)}Final Answer: x`,
    "blank lines with carriage returns": (size) => `${"\r\n".repeat(size)}Final Answer: x`,
    "blank lines and nothing else": (size) => "\n".repeat(size),
    "blank lines before its answer": (size) => `Final Answer:${"\n".repeat(size)}x`,
    "blank lines before its action": (size) => `Action:${"\n".repeat(size)}look`,
    spaces: (size) => `${" ".repeat(size)}Final Answer: x`,
    thoughts: (size) => `${"Thought: a\n".repeat(size)}Final Answer: x`,
    "half markers": (size) => "Final Answer\n".repeat(size),
    fences: (size) => "```".repeat(size),
  };

  test.for(Object.entries(shapes))("%s is read in linear time, piece by piece", async ([, shape]) => {
    const reply = shape(100_000);
    const model = scriptedModel([reply, "Final Answer: y", "Final Answer: y"], { record: false });
    const stream = new Agent({ model, driver: reactDriver(), tools: [look] }).stream("Go");
    const took = await timeOf(async () => {
      for await (const _ of stream);
    });
    expect(["x", "y", reply.trim()]).toContain((await stream.result).output);
    // A square of it took 43 s.
    expect(took).toBeLessThan(4000);
  });
});
