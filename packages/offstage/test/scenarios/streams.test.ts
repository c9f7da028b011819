// A stream is the same run as events: in order, and safe to leave early, abandon or read slowly.
import { getEventListeners } from "node:events";
import { describe, expect, test, vi } from "vitest";
import type { CriterionFunction } from "../../src/doors/criteria.ts";
import { Agent, type AgentEvent, type AgentOptions, type AgentStream, isOffstageError } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { calls, deaf, echo, echoing, glance, patient, pause } from "../support/cast.ts";

const agentOf = (script: readonly ScriptEntry[]) =>
  new Agent({ model: scriptedModel(script), tools: [echo, deaf, patient] });

async function read(stream: AgentStream): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const fine = { name: "fine", check: () => true };
const onceMore: CriterionFunction = ({ stepCount }) =>
  stepCount === 1
    ? { decision: "continue", reason: "once-more", message: "Once more.", feedback: "Go on." }
    : undefined;

const talkative = { reasoning: "Let me think.", text: "I look.", toolCalls: [echoing("a", "c1")] };

describe("events", () => {
  test("arrive in the order in which things happen", async () => {
    const events = await read(agentOf([talkative, "Found it."]).stream("Go"));
    const types = events.map((event) =>
      "step" in event && event.step !== undefined ? `${event.type} ${event.step}` : event.type,
    );
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      "run-start",
      "message-added",
      "step-start 1",
      "model-start 1",
      "reasoning-delta 1",
      "text-delta 1",
      "tool-input-delta 1",
      "model-end 1",
      "tool-start 1",
      "tool-end 1",
      "message-added 1",
      "step-end 1",
      "step-start 2",
      "model-start 2",
      "text-delta 2",
      "model-end 2",
      "message-added 2",
      "step-end 2",
      "run-end",
    ]);
  });

  test("carry their data", async () => {
    const stream = agentOf([talkative, "Found it."]).stream("Go");
    const events = await read(stream);
    const { runId } = stream;
    const only = <Type extends AgentEvent["type"]>(type: Type) =>
      events.filter((event): event is Extract<AgentEvent, { type: Type }> => event.type === type);
    expect(events.every((event) => event.runId === runId && event.agent === "agent")).toBe(true);
    expect(only("run-start")[0]?.input).toMatchObject([{ role: "user", content: "Go" }]);
    expect(
      only("reasoning-delta")
        .map(({ delta }) => delta)
        .join(""),
    ).toBe("Let me think.");
    expect(only("text-delta").map(({ step, delta }) => `${step}:${delta}`)).toEqual([
      "1:I ",
      "1:look.",
      "2:Found ",
      "2:it.",
    ]);
    expect(only("tool-input-delta").map(({ toolName, delta }) => `${toolName} ${delta}`)).toEqual([
      'echo {"text":"a"}',
    ]);
    expect(only("tool-start")[0]).toMatchObject({
      toolCallId: "c1",
      toolName: "echo",
      call: { inputText: '{"text":"a"}' },
    });
    expect(only("tool-end")[0]).toMatchObject({ toolCallId: "c1", result: { content: "echo a", isError: false } });
    expect(only("step-end").map(({ result }) => result.index)).toEqual([1, 2]);
    expect(glance(only("message-added").map(({ message }) => message))).toEqual([
      "user: Go",
      "assistant: [echo] I look.",
      "tool: echo a",
      "assistant: Found it.",
    ]);
    expect(only("run-end")[0]?.result).toBe(await stream.result);
  });

  test("announce a retry before it is made", async () => {
    const agent = new Agent({
      model: scriptedModel([Object.assign(new Error("busy"), { status: 429 }), "Hi."]),
      retry: { initialDelayMs: 1 },
    });
    const events = await read(agent.stream("Go"));
    expect(events.find((event) => event.type === "model-retry")).toMatchObject({
      attempt: 1,
      step: 1,
      error: { message: "busy" },
    });
  });

  test.for([
    ["a reply that does not fit the output", { output: { jsonSchema: { type: "object" } } }],
    ["an answer that a criterion sends back", { stopWhen: [onceMore] }],
    [
      "an answer that a criterion sends back, held back for a guardrail",
      { stopWhen: [onceMore], outputGuardrails: [fine] },
    ],
  ] satisfies [string, Partial<AgentOptions<unknown>>][])("repeat no text of %s", async ([, options]) => {
    const model = scriptedModel(["One two.", '{ "three": 3 }']);
    const events = await read(new Agent({ model, ...options }).stream("Go") as AgentStream);
    const text = events.flatMap((event) => (event.type === "text-delta" ? [event.delta] : [])).join("");
    expect(text).toBe('One two.{ "three": 3 }');
  });

  test("of a failed run end with error and run-end, and then the iteration throws", async () => {
    const stream = agentOf([new Error("down")]).stream("Go");
    const events: AgentEvent[] = [];
    const thrown = await (async () => {
      for await (const event of stream) events.push(event);
    })().catch((error: unknown) => error);
    expect(events.slice(-2).map(({ type }) => type)).toEqual(["error", "run-end"]);
    expect(isOffstageError(thrown, "model-failed")).toBe(true);
    await expect(stream.result).rejects.toBe(thrown);
  });
});

