// A failed run rejects with a coded error that holds everything done so far. Misuse is refused at once, with a sentence.
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  Agent,
  AgentBuilder,
  AgentState,
  isOffstageError,
  OffstageError,
  type Processor,
  reactDriver,
  tool,
  user,
} from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echo, echoing, glance, quietMemory } from "../support/cast.ts";

const fast = { initialDelayMs: 1, maxDelayMs: 5 };
const agentOf = (script: readonly ScriptEntry[], options = {}) =>
  new Agent({ model: scriptedModel(script), tools: [echo], retry: fast, ...options });

describe("a model that fails", () => {
  bothWays("fails the run with model-failed, the cause, and the result so far", async ({ fail }) => {
    const down = new Error("the server is down");
    const error = await fail(agentOf([calls(echoing("a")), down]), "Go");
    expect(error).toBeInstanceOf(OffstageError);
    expect(error).toMatchObject({
      code: "model-failed",
      cause: down,
      message: expect.stringMatching(/"scripted".*step 2.*the server is down/),
    });
    const { state, steps, usage, outcome, messages } = error.result;
    expect(outcome).toMatchObject({ status: "failed", reason: "model-failed" });
    expect(steps).toHaveLength(1);
    expect(usage.totalTokens).toBe(15);
    expect(glance(messages.all())).toEqual(["user: Go", "assistant: [echo]", "tool: echo a"]);
    expect(state.status).toBe("failed");
  });

  bothWays("leaves a state from which the run can be tried again", async ({ fail }) => {
    const agent = agentOf([new Error("down"), "Up again."]);
    const { result } = await fail(agent, "Go");
    const state = await agent.execute(result.state);
    expect(glance(state.messages)).toEqual(["user: Go", "assistant: Up again."]);
  });

  bothWays("causes an error that does not print the result of the run", async ({ fail }) => {
    const error = await fail(agentOf([new Error("down")]), "Go");
    expect(Object.keys(error)).not.toContain("result");
    expect(isOffstageError(error, "model-failed")).toBe(true);
  });

  bothWays("with something other than an Error fails the run with model-failed too", async ({ fail }) => {
    const model = scriptedModel([]);
    const odd = {
      ...model,
      doGenerate: () => Promise.reject("just words"),
      doStream: () => Promise.reject("just words"),
    };
    const error = await fail(new Agent({ model: odd }), "Go");
    expect(error).toMatchObject({
      code: "model-failed",
      cause: "just words",
      message: expect.stringContaining("just words"),
    });
  });
});

