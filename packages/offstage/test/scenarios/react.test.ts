// ReAct: thought, action and observation in text, for models without tool calling. The same loop, the same results.
import { describe, expect, test } from "vitest";
import { Agent, reactDriver } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { broken, echo, glance } from "../support/cast.ts";

function agentOf(script: readonly ScriptEntry[]) {
  const model = scriptedModel(script);
  return {
    agent: new Agent({ model, tools: [echo, broken], driver: reactDriver(), instructions: "Be brief." }),
    model,
  };
}

const act = (text: string) => `Thought: I need it.\nAction: echo\nAction Input: {"text": "${text}"}`;
const answer = "Thought: I have it.\nFinal Answer: It said a.";

describe("a ReAct run", () => {
  bothWays("goes from thought to action to observation to answer", async ({ play }) => {
    const { agent, model } = agentOf([act("a"), answer]);
    const result = await play(agent, "Go");
    expect(result.output).toBe("It said a.");
    expect(result.steps[0]).toMatchObject({
      text: "I need it.",
      toolCalls: [{ toolName: "echo" }],
      toolResults: [{ content: "echo a" }],
    });
    expect(glance(model.requests[1]?.messages ?? []).slice(1)).toEqual([
      "user: Go",
      'assistant: Thought: I need it.\nAction: echo\nAction Input: {"text": "a"}',
      "user: Observation: echo a",
    ]);
  });

  bothWays(
    "describes its tools in text after the instructions, and passes none through the model port",
    async ({ play }) => {
      const { agent, model } = agentOf([answer]);
      await play(agent, "Go");
      const [request] = model.requests;
      expect(request?.options.tools).toBeUndefined();
      expect(glance(request?.messages ?? [])[0]).toMatch(
        /^system: Be brief\.[\s\S]*- echo: Says it back\.[\s\S]*Final Answer:/,
      );
    },
  );

  bothWays("keeps its messages in the usual format, which queries can read", async ({ play }) => {
    const { agent } = agentOf([act("a"), act("b"), answer]);
    const { messages } = await play(agent, "Go");
    expect(glance(messages.all())).toEqual([
      "user: Go",
      "assistant: [echo] I need it.",
      "tool: echo a",
      "assistant: [echo] I need it.",
      "tool: echo b",
      "assistant: It said a.",
    ]);
    expect(messages.toolSummary()).toMatchObject([{ toolName: "echo", callCount: 2, results: ["echo a", "echo b"] }]);
  });

  bothWays("shows the model a failed tool as an observation", async ({ play }) => {
    const { agent, model } = agentOf(["Action: broken\nAction Input: {}", answer]);
    await play(agent, "Go");
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toBe(
      'user: Observation: The tool "broken" failed: the pipe burst',
    );
  });
});

describe("a decision in another format is understood", () => {
  const forms: readonly [string, string][] = [
    ["without a thought", 'Action: echo\nAction Input: {"text": "a"}'],
    ["with a fenced input", 'Thought: x\nAction: echo\nAction Input:\n```json\n{"text": "a"}\n```'],
    ["with a quoted name", 'Action: `echo`\nAction Input: {"text": "a"}'],
    ["in lower case", 'thought: x\naction: echo\naction input: {"text": "a"}'],
    ["inline", 'Thought: x\nAction: echo({"text": "a"})'],
    ["as JSON", '{"thought": "x", "action": "echo", "input": {"text": "a"}}'],
    [
      "followed by a made-up observation",
      'Action: echo\nAction Input: {"text": "a"}\nObservation: echo z\nFinal Answer: z',
    ],
  ];
  for (const [form, reply] of forms) {
    bothWays(form, async ({ play }) => {
      const { agent } = agentOf([reply, answer]);
      const { output, steps } = await play(agent, "Go");
      expect(output).toBe("It said a.");
      expect(steps[0]?.toolResults).toMatchObject([{ content: "echo a", isError: false }]);
    });
  }
});

