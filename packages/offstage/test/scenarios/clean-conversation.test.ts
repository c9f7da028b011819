// The clean conversation: only what was said is remembered. Covers the checklists of the first two design documents.
import { describe, expect, test } from "vitest";
import { Agent, AgentBuilder, AgentState, reactDriver } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { broken, calls, echo, echoing, glance } from "../support/cast.ts";

function separated(script: readonly ScriptEntry[]) {
  const model = scriptedModel(script);
  const agent = AgentBuilder.base().withModel(model).withTools(echo, broken).withSeparatedToolTrace().build();
  return { agent, model };
}

const toolCallThenAnswer = [calls(echoing("a")), "It said a."];

describe("separation plan, checklist", () => {
  bothWays("1. single tool call: messages hold only the user and the final answer", async ({ play }) => {
    const { agent } = separated(toolCallThenAnswer);
    const { state } = await play(agent, "What does it say?");
    expect(glance(state.messages)).toEqual(["user: What does it say?", "assistant: It said a."]);
  });

  bothWays("1. single tool call: the tool trace is in the execution buffer during the run", async ({ play }) => {
    const buffers: string[][] = [];
    const model = scriptedModel(toolCallThenAnswer);
    const agent = new Agent({
      model,
      tools: [echo],
      separateToolTrace: true,
      processors: [
        (state, next) => {
          buffers.push(glance(state.executionBuffer));
          return next(state);
        },
      ],
    });
    await play(agent, "What does it say?");
    expect(buffers).toEqual([[], ["assistant: [echo]", "tool: echo a"]]);
  });

  bothWays("2. multiple tool calls: all traces are buffered, only the final answer persists", async ({ play }) => {
    const script = [calls(echoing("a"), echoing("b")), calls({ name: "broken" }), calls(echoing("c")), "Done."];
    const { agent, model } = separated(script);
    const { state, steps } = await play(agent, "Go");
    expect(glance(state.messages)).toEqual(["user: Go", "assistant: Done."]);
    expect(steps).toHaveLength(4);
    expect(model.requests[3]?.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
      "tool",
      "assistant",
      "tool",
    ]);
  });

  bothWays("3. no tool calls: the answer is appended normally", async ({ play }) => {
    const { agent } = separated(["Hello."]);
    const { state, output } = await play(agent, "Hi");
    expect(output).toBe("Hello.");
    expect(glance(state.messages)).toEqual(["user: Hi", "assistant: Hello."]);
  });

  bothWays("4. stop condition: the buffer is empty at the end of the run", async ({ play }) => {
    const answered = await play(separated(toolCallThenAnswer).agent, "Go");
    const stopped = await play(separated([calls(echoing("a"))]).agent, "Go", { maxSteps: 1 });
    expect(answered.state.executionBuffer.length).toBe(0);
    expect(stopped.outcome.reason).toBe("step-limit");
    expect(stopped.state.executionBuffer.length).toBe(0);
  });

  bothWays("5. error path: a failed run keeps its buffer for inspection", async ({ fail }) => {
    const { result } = await fail(separated([calls(echoing("a")), new Error("down")]).agent, "Go");
    expect(glance(result.state.executionBuffer)).toEqual(["assistant: [echo]", "tool: echo a"]);
    expect(glance(result.state.messages)).toEqual(["user: Go"]);
  });

  bothWays("5. error path: forContinuation and withUserMessage empty the buffer", async ({ fail }) => {
    const { result } = await fail(separated([calls(echoing("a")), new Error("down")]).agent, "Go");
    const { state } = result;
    expect(state.forContinuation().executionBuffer.length).toBe(0);
    expect(state.withUserMessage("Again").executionBuffer.length).toBe(0);
    expect(state.withUserMessage("Again", { resetExecutionState: false }).executionBuffer.length).toBe(2);
    expect(glance(state.withUserMessage("Again").messages)).toEqual(["user: Go", "user: Again"]);
  });

  bothWays("6. subagents: the parent sees only the subagent's text", async ({ play }) => {
    const child = new Agent({ name: "helper", model: scriptedModel(toolCallThenAnswer), tools: [echo] });
    const model = scriptedModel([calls({ name: "helper", input: { prompt: "Look" } }), "The helper looked."]);
    const parent = new Agent({ model, tools: [child.asTool()], separateToolTrace: true });
    const { state } = await play(parent, "Ask the helper");
    expect(glance(state.messages)).toEqual(["user: Ask the helper", "assistant: The helper looked."]);
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toBe("tool: [Subagent: helper] It said a.");
  });
});

