// Hooks observe. They are called in order with their event, and nothing they do breaks a run.
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  Agent,
  AgentBuilder,
  AgentContext,
  type AgentHooks,
  type HookOptions,
  type Message,
  memoryStore,
  tool,
  user,
} from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { broken, calls, echo, echoing, pause } from "../support/cast.ts";

const names = [
  "onRunStart",
  "onStepStart",
  "onModelStart",
  "onModelRetry",
  "onModelEnd",
  "onToolStart",
  "onToolEnd",
  "onStepEnd",
  "onGuardrailTrip",
  "onMessageAdded",
  "onError",
  "onRunEnd",
] as const;

function recorder() {
  const heard: [string, Record<string, unknown>][] = [];
  const hooks: AgentHooks = Object.fromEntries(
    names.map((name) => [name, (event: Record<string, unknown>) => heard.push([name, event])]),
  );
  return { heard, hooks };
}

const script = [calls(echoing("a", "c1")), "Found it."];
const agentOf = (hooks?: AgentHooks) =>
  new Agent({ model: scriptedModel(script), tools: [echo, broken], ...(hooks && { hooks }) });

afterEach(() => vi.restoreAllMocks());

describe("hooks", () => {
  bothWays("are called in the order of the events", async ({ play }) => {
    const { heard, hooks } = recorder();
    await play(agentOf(), "Go", { hooks });
    expect(heard.map(([name]) => name)).toEqual([
      "onRunStart",
      "onMessageAdded",
      "onStepStart",
      "onModelStart",
      "onModelEnd",
      "onToolStart",
      "onToolEnd",
      "onMessageAdded",
      "onMessageAdded",
      "onStepEnd",
      "onStepStart",
      "onModelStart",
      "onModelEnd",
      "onMessageAdded",
      "onStepEnd",
      "onRunEnd",
    ]);
  });

  bothWays("receive the data of their event", async ({ play }) => {
    const { heard, hooks } = recorder();
    const result = await play(agentOf(), "Go", { hooks });
    const first = (name: string) => heard.find(([each]) => each === name)?.[1];
    const about = { runId: result.runId, agent: "agent" };
    expect(first("onRunStart")).toMatchObject({ ...about, input: [{ role: "user", content: "Go" }] });
    expect(first("onStepStart")).toMatchObject({ ...about, step: 1 });
    expect(first("onModelStart")).toMatchObject({ ...about, step: 1, provider: "offstage", modelId: "scripted" });
    expect(first("onModelEnd")).toMatchObject({
      ...about,
      step: 1,
      finishReason: "tool-calls",
      usage: { totalTokens: 15 },
    });
    expect(first("onToolStart")).toMatchObject({ ...about, step: 1, toolCallId: "c1", call: { toolName: "echo" } });
    expect(first("onToolEnd")).toMatchObject({ ...about, step: 1, toolName: "echo", result: { content: "echo a" } });
    expect(first("onMessageAdded")).toMatchObject({ ...about, message: { role: "user" } });
    expect(first("onStepEnd")).toMatchObject({ ...about, step: 1, result: { index: 1, isAnswer: false } });
    expect(first("onRunEnd")?.result).toBe(result);
  });

  bothWays("receive the very error that a tool threw, which is stored nowhere", async ({ play }) => {
    class SeatError extends Error {
      override readonly name = "SeatError";
    }
    const thrown = new SeatError("taken");
    const seats = tool({ name: "seats", execute: () => Promise.reject(thrown) });
    const told: unknown[] = [];
    const agent = new Agent({
      model: scriptedModel([calls({ name: "seats" }), "Sorry."]),
      tools: [seats],
      hooks: { onToolEnd: ({ result }) => void told.push(result.error) },
    });
    const { state, steps, trace } = await play(agent, "Book it", { tracing: {} });
    expect(told).toEqual([thrown]);
    expect(told[0]).toBe(thrown);
    expect(Object.keys(steps[0]?.toolResults[0] ?? {})).not.toContain("error");
    expect(JSON.stringify(state)).not.toContain("SeatError");
    const span = trace?.getSpans().find(({ kind }) => kind === "tool");
    expect(span?.metadata).toMatchObject({ isError: true, errorType: "SeatError" });
  });

  bothWays("share the context of the run with its tools", async ({ play }) => {
    const context = new AgentContext<{ tenant: string; seat?: string }>({ tenant: "north" });
    const book = tool({
      name: "book",
      execute: (_, { context }) => `${context.get("tenant")} ${context.set("seat", "7a").get("seat")}`,
    });
    const model = scriptedModel([calls({ name: "book" }), "Booked."]);
    const heard = new Map<string, AgentContext>();
    const hooks: AgentHooks = Object.fromEntries(
      names.map((name) => [name, (_: unknown, options: HookOptions) => heard.set(name, options.context)]),
    );
    const seats: unknown[] = [];
    const onToolEnd: AgentHooks["onToolEnd"] = (_, { context }) => seats.push(context.get("seat"));
    await play(new Agent({ model, tools: [book], hooks: { onToolEnd } }), "Book it", { context, hooks });
    expect(seats).toEqual(["7a"]);
    expect(heard.size).toBe(9);
    for (const each of heard.values()) expect(each).toBe(context);
  });

  bothWays("receive the context in onError too", async ({ play }) => {
    const onStepStart = () => Promise.reject(new Error("hook trouble"));
    const tenants: unknown[] = [];
    const onError: AgentHooks["onError"] = (_, { context }) => tenants.push(context.get("tenant"));
    await play(agentOf({ onStepStart, onError }), "Go", { context: { tenant: "north" } });
    await pause(1);
    expect(tenants).toEqual(["north", "north"]);
  });

  bothWays("of the agent and of the run are both called, the agent's first", async ({ play }) => {
    const order: string[] = [];
    const agent = agentOf({ onRunStart: () => order.push("agent"), onRunEnd: () => order.push("agent") });
    await play(agent, "Go", { hooks: { onRunStart: () => order.push("run"), onRunEnd: () => order.push("run") } });
    expect(order).toEqual(["agent", "run", "agent", "run"]);
  });

  bothWays("are called for a failed run: onError, then onRunEnd", async ({ fail }) => {
    const { heard, hooks } = recorder();
    const error = await fail(new Agent({ model: scriptedModel([new Error("down")]) }), "Go", { hooks });
    expect(heard.slice(-2).map(([name]) => name)).toEqual(["onError", "onRunEnd"]);
    expect(heard.at(-2)?.[1]).toMatchObject({ source: "run", error });
    expect(heard.at(-1)?.[1]).toMatchObject({ outcome: { status: "failed", reason: "model-failed" } });
  });

  bothWays("are called for an aborted run: onRunEnd, but not onError", async ({ play }) => {
    const { heard, hooks } = recorder();
    await play(agentOf(), "Go", { hooks, signal: AbortSignal.abort() }).catch(() => {});
    expect(heard.map(([name]) => name)).toEqual(["onRunStart", "onRunEnd"]);
    expect(heard.at(-1)?.[1]).toMatchObject({ outcome: { reason: "aborted" } });
  });
});