describe("a run recovers from a malformed decision", () => {
  const bad: readonly [string, string, RegExp][] = [
    ["a thought without an action", "Thought: hm.", /neither "Action:" nor "Final Answer:"/],
    ["an empty reply", "", /neither "Action:" nor "Final Answer:"/],
  ];
  for (const [kind, reply, told] of bad) {
    bothWays(`${kind} is sent back with the reason`, async ({ play }) => {
      const { agent, model } = agentOf([reply, act("a"), answer]);
      const { output } = await play(agent, "Go");
      expect(output).toBe("It said a.");
      expect(glance(model.requests[1]?.messages ?? []).at(-1)).toMatch(told);
    });
  }

  for (const [kind, reply, told] of [
    ["input that is not valid JSON", 'Action: echo\nAction Input: {"text": "a', /not valid JSON/],
    ["an unknown tool", "Action: shout\nAction Input: {}", /no tool "shout"/],
    ["no input", "Action: echo", /text/],
  ] as const) {
    bothWays(`${kind} becomes an observation`, async ({ play }) => {
      const { agent, model } = agentOf([reply, answer]);
      await play(agent, "Go");
      expect(glance(model.requests[1]?.messages ?? []).at(-1)).toMatch(told);
    });
  }
});

describe("streamed text", () => {
  const streamed = async (script: readonly string[]) => {
    const stream = agentOf(script).agent.stream("Go");
    const pieces = { text: "", reasoning: "" };
    for await (const event of stream) {
      if (event.type === "text-delta") pieces.text += event.delta;
      if (event.type === "reasoning-delta") pieces.reasoning += event.delta;
    }
    return { ...pieces, output: (await stream.result).output };
  };

  const cases: readonly [string, readonly string[], string][] = [
    ["the final answer, without thoughts and actions", [act("a"), answer], "It said a."],
    [
      "an answer of several lines",
      ["Thought: x\nFinal Answer: One.\n\nTwo: three.\n- Final Answer: four"],
      "One.\n\nTwo: three.\n- Final Answer: four",
    ],
    ["an answer marked in lower case", ["thought: x\nfinal answer: Yes."], "Yes."],
    ["an answer in plain prose", ["It is simply so."], "It is simply so."],
    ["an answer as JSON", ['{"thought": "x", "answer": "Forty-two."}'], "Forty-two."],
    [
      "not an answer made up after an action",
      [`${act("a")}\nObservation: z\nFinal Answer: made up`, answer],
      "It said a.",
    ],
    [
      "not an answer that is only mentioned in a thought",
      ['Thought: soon I give my Final Answer: but not yet.\nAction: echo\nAction Input: {"text": "a"}', answer],
      "It said a.",
    ],
  ];
  for (const [claim, script, expected] of cases) {
    test(`is ${claim}`, async () => {
      const { text, output } = await streamed(script);
      expect({ text, output }).toEqual({ text: expected, output: expected });
    });
  }

  test("comes with thoughts and actions as reasoning", async () => {
    const { reasoning } = await streamed([act("a"), answer]);
    expect(reasoning).toContain("Thought: I need it.\nAction: echo");
    expect(reasoning).toContain("Thought: I have it.");
    expect(reasoning).not.toContain("It said a.");
  });
});

describe("a very long reply is parsed in linear time", () => {
  const forms: readonly [string, string][] = [
    ["with blank lines before an action", `${"\n".repeat(200_000)}${act("a")}`],
    ["with blank lines and nothing else", `Thought: hm${"\n".repeat(200_000)}.`],
    ["with a fence that is never closed", `Action: echo\nAction Input: \`\`\`${"a".repeat(200_000)}`],
    ["with blank lines in a fence that is never closed", `Action: echo\nAction Input: \`\`\`${"\n".repeat(200_000)}.`],
  ];
  test.for(forms)("%s", async ([, reply]) => {
    const startedAt = performance.now();
    expect(await agentOf([reply, answer]).agent.run("Go")).toMatchObject({ output: "It said a." });
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
