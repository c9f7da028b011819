// A subagent shows its parent one result. Everything else stays in the child run, readable from the parent's result.
import { describe, expect, test } from "vitest";
import { Agent, AgentContext, type AgentEvent, type AgentOptions } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echo, echoing, glance, pause } from "../support/cast.ts";

type Script = readonly ScriptEntry[];

function agent(name: string, script: Script, options: Omit<AgentOptions, "model" | "name"> = {}): Agent {
  return new Agent({ name, model: scriptedModel(script), ...options });
}

const ask = (name: string, prompt = "Do it") => calls({ name, input: { prompt } });

function threeLevels(deepest: Script) {
  const c = agent("c", deepest, { tools: [echo] });
  const b = agent("b", [ask("c"), "b heard c"], { tools: [c.asTool()] });
  const a = agent("a", [ask("b"), "a heard b"], { tools: [b.asTool()] });
  return { a, b, c };
}

describe("what the parent sees", () => {
  bothWays("is exactly one tool result with the answer", async ({ play }) => {
    const child = agent("helper", [calls(echoing("a")), "Done."], { tools: [echo] });
    const result = await play(agent("boss", [ask("helper"), "Thanks."], { tools: [child.asTool()] }), "Go");
    expect(glance(result.messages.filter({ subagents: false }))).toEqual([
      "user: Go",
      "assistant: [helper]",
      "tool: [Subagent: helper] Done.",
      "assistant: Thanks.",
    ]);
    expect(result.steps[0]?.toolResults[0]).toMatchObject({ isError: false, childRunId: result.children[0]?.runId });
  });

  bothWays("is one error result with the reason if the child fails", async ({ play }) => {
    const child = agent("helper", [new Error("no light")]);
    const result = await play(agent("boss", [ask("helper"), "Pity."], { tools: [child.asTool()] }), "Go");
    const [failed] = result.steps[0]?.toolResults ?? [];
    expect(failed).toMatchObject({
      isError: true,
      content: expect.stringMatching(/^\[Subagent: helper\] Failed: .*no light/),
    });
    expect(result.outcome.status).toBe("completed");
    expect(result.children[0]?.outcome).toMatchObject({ status: "failed", reason: "model-failed" });
  });

  bothWays("is one error result with the partial answer if a limit stops the child", async ({ play }) => {
    const child = agent("helper", [{ text: "Half.", toolCalls: [echoing("a")] }], { tools: [echo], maxSteps: 1 });
    const result = await play(agent("boss", [ask("helper"), "Ok."], { tools: [child.asTool()] }), "Go");
    expect(result.steps[0]?.toolResults[0]?.content).toBe(
      "[Subagent: helper] Failed: The run reached its limit of 1 step. Partial answer: Half.",
    );
  });

  bothWays("is the answer if the child answers in its last allowed step", async ({ play }) => {
    const child = agent("helper", ["At once."], { maxSteps: 1 });
    const result = await play(agent("boss", [ask("helper"), "Ok."], { tools: [child.asTool()] }), "Go");
    expect(result.steps[0]?.toolResults[0]?.content).toBe("[Subagent: helper] At once.");
  });

  bothWays("carries the name the parent gave it", async ({ play }) => {
    const child = agent("A helper, of sorts", ["Hi.", "Hi."]);
    const parent = agent(
      "boss",
      [calls({ name: "aide", input: { prompt: "x" } }, { name: "A_helper__of_sorts", input: { prompt: "x" } }), "Ok."],
      {
        tools: [child.asTool({ name: "aide", description: "An aide." }), child.asTool()],
      },
    );
    const { steps } = await play(parent, "Go");
    expect(steps[0]?.toolResults.map(({ content }) => content)).toEqual([
      "[Subagent: aide] Hi.",
      "[Subagent: A helper, of sorts] Hi.",
    ]);
  });

  bothWays("is a clear error for a call without a prompt, and no child runs", async ({ play }) => {
    const child = agent("helper", []);
    const model = scriptedModel([calls({ name: "helper", input: { task: "x" } }), "Ok."]);
    const result = await play(new Agent({ model, tools: [child.asTool()] }), "Go");
    expect(result.steps[0]?.toolResults[0]).toMatchObject({
      isError: true,
      content: expect.stringContaining("prompt"),
    });
    expect(result.children).toEqual([]);
  });
});

