// Bad calls are recoverable and never stored raw; tool call ids from providers are not trusted.
import { describe, expect } from "vitest";
import { z } from "zod";
import { Agent, type RunResult, type Tool, tool } from "../../src/index.ts";
import { type ScriptedToolCall, scriptedModel } from "../../src/testing/index.ts";
import { bothWays, type Scene } from "../support/both-ways.ts";
import { calls, echo, echoing, glance } from "../support/cast.ts";

/** A tool that records every input it ran with. */
function counting() {
  const ran: string[] = [];
  const counted: Tool = tool({
    name: "counted",
    input: z.object({ n: z.number() }),
    execute: ({ n }) => {
      ran.push(`${n}`);
      return `result ${n}`;
    },
  });
  return { ran, counted };
}

const counted = (n: number, id?: string): ScriptedToolCall => ({
  name: "counted",
  input: { n },
  ...(id === undefined ? undefined : { id }),
});

function expectEachCallAnswered({ steps }: RunResult<unknown>): void {
  const ids = steps.flatMap((step) => step.toolCalls.map(({ toolCallId }) => toolCallId));
  expect(ids).not.toContain("");
  expect(new Set(ids).size).toBe(ids.length);
  for (const step of steps) {
    const expected = step.toolCalls.map((call) => `result ${(JSON.parse(call.inputText) as { n: number }).n}`);
    expect(step.toolResults.map(({ content }) => content)).toEqual(expected);
  }
}

describe("tool call ids from a provider", () => {
  const cases: readonly [string, readonly (readonly ScriptedToolCall[])[]][] = [
    ["empty ids", [[counted(1, ""), counted(2, "")]]],
    ["duplicated ids in one reply", [[counted(1, "x"), counted(2, "x"), counted(3, "x")]]],
    ["ids reused in a later step", [[counted(1, "x")], [counted(2, "x")], [counted(3, "x"), counted(4, "y")]]],
    [
      "empty, duplicated and reused ids at once",
      [
        [counted(1, ""), counted(2, "x"), counted(3, "x")],
        [counted(4, "x"), counted(5, "")],
      ],
    ],
    ["ids that look like ours", [[counted(1, "call_0_0")], [counted(2, "call_0_0"), counted(3, "__proto__")]]],
  ];

  for (const [name, rounds] of cases) {
    bothWays(`${name}: each call runs once and each result reaches its call`, async ({ play }) => {
      const { ran, counted: target } = counting();
      const agent = new Agent({
        model: scriptedModel([...rounds.map((round) => calls(...round)), "Ok."]),
        tools: [target],
      });
      const result = await play(agent, "Go");
      expect(ran).toEqual(rounds.flat().map((call) => `${(call.input as { n: number }).n}`));
      expectEachCallAnswered(result);
    });
  }

  bothWays("an id that was used in an earlier turn is replaced", async ({ play }) => {
    const { counted: target } = counting();
    const model = scriptedModel([calls(counted(1, "x")), "Ok.", calls(counted(2, "x")), "Ok."]);
    const agent = new Agent({ model, tools: [target] });
    const first = await play(agent, "One");
    const second = await play(agent, [...first.state.messages, { role: "user", content: "Two" }]);
    expect(second.steps[0]?.toolCalls[0]?.toolCallId).not.toBe("x");
  });

  bothWays("bad ids in a reply with reasoning are not sent back to the provider", async ({ play }) => {
    const { counted: target } = counting();
    const model = scriptedModel([
      {
        reasoning: "Hm.",
        toolCalls: [counted(1, "x"), counted(2, "x"), { name: "counted", arguments: '{"n": 3', id: "" }],
      },
      { reasoning: "Again.", toolCalls: [counted(4, "x")] },
      "Ok.",
    ]);
    const { output } = await play(new Agent({ model, tools: [target] }), "Go");
    expect(output).toBe("Ok.");
  });
});