describe("execution buffer guide, checklist", () => {
  bothWays("1. basic execution: tools work and the answer is extracted", async ({ play }) => {
    const { output, steps } = await play(separated(toolCallThenAnswer).agent, "Go");
    expect(output).toBe("It said a.");
    expect(steps[0]?.toolResults[0]).toMatchObject({ output: "echo a", isError: false, input: { text: "a" } });
  });

  bothWays("2. multiple tools: all traces buffered, only the answer in messages", async ({ play }) => {
    const { agent, model } = separated([calls(echoing("a"), { name: "broken" }), "Half of it worked."]);
    const { state } = await play(agent, "Go");
    expect(glance(model.requests[1]?.messages ?? [])).toHaveLength(4);
    expect(glance(state.messages)).toEqual(["user: Go", "assistant: Half of it worked."]);
  });

  bothWays("3. no tool calls: a regular answer flows correctly", async ({ play }) => {
    const { output, outcome } = await play(separated(["Fine."]).agent, "How are you?");
    expect({ output, outcome }).toMatchObject({
      output: "Fine.",
      outcome: { status: "completed", reason: "answered" },
    });
  });

  bothWays("4. subagent: the parent only sees the subagent's answer text", async ({ play }) => {
    const child = new Agent({ name: "helper", model: scriptedModel(toolCallThenAnswer), tools: [echo] });
    const model = scriptedModel([calls({ name: "helper", input: { prompt: "Look" } }), "Ok."]);
    const result = await play(new Agent({ model, tools: [child.asTool()] }), "Ask");
    expect(glance(result.messages.filter({ subagents: false }))).toEqual([
      "user: Ask",
      "assistant: [helper]",
      "tool: [Subagent: helper] It said a.",
      "assistant: Ok.",
    ]);
  });

  bothWays("5. execution interrupted: buffer cleared, partial text kept and marked", async ({ play }) => {
    const { agent } = separated([{ text: "Let me look.", toolCalls: [echoing("a")] }]);
    const { state, output } = await play(agent, "Go", { maxSteps: 1 });
    expect(state.executionBuffer.length).toBe(0);
    expect(glance(state.messages)).toEqual(["user: Go", "assistant: Let me look."]);
    expect(state.messages.at(-1)?.metadata?.interrupted).toBe(true);
    expect(output).toBe("Let me look.");
  });

  bothWays("6. backward compatible: without separation everything joins the messages", async ({ play }) => {
    const agent = AgentBuilder.base().withModel(scriptedModel(toolCallThenAnswer)).withTools(echo).build();
    const { state } = await play(agent, "Go");
    expect(glance(state.messages)).toEqual(["user: Go", "assistant: [echo]", "tool: echo a", "assistant: It said a."]);
    expect(state.executionBuffer.length).toBe(0);
  });
});

describe("a message belongs to the conversation or the tool trace by its step, not by its role", () => {
  bothWays("text beside tool calls is tool trace", async ({ play }) => {
    const { agent, model } = separated([{ text: "First I look.", toolCalls: [echoing("a")] }, "Found it."]);
    const { state, messages } = await play(agent, "Go");
    expect(glance(state.messages)).toEqual(["user: Go", "assistant: Found it."]);
    expect(glance(model.requests[1]?.messages ?? [])).toContain("assistant: [echo] First I look.");
    expect(glance(messages.all())).toContain("assistant: [echo] First I look.");
  });

  bothWays("a ReAct run is just as clean, although its tool trace is plain text to the model", async ({ play }) => {
    const script = [
      'Thought: I need it.\nAction: echo\nAction Input: {"text": "a"}',
      "Thought: I have it.\nFinal Answer: It said a.",
    ];
    const model = scriptedModel(script);
    const agent = new Agent({ model, tools: [echo], driver: reactDriver(), separateToolTrace: true });
    const { state } = await play(agent, "Go");
    expect(glance(state.messages)).toEqual(["user: Go", "assistant: It said a."]);
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toBe("user: Observation: echo a");
  });

  bothWays("an answer that a critic sent back is tool trace", async ({ play }) => {
    const model = scriptedModel(["Draft.", "Final."]);
    const sendBackOnce = (state: AgentState) =>
      state.currentStep?.text === "Draft."
        ? ({ decision: "continue", reason: "again", message: "Once more.", feedback: "Shorter, please." } as const)
        : undefined;
    const agent = new Agent({ model, separateToolTrace: true, stopWhen: sendBackOnce });
    const { state, output } = await play(agent, "Write");
    expect(output).toBe("Final.");
    expect(glance(state.messages)).toEqual(["user: Write", "assistant: Final."]);
    expect(glance(model.requests[1]?.messages ?? [])).toEqual([
      "user: Write",
      "assistant: Draft.",
      "user: Shorter, please.",
    ]);
  });

  bothWays("the tool trace of a clean run is still queryable by run id", async ({ play }) => {
    const { agent } = separated(toolCallThenAnswer);
    const { runId, messages } = await play(agent, "Go");
    expect(glance(messages.filter({ role: "tool" }))).toEqual(["tool: echo a"]);
    expect(glance(agent.messages.filter({ runId, role: "tool" }))).toEqual(["tool: echo a"]);
  });

  bothWays("during a run the model sees every call with its result", async ({ play }) => {
    const { agent, model } = separated([calls(echoing("a", "c1")), calls(echoing("b", "c2")), "Ok."]);
    await play(agent, "Go");
    const [, , last] = model.requests;
    expect(last?.messages).toMatchObject([
      { role: "user" },
      { role: "assistant", tool_calls: [{ id: "c1" }] },
      { role: "tool", tool_call_id: "c1", content: "echo a" },
      { role: "assistant", tool_calls: [{ id: "c2" }] },
      { role: "tool", tool_call_id: "c2", content: "echo b" },
    ]);
  });
});

test("the next turn of a clean conversation is sent questions and answers only", async () => {
  const { agent, model } = separated([...toolCallThenAnswer, "Twice."]);
  const first = await agent.execute(AgentState.empty().withUserMessage("One"));
  await agent.execute(first.withUserMessage("Two"));
  expect(glance(model.requests[2]?.messages ?? [])).toEqual(["user: One", "assistant: It said a.", "user: Two"]);
});