describe("a model call", () => {
  const retried: readonly [string, Error][] = [
    ["an error marked isRetryable", Object.assign(new Error("e"), { isRetryable: true })],
    ["status 408", Object.assign(new Error("e"), { statusCode: 408 })],
    ["status 409", Object.assign(new Error("e"), { statusCode: 409 })],
    ["status 429", Object.assign(new Error("e"), { status: 429 })],
    ["status 500", Object.assign(new Error("e"), { statusCode: 500 })],
    ["status 529", Object.assign(new Error("e"), { statusCode: 529 })],
    ["a reset connection", Object.assign(new Error("e"), { code: "ECONNRESET" })],
    [
      "an error caused by a network error",
      new TypeError("fetch failed", { cause: Object.assign(new Error("e"), { code: "ETIMEDOUT" }) }),
    ],
    [
      "status 429 with a short retry-after",
      Object.assign(new Error("e"), { statusCode: 429, responseHeaders: { "retry-after-ms": "2" } }),
    ],
  ];
  for (const [name, error] of retried) {
    bothWays(`is retried after ${name}`, async ({ play }) => {
      const result = await play(agentOf([error, error, "Hi."]), "Go");
      expect(result.output).toBe("Hi.");
      expect(result.steps).toHaveLength(1);
    });
  }

  const final: readonly [string, Error][] = [
    ["a plain Error", new Error("e")],
    ["a TypeError", new TypeError("x is not a function")],
    ["status 400", Object.assign(new Error("e"), { statusCode: 400 })],
    ["status 401", Object.assign(new Error("e"), { statusCode: 401 })],
    ["an error marked as not retryable", Object.assign(new Error("e"), { isRetryable: false, statusCode: 500 })],
    [
      "status 429 with a retry-after above the maximum delay",
      Object.assign(new Error("e"), { statusCode: 429, responseHeaders: { "retry-after": "3600" } }),
    ],
  ];
  for (const [name, error] of final) {
    bothWays(`is not retried after ${name}`, async ({ fail }) => {
      const model = scriptedModel([error, "Never."]);
      await fail(new Agent({ model, retry: fast }), "Go");
      expect(model.callCount).toBe(1);
    });
  }

  bothWays("is retried at most maxRetries times", async ({ fail }) => {
    const busy = Object.assign(new Error("busy"), { statusCode: 503 });
    const model = scriptedModel(() => busy);
    const error = await fail(new Agent({ model, retry: { ...fast, maxRetries: 3 } }), "Go");
    expect({ calls: model.callCount, code: error.code, cause: error.cause }).toEqual({
      calls: 4,
      code: "model-failed",
      cause: busy,
    });
  });

  bothWays("beyond the end of the script fails with script-exhausted", async ({ fail }) => {
    expect(await fail(agentOf([calls(echoing("a"))]), "Go")).toMatchObject({ code: "script-exhausted" });
  });
});

describe("failing user code", () => {
  const boom = () => {
    throw new Error("boom");
  };
  const cases: readonly [string, object, string][] = [
    ["a processor that throws before the step", { processors: [boom] }, "processor-failed"],
    [
      "a processor that throws after the step",
      { processors: [(async (state, next) => boom.call(await next(state))) satisfies Processor] },
      "processor-failed",
    ],
    ["a processor that returns nothing", { processors: [() => undefined] }, "processor-failed"],
    [
      "a processor that returns a plain object as its state",
      { processors: [(() => ({ stepCount: 1 })) as never] },
      "processor-failed",
    ],
    ["a processor that never calls next", { processors: [((state) => state) satisfies Processor] }, "processor-failed"],
    ["a criterion that throws", { stopWhen: boom }, "criterion-failed"],
    ["a criterion that rejects", { stopWhen: async () => boom() }, "criterion-failed"],
    ["a driver that throws", { driver: { ...reactDriver(), read: boom } }, "run-failed"],
    [
      "a memory that returns invalid messages",
      { memory: { ...quietMemory(), getMessages: async () => [7] } },
      "invalid-message",
    ],
    ["instructions that throw", { instructions: boom }, "run-failed"],
    ["instructions that return a number", { instructions: () => 7 }, "invalid-argument"],
  ];
  for (const [name, options, code] of cases) {
    bothWays(`${name}: the run fails with ${code} and the result so far`, async ({ fail }) => {
      const error = await fail(agentOf(["Hi."], options), "Go");
      expect(error.code).toBe(code);
      expect(error.result.outcome.status).toBe("failed");
      expect(error.message).toMatch(/boom|did not return|must be text|getMessages/);
    });
  }

  bothWays("a criterion that throws does not lose the tokens used before", async ({ fail }) => {
    const stopWhen = (state: AgentState) => (state.stepCount > 0 ? boom() : undefined);
    expect((await fail(agentOf(["Hi."], { stopWhen }), "Go")).result.usage.totalTokens).toBe(15);
  });
});