describe("child runs", () => {
  bothWays("keep their messages out of the parent's conversation", async ({ play }) => {
    const { a } = threeLevels([calls(echoing("secret")), "c is done"]);
    const { state, children } = await play(a, "Go");
    expect(JSON.stringify([...state.messages])).not.toContain("secret");
    expect(JSON.stringify([...(children[0]?.state.messages ?? [])])).not.toContain("secret");
  });

  bothWays("three levels deep are readable from the top, each under its own run id", async ({ play }) => {
    const result = await play(threeLevels([calls(echoing("x")), "c is done"]).a, "Go");
    const [b] = result.children;
    const [c] = b?.children ?? [];
    expect([result.agent, b?.agent, c?.agent]).toEqual(["a", "b", "c"]);
    expect([b?.parentRunId, c?.parentRunId]).toEqual([result.runId, b?.runId]);
    expect(new Set([result.runId, b?.runId, c?.runId]).size).toBe(3);
    expect(glance(c?.messages.all() ?? [])).toEqual([
      "user: Do it",
      "assistant: [echo]",
      "tool: echo x",
      "assistant: c is done",
    ]);
    expect(b?.state.parentAgentId).toBe(result.state.agentId);
  });

  bothWays("that fail become an error result one level up, and the levels above complete", async ({ play }) => {
    const result = await play(threeLevels([calls(echoing("x")), new Error("flooded")]).a, "Go");
    const [b] = result.children;
    expect(result).toMatchObject({ output: "a heard b", outcome: { status: "completed" } });
    expect(b?.steps[0]?.toolResults[0]?.content).toMatch(/^\[Subagent: c\] Failed: .*flooded/);
    expect(b?.children[0]?.steps).toHaveLength(1);
  });

  bothWays("that run in parallel are all listed", async ({ play }) => {
    const names = ["p", "q", "r"];
    const children = names.map((name) => agent(name, [() => pause(name === "p" ? 10 : 1).then(() => `${name}!`)]));
    const parent = agent("boss", [calls(...names.map((name) => ({ name, input: { prompt: name } }))), "Ok."], {
      tools: children.map((child) => child.asTool()),
    });
    const result = await play(parent, "Go");
    expect(result.steps[0]?.toolResults.map(({ content }) => content)).toEqual(
      names.map((name) => `[Subagent: ${name}] ${name}!`),
    );
    expect(result.children.map((child) => child.agent).sort()).toEqual(names);
  });
});

test("events of child runs are wrapped in the parent's stream, each with its own run id", async () => {
  const { a } = threeLevels([calls(echoing("x")), "c is done"]);
  const events: AgentEvent[] = [];
  const stream = a.stream("Go");
  for await (const event of stream) events.push(event);
  const { runId, children } = await stream.result;
  const depths = new Map<string, number>();
  const unwrap = (event: AgentEvent, depth: number): void => {
    if (event.type === "subagent-event") unwrap(event.event, depth + 1);
    else depths.set(event.runId, depth);
  };
  for (const event of events) unwrap(event, 0);
  expect(depths).toEqual(
    new Map([
      [runId, 0],
      [children[0]?.runId, 1],
      [children[0]?.children[0]?.runId, 2],
    ]),
  );
  expect(events.every((event) => event.runId === runId)).toBe(true);
  expect(
    events
      .filter((event) => event.type === "text-delta")
      .map((event) => event.delta)
      .join(""),
  ).toBe("a heard b");
});

test("a subagent tool executed without a parent gives the same text", async () => {
  const child = agent("helper", ["Hi."]).asTool();
  const result = await child.execute(
    { prompt: "x" },
    {
      signal: new AbortController().signal,
      context: new AgentContext(),
      toolCallId: "1",
      runId: "r",
      step: 1,
      agent: "nobody",
      ask: async () => expect.fail("no question"),
      asked: [],
      progress: () => undefined,
    },
  );
  expect(result).toMatchObject({ text: "[Subagent: helper] Hi.", isError: false });
});