describe("stream.text", () => {
  test("yields only the text, delta by delta", async () => {
    const pieces: string[] = [];
    const stream = agentOf(["One two three."]).stream("Count");
    for await (const piece of stream.text) pieces.push(piece);
    expect(pieces).toEqual(["One ", "two ", "three."]);
    expect((await stream.result).output).toBe("One two three.");
  });

  test("aborts the run if it is left early", async () => {
    const stream = agentOf(["One two three."]).stream("Count");
    for await (const piece of stream.text) if (piece === "One ") break;
    await expect(stream.result).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("a stream", () => {
  test("starts at once, whether it is read or not", async () => {
    const model = scriptedModel(["Hi."]);
    const stream = new Agent({ model }).stream("Go");
    await vi.waitFor(() => expect(model.callCount).toBe(1));
    expect((await stream.result).output).toBe("Hi.");
  });

  test("can be read only once", async () => {
    const stream = agentOf(["Hi."]).stream("Go");
    await read(stream);
    expect(() => stream[Symbol.asyncIterator]()).toThrow(expect.objectContaining({ code: "stream-consumed" }));
    await expect(read(stream)).rejects.toThrow(/read only once/);
    expect(() => stream.text[Symbol.asyncIterator]()).toThrow(/read only once/);
  });

  test("gives every event to a reader that calls next() ahead", async () => {
    const iterator = agentOf(["Hi."]).stream("Go")[Symbol.asyncIterator]();
    const ahead = await Promise.all(Array.from({ length: 12 }, () => iterator.next()));
    const types = ahead.map(({ value, done }) => (done ? "done" : value.type));
    expect(types.slice(0, 3)).toEqual(["run-start", "message-added", "step-start"]);
    expect(types.at(-1)).toBe("done");
  });

  test("that is read after its run has ended still gives every event", async () => {
    const stream = agentOf(["Hi."]).stream("Go");
    await stream.result;
    const types = (await read(stream)).map(({ type }) => type);
    expect([types[0], types.at(-1)]).toEqual(["run-start", "run-end"]);
  });

  test("does not mix with concurrent streams", async () => {
    const model = scriptedModel(async ({ messages }) => {
      await pause(Math.random() * 5);
      const asked = String(messages[0]?.content);
      return messages.length === 1 ? calls(echoing(asked)) : `${asked} it is`;
    });
    const agent = new Agent({ model, tools: [echo] });
    const streams = Array.from({ length: 20 }, (_, index) => agent.stream(`q${index}`));
    const all = await Promise.all(streams.map(read));
    for (const [index, events] of all.entries()) {
      expect(new Set(events.map(({ runId }) => runId)).size).toBe(1);
      const text = events.map((event) => (event.type === "text-delta" ? event.delta : "")).join("");
      expect(text).toBe(`q${index} it is`);
    }
  });
});

describe("leaving a stream", () => {
  const moments: readonly [string, AgentEvent["type"], ScriptEntry][] = [
    ["at the start", "run-start", "One two."],
    ["in the middle of the text", "text-delta", "One two three four."],
    ["while a tool runs", "tool-start", calls({ name: "deaf" })],
  ];

  for (const [moment, type, reply] of moments) {
    test(`${moment} aborts the run with an AbortError that is never an unhandled rejection`, async () => {
      const unhandled: unknown[] = [];
      const note = (error: unknown) => unhandled.push(error);
      process.on("unhandledRejection", note);
      const controller = new AbortController();
      const stream = agentOf([reply]).stream("Go", { signal: controller.signal });
      for await (const event of stream) if (event.type === type) break;
      await pause(10);
      process.off("unhandledRejection", note);
      expect(unhandled).toEqual([]);
      await expect(stream.result).rejects.toMatchObject({ name: "AbortError" });
      expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    });
  }

  test("by an error in the reader aborts the run, and the reader gets its own error", async () => {
    const stream = agentOf([calls({ name: "patient" })]).stream("Go");
    const reading = (async () => {
      for await (const event of stream) if (event.type === "tool-start") throw new Error("mine");
    })();
    await expect(reading).rejects.toThrow("mine");
    await expect(stream.result).rejects.toMatchObject({ name: "AbortError" });
  });

  test("at run-end does not abort the run, which has ended", async () => {
    const stream = agentOf(["Hi."]).stream("Go");
    for await (const event of stream) if (event.type === "run-end") break;
    expect((await stream.result).output).toBe("Hi.");
  });

  test("ends the iteration for good", async () => {
    const stream = agentOf([calls({ name: "deaf" })]).stream("Go");
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    const waiting = (async () => {
      for (;;) if ((await iterator.next()).done) return "done";
    })();
    await pause(5);
    await iterator.return?.();
    expect(await waiting).toBe("done");
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });
});

describe("an abandoned stream", () => {
  test("completes, and removes its listeners from the signal", async () => {
    const controller = new AbortController();
    const agent = agentOf([calls(echoing("a")), "Done."]);
    agent.stream("Go", { signal: controller.signal });
    await vi.waitFor(() => expect(glance(agent.getMessages()).at(-1)).toBe("assistant: Done."));
    await vi.waitFor(() => expect(getEventListeners(controller.signal, "abort")).toEqual([]));
  });

  test("that fails causes no unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    agentOf([new Error("down")]).stream("Go");
    await pause(20);
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  test("completes even if its reader has stopped reading", async () => {
    const agent = agentOf([calls(echoing("a")), "Done."]);
    const stream = agent.stream("Go");
    const iterator = stream[Symbol.asyncIterator]();
    await iterator.next();
    expect((await stream.result).output).toBe("Done.");
  });
});

describe("a reader", () => {
  const words = 20_000;
  const long = Array.from({ length: words }, (_, index) => `w${index}`).join(" ");

  async function lagging(agent: Agent): Promise<AgentEvent[]> {
    const stream = agent.stream("Go");
    await stream.result;
    return read(stream);
  }

  const textOf = (events: readonly AgentEvent[]): string =>
    events
      .map((event) => (event.type === "subagent-event" ? event.event : event))
      .map((event) => (event.type === "text-delta" || event.type === "reasoning-delta" ? event.delta : ""))
      .join("");

  test("that is slow gets fewer and longer text deltas, and loses no text", async () => {
    const events = await lagging(agentOf([long]));
    expect(events.length).toBeLessThan(1100);
    expect(textOf(events)).toBe(long);
  });

  test("that is slow gets fewer and longer reasoning deltas", async () => {
    const events = await lagging(agentOf([{ reasoning: long, text: "Ok." }]));
    expect(events.length).toBeLessThan(1100);
    expect(textOf(events)).toBe(`${long}Ok.`);
  });

  test("that is slow gets fewer and longer deltas of a subagent", async () => {
    const child = new Agent({ name: "child", model: scriptedModel([long]) });
    const model = scriptedModel([calls({ name: "child", input: { prompt: "x" } }), "Ok."]);
    const events = await lagging(new Agent({ model, tools: [child.asTool()] }));
    expect(events.length).toBeLessThan(1100);
    expect(textOf(events)).toBe(`${long}Ok.`);
  });

  test("that keeps up gets every delta unchanged", async () => {
    const events = await read(agentOf([long]).stream("Go"));
    expect(events.filter((event) => event.type === "text-delta")).toHaveLength(words);
  });
});