describe("a bad call becomes one clear result, and the run continues", () => {
  const cases: readonly [string, ScriptedToolCall, RegExp][] = [
    ["truncated JSON", { name: "echo", arguments: '{"text": "he' }, /not valid JSON/],
    ["spliced JSON", { name: "echo", arguments: '{"text":"a"}{"text":"b"}' }, /not valid JSON/],
    [
      "JSON nested too deep",
      { name: "echo", arguments: `{"text":${"[".repeat(9_000)}${"]".repeat(9_000)}}` },
      /too deep/,
    ],
    ["prose instead of JSON", { name: "echo", arguments: "say hello" }, /not valid JSON/],
    ["JSON that is not an object", { name: "echo", arguments: '["a"]' }, /not a JSON object/],
    ["null", { name: "echo", arguments: "null" }, /not a JSON object/],
    ["a wrong type", { name: "echo", input: { text: 7 } }, /text: .*string/],
    ["a missing field", { name: "echo", input: {} }, /text/],
    ["an unknown tool", { name: "shout", input: { text: "a" } }, /no tool "shout".*"echo"/],
    ["a tool without a name", { name: "", input: {} }, /no tool ""/],
    [
      "a name that no provider accepts",
      { name: "functions.echo:0", input: { text: "a" } },
      /no tool "functions\.echo:0"/,
    ],
    ["a name inherited from Object.prototype", { name: "__proto__", input: {} }, /no tool "__proto__"/],
  ];

  for (const [name, bad, problem] of cases) {
    bothWays(name, async ({ play }) => {
      const model = scriptedModel([calls(bad, echoing("fine")), "Recovered."]);
      const result = await play(new Agent({ model, tools: [echo] }), "Go");
      const [first, second] = result.steps[0]?.toolResults ?? [];
      expect(result).toMatchObject({ output: "Recovered.", outcome: { status: "completed" } });
      expect(first).toMatchObject({ isError: true, content: expect.stringMatching(problem) });
      expect(second).toMatchObject({ isError: false, content: "echo fine" });
      expectNothingRaw(result);
    });
  }

  const node = { type: "object", properties: { next: { $ref: "#" }, word: { type: "string", pattern: "^(a+)+$" } } };
  const nested = (levels: number): object => (levels === 1 ? {} : { next: nested(levels - 1) });

  for (const [name, input, problem] of [
    ["a value nested too deep to be validated", nested(500), "is nested more than 192 levels deep"],
    [
      "a text for which the schema's pattern takes too long",
      { word: `${"a".repeat(60)}!` },
      "cannot be checked within 100 ms",
    ],
    ["a value that does not fit a recursive schema", { next: { next: 5 } }, "next.next must be object, not number"],
  ] as const) {
    bothWays(name, async ({ play }) => {
      const tree = tool({ name: "tree", input: node, execute: () => "grown" });
      const model = scriptedModel([calls({ name: "tree", input }, { name: "tree", input: nested(50) }), "Recovered."]);
      const result = await play(new Agent({ model, tools: [tree] }), "Go");
      expect(result).toMatchObject({ output: "Recovered.", outcome: { status: "completed" } });
      expect(result.steps[0]?.toolResults).toMatchObject([
        { isError: true, content: expect.stringContaining(`- ${problem}`) },
        { isError: false, content: "grown" },
      ]);
    });
  }

  bothWays("empty arguments count as an empty input", async ({ play }) => {
    const idle = tool({ name: "idle", execute: () => "idle" });
    const model = scriptedModel([calls({ name: "idle", arguments: "" }), "Ok."]);
    const { steps } = await play(new Agent({ model, tools: [idle] }), "Go");
    expect(steps[0]?.toolResults[0]).toMatchObject({ content: "idle", isError: false });
  });

  bothWays("the step keeps the arguments as the model wrote them", async ({ play }) => {
    const model = scriptedModel([calls({ name: "echo", arguments: '{"text": "he' }), "Ok."]);
    const { steps } = await play(new Agent({ model, tools: [echo] }), "Go");
    expect(steps[0]?.toolCalls[0]?.inputText).toBe('{"text": "he');
  });
});

// Checks that every provider would accept the calls in the stored messages.
function expectNothingRaw({ messages }: RunResult<unknown>): void {
  for (const message of messages.all()) {
    if (message.role !== "assistant") continue;
    for (const { function: called } of message.tool_calls ?? []) {
      expect(called.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
      expect(JSON.parse(called.arguments)).toBeTypeOf("object");
      expect(Array.isArray(JSON.parse(called.arguments))).toBe(false);
    }
  }
}

async function playThousand({ play }: Scene) {
  const { ran, counted: target } = counting();
  const many = Array.from({ length: 1000 }, (_, n) => counted(n, n % 3 === 0 ? "same" : n % 3 === 1 ? "" : `id${n}`));
  const agent = new Agent({ model: scriptedModel([calls(...many), "Phew."]), tools: [target] });
  return { ran, result: await play(agent, "Go") };
}

bothWays("1,000 calls in one reply run once each and are answered in order", async (scene) => {
  const { ran, result } = await playThousand(scene);
  expect(new Set(ran).size).toBe(1000);
  expect(ran).toHaveLength(1000);
  expectEachCallAnswered(result);
  expect(result.output).toBe("Phew.");
});

bothWays("a model that only ever makes bad calls is stopped by the step limit", async ({ play }) => {
  const model = scriptedModel(() => calls({ name: "echo", arguments: "{" }));
  const { outcome, steps } = await play(new Agent({ model, tools: [echo] }), "Go");
  expect(outcome).toMatchObject({ status: "stopped", reason: "step-limit" });
  expect(steps).toHaveLength(20);
});

bothWays("an empty reply is an empty answer, not a failure", async ({ play }) => {
  const model = scriptedModel([{}, "More."]);
  const agent = new Agent({ model });
  const first = await play(agent, "Go");
  expect(first).toMatchObject({ output: "", outcome: { status: "completed" } });
  const second = await play(agent, [...first.state.messages, { role: "user", content: "Well?" }]);
  expect(glance(model.requests[1]?.messages ?? [])).toEqual(["user: Go", "user: Well?"]);
  expect(second.output).toBe("More.");
});