describe("misuse is refused with a sentence", () => {
  const agent = agentOf([]);
  const model = scriptedModel([]);
  const wrong = (value: unknown) => value as never;

  const rejected: readonly [string, () => Promise<unknown>, RegExp][] = [
    ["run without input", () => agent.run(wrong(undefined)), /must be text, a message or a list/],
    ["run with null", () => agent.run(wrong(null)), /found null/],
    ["run with a number", () => agent.run(wrong(7)), /found 7/],
    ["stream with a number", () => agent.stream(wrong(7)).result, /found 7/],
    ["run with a message without a role", () => agent.run(wrong({ content: "x" })), /role/],
    [
      "run with a message with an unknown role",
      () => agent.run(wrong([{ role: "wizard", content: "x" }])),
      /input.*role/,
    ],
    ["run with an empty list", () => agent.run([]), /nothing to answer/],
    ["execute without a state", () => agent.execute(wrong({})), /needs an AgentState/],
    ["execute with an empty state", () => agent.execute(AgentState.empty()), /nothing to answer/],
    ["maxSteps 0", () => agent.run("Go", { maxSteps: 0 }), /"maxSteps" must be a whole number of at least 1/],
  ];
  for (const [name, act, sentence] of rejected) test(name, () => expect(act()).rejects.toThrow(sentence));

  const thrown: readonly [string, () => unknown, RegExp][] = [
    ["an agent without options", () => new Agent(wrong(undefined)), /model/],
    ["an agent without a model", () => new Agent(wrong({})), /"model" must be a language model/],
    [
      "an agent with the name of a model instead of a model",
      () => new Agent({ model: wrong("gpt-5") }),
      /the text "gpt-5"/,
    ],
    ["an agent with an empty name", () => new Agent({ model, name: "" }), /"name" must be text/],
    [
      "an agent with a fractional maxParallelTools",
      () => new Agent({ model, maxParallelTools: 0.5 }),
      /"maxParallelTools" must be/,
    ],
    ["an agent with a fractional keepMessages", () => new Agent({ model, keepMessages: 0.5 }), /"keepMessages"/],
    [
      "an agent with two tools of the same name",
      () => new Agent({ model, tools: [echo, echo] }),
      /Two tools have the name "echo"/,
    ],
    [
      "an agent with a tool that was not made by tool()",
      () => new Agent({ model, tools: [wrong({ name: "x" })] }),
      /made with tool/,
    ],
    ["an agent whose output is not a schema", () => new Agent({ model, output: wrong(7) }), /schema/],
    ["a builder without a model", () => AgentBuilder.base().build(), /withModel/],
    ["a tool without a name", () => tool(wrong({ execute: () => 1 })), /name must be/],
    ["a tool with a space in its name", () => tool({ name: "a b", execute: () => 1 }), /found "a b"/],
    ["a tool without an execute function", () => tool(wrong({ name: "x" })), /needs an execute function/],
    ["a tool with a timeout of 0", () => tool({ name: "x", timeoutMs: 0, execute: () => 1 }), /"timeoutMs"/],
    [
      "a tool whose input is not a schema",
      () => tool({ name: "x", input: wrong(7), execute: () => 1 }),
      /neither a Standard Schema/,
    ],
    [
      "a tool whose input schema is not an object",
      () => tool({ name: "x", input: z.string(), execute: () => 1 }),
      /object/,
    ],
  ];
  for (const [name, act, sentence] of thrown) {
    test(name, () => {
      expect(act).toThrow(sentence);
    });
  }

  test("run() refuses invalid options before it listens to the caller's signal", async () => {
    const controller = new AbortController();
    await expect(agent.run("Go", { maxSteps: -1, signal: controller.signal })).rejects.toThrow(
      expect.objectContaining({ code: "invalid-argument" }),
    );
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  test("system messages and foreign metadata in the input are accepted", async () => {
    const open = new Agent({ model: scriptedModel(["Hi."]) });
    const result = await open.run([
      { role: "system", content: "Be kind." },
      user("Hello", { metadata: { source: "mail" } }),
    ]);
    expect(result.state.messages.at(1)?.metadata).toMatchObject({ source: "mail", runId: result.runId });
  });
});