describe("a failing hook", () => {
  const kinds: readonly [string, () => unknown][] = [
    [
      "throws",
      () => {
        throw new Error("hook trouble");
      },
    ],
    [
      "rejects",
      async () => {
        throw new Error("hook trouble");
      },
    ],
    [
      "returns a thenable that rejects",
      // biome-ignore lint/suspicious/noThenProperty: exactly what is tested
      () => ({ then: (_: unknown, reject: (error: Error) => void) => reject(new Error("hook trouble")) }),
    ],
  ];

  for (const [kind, misbehave] of kinds) {
    bothWays(`that ${kind} is reported to onError and does not affect the run`, async ({ play }) => {
      const errors: unknown[] = [];
      const hooks = Object.fromEntries(names.filter((name) => name !== "onError").map((name) => [name, misbehave]));
      const result = await play(agentOf(), "Go", { hooks: { ...hooks, onError: (event) => errors.push(event) } });
      await pause(1);
      expect(result).toMatchObject({ output: "Found it.", outcome: { status: "completed" } });
      expect(errors).toContainEqual(
        expect.objectContaining({ source: "onToolStart", error: new Error("hook trouble"), runId: result.runId }),
      );
      expect(errors).toHaveLength(16);
    });

    bothWays(`that ${kind} is printed as a warning if there is no onError`, async ({ play }) => {
      const printed = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
      await play(agentOf({ onStepStart: misbehave }), "Go");
      await pause(1);
      expect(printed.mock.calls.map(([sentence]) => sentence)).toEqual(
        Array(2).fill('The hook "onStepStart" of agent "agent" failed: hook trouble'),
      );
    });
  }

  bothWays("that is onError itself is printed as a warning, and not called again", async ({ fail }) => {
    const printed = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    let called = 0;
    const onError = () => {
      called++;
      throw new Error("worse");
    };
    await fail(new Agent({ model: scriptedModel([new Error("down")]) }), "Go", { hooks: { onError } });
    expect({ called, printed: printed.mock.calls.length }).toEqual({ called: 1, printed: 1 });
  });

  bothWays("cannot change the run through their events", async ({ play }) => {
    const model = scriptedModel(script);
    const session = memoryStore().session("s");
    const change = (make: () => unknown) => expect(make).toThrow(TypeError);
    const hooks: AgentHooks = {
      onMessageAdded: ({ message }) => {
        change(() => Object.assign(message, { content: "changed" }));
        change(() => Object.assign(message.metadata ?? {}, { runId: "changed" }));
      },
      onToolStart: ({ call }) => change(() => Object.assign(call, { toolName: "broken", inputText: "{}" })),
      onStepEnd: ({ result }) => change(() => (result.messages as Message[]).push(user("changed"))),
    };
    const printed = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const { output, steps } = await play(new Agent({ model, tools: [echo, broken] }), "Go", { hooks, session });
    expect(printed).not.toHaveBeenCalled();
    expect(output).toBe("Found it.");
    expect(steps[0]?.toolResults[0]).toMatchObject({ toolName: "echo", isError: false });
    expect((await session.getItems()).map(({ content }) => content)).toEqual(["Go", "Found it."]);
    expect(JSON.stringify(model.requests)).not.toContain("changed");
  });

  bothWays("that hangs delays nothing", async ({ play }) => {
    const hooks = Object.fromEntries(names.map((name) => [name, () => new Promise(() => {})]));
    expect((await play(agentOf(), "Go", { hooks })).output).toBe("Found it.");
  });
});

test("hooks given to the builder are called", async () => {
  const { heard, hooks } = recorder();
  await AgentBuilder.base()
    .withModel(scriptedModel(["Hi."]))
    .withHooks(hooks)
    .build()
    .run("Go");
  expect(heard.at(-1)?.[0]).toBe("onRunEnd");
});
