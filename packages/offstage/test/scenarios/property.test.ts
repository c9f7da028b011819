// A property test: for any script of replies and any tool behaviour, run and stream do and keep the same.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  Agent,
  type AgentOptions,
  type Message,
  type RunResult,
  reactDriver,
  repairMessages,
  tool,
} from "../../src/index.ts";
import { type ScriptEntry, type ScriptedReply, scriptedModel } from "../../src/testing/index.ts";
import { fullOrFifth } from "../support/full-or-fifth.ts";

const toolName = fc.constantFrom("ok", "fails", "odd", "nobody", "bad name!", "");
const callArguments = fc.oneof(
  fc.constantFrom("{}", "", "{", '{"n":1}', '{"n":1}{"n":2}', "null", "[1]", '"x"'),
  fc.json({ maxDepth: 1 }),
);
const someCall = fc.record(
  { name: toolName, arguments: callArguments, id: fc.constantFrom("", "a", "b", "c") },
  { requiredKeys: ["name", "arguments"] },
);
const words = fc.constantFrom(
  "",
  " ",
  "Hello there.",
  "Thought: x",
  "Action: ok\nAction Input: {}",
  "Final Answer: yes",
  '{"n":1}',
  "ünï 🎭",
);
const reply: fc.Arbitrary<ScriptedReply> = fc.record(
  {
    text: words,
    reasoning: words,
    toolCalls: fc.array(someCall, { maxLength: 4 }),
    usage: fc.record({ inputTokens: fc.nat(50), outputTokens: fc.nat(50), cachedInputTokens: fc.nat(9) }),
    finishReason: fc.constantFrom("stop", "length", "tool-calls", "content-filter"),
  },
  { requiredKeys: [] },
);
const failure = fc.constantFrom("plain", "busy");
const script = fc.array(fc.oneof({ weight: 8, arbitrary: reply }, { weight: 1, arbitrary: failure }), { maxLength: 6 });
const settings = fc.record({
  separateToolTrace: fc.boolean(),
  isReact: fc.boolean(),
  isStructured: fc.boolean(),
  isGuarded: fc.boolean(),
  maxSteps: fc.integer({ min: 1, max: 5 }),
  maxParallelTools: fc.integer({ min: 1, max: 3 }),
});

type Case = { readonly script: readonly (ScriptedReply | string)[]; readonly settings: Settings };
type Settings = typeof settings extends fc.Arbitrary<infer T> ? T : never;

const tools = [
  tool({ name: "ok", execute: (input) => ({ input, list: [1, 2] }) }),
  tool({
    name: "fails",
    execute: async () => {
      throw new Error("no");
    },
  }),
  tool({
    name: "odd",
    input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    execute: ({ n }) => BigInt(Math.trunc(n)),
  }),
];

function agentOf({ script: replies, settings: given }: Case): Agent<unknown> {
  const { isReact, isStructured, isGuarded, ...options } = given;
  const entries = replies.map((each): ScriptEntry => {
    if (typeof each === "object") return each;
    return each === "busy" ? Object.assign(new Error("busy"), { statusCode: 503 }) : new Error("plain");
  });
  const all: AgentOptions<unknown> = {
    model: scriptedModel(entries),
    tools,
    retry: { initialDelayMs: 0 },
    ...options,
    ...(isReact ? { driver: reactDriver() } : undefined),
    ...(isStructured ? { output: { type: "object", properties: { n: { type: "number" } } } } : undefined),
    ...(isGuarded
      ? { outputGuardrails: [{ name: "polite", check: ({ text }) => !text.includes("Hello") }] }
      : undefined),
  };
  return new Agent(all);
}

async function observe(agent: Agent<unknown>, way: "run" | "stream"): Promise<unknown> {
  let error: { code?: string; message?: string; result?: RunResult<unknown> } | undefined;
  const started = way === "run" ? agent.run("Go", { tracing: false }) : agent.stream("Go", { tracing: false }).result;
  const result = await started.catch((reason) => {
    error = reason;
    return reason.result as RunResult<unknown>;
  });
  expect(repairMessages(result.messages.all().filter(isSaid))).toHaveLength(
    result.messages.all().filter(isSaid).length,
  );
  return plain({
    error: error && { code: error.code, message: error.message },
    output: result.output,
    text: result.text,
    outcome: result.outcome,
    usage: result.usage,
    steps: result.steps,
    messages: result.messages.all(),
    conversation: result.state.messages,
    buffer: result.state.executionBuffer,
    trips: result.guardrailTrips,
    tracked: agent.getMessages(),
  });
}

function isSaid(message: Message): boolean {
  return message.role !== "assistant" || Boolean(message.tool_calls?.length) || /\S/.test(String(message.content));
}

// Removes times and durations, and numbers generated ids in the order in which they first appear.
function plain(value: unknown): unknown {
  const seen = new Map<string, string>();
  const nameOf = (id: string) => {
    if (!seen.has(id)) seen.set(id, `id${seen.size}`);
    return seen.get(id) as string;
  };
  const text = JSON.stringify(value, (key, each: unknown) =>
    key === "createdAt" || key === "startedAt" || key === "durationMs" ? undefined : each,
  );
  const callIds = [...text.matchAll(/"(?:id|tool_call_id|toolCallId)":"([A-Za-z0-9]{9})"/g)].map(([, id]) => id);
  const ids = new RegExp(["[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", ...new Set(callIds)].join("|"), "g");
  return JSON.parse(text.replaceAll(ids, nameOf));
}

test("run and stream give the same outcome, messages, steps and usage", async () => {
  await fc.assert(
    fc.asyncProperty(script, settings, async (replies, given) => {
      const made = { script: replies, settings: given };
      expect(await observe(agentOf(made), "stream")).toEqual(await observe(agentOf(made), "run"));
    }),
    { numRuns: fullOrFifth(1000) },
  );
});
