// A stream can be aborted, read by two readers, and awaited until its run has begun. After an abort the result so far is kept.
import { describe, expect, test } from "vitest";
import {
  Agent,
  type AgentEvent,
  type AgentStream,
  InMemorySession,
  memoryStore,
  PersistentSession,
  type RunResult,
  user,
} from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, deaf, echo, echoing, glance, patient, pause } from "../support/cast.ts";

const agentOf = (script: readonly ScriptEntry[]) =>
  new Agent({ model: scriptedModel(script), tools: [echo, deaf, patient] });

const read = (stream: AgentStream<unknown>): Promise<AgentEvent[]> => collect(stream);

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

const resultOf = (error: unknown) => (error as { result?: RunResult }).result;

describe("stream.abort", () => {
  test("ends the run with an AbortError; its reader gets every event up to run-end", async () => {
    const stream = agentOf([calls({ name: "patient" })]).stream("Go");
    const events: AgentEvent[] = [];
    const thrown = await (async () => {
      for await (const event of stream) {
        events.push(event);
        if (event.type === "tool-start") stream.abort();
      }
    })().catch((error: unknown) => error);
    expect(thrown).toMatchObject({ name: "AbortError" });
    expect(events.at(-1)).toMatchObject({ type: "run-end", outcome: { status: "stopped", reason: "aborted" } });
    await expect(stream.result).rejects.toBe(thrown);
  });

  test("rejects with the reason that was passed", async () => {
    const reason = new Error("The user pressed stop.");
    const stream = agentOf([calls({ name: "deaf" })]).stream("Go");
    stream.abort(reason);
    await expect(stream.result).rejects.toBe(reason);
    await expect(stream.started).rejects.toBe(reason);
  });

  test("changes nothing once the run has ended, or if its options were refused", async () => {
    const stream = agentOf(["Hi."]).stream("Go");
    await stream.result;
    stream.abort();
    expect((await stream.result).output).toBe("Hi.");
    const refused = agentOf([]).stream("");
    refused.abort();
    await expect(refused.result).rejects.toMatchObject({ code: "invalid-argument" });
  });

  test("aborts a resumed run too", async () => {
    const store = memoryStore();
    const agent = new Agent({
      model: scriptedModel([calls({ name: "gate" }), calls({ name: "patient" })]),
      tools: [{ ...patient, name: "gate", needsApproval: true }, patient],
    });
    const { runId, approvals } = await agent.run("Go", { session: store.session("s") });
    const stream = agent.resumeStream(runId, { store, approve: [approvals[0]?.toolCallId ?? ""] });
    await stream.started;
    stream.abort();
    await expect(stream.result).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("the result of an aborted run", () => {
  bothWays("is carried by the reason of the abort, which stays the same object", async ({ play }) => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const playing = play(agentOf([calls(echoing("a")), calls({ name: "patient" })]), "Go", {
      signal: controller.signal,
    });
    await pause(10);
    controller.abort(reason);
    const thrown = await playing.catch((error: unknown) => error);
    expect(thrown).toBe(reason);
    const result = resultOf(thrown);
    expect(result?.outcome).toMatchObject({ status: "stopped", reason: "aborted" });
    expect(result?.steps).toHaveLength(1);
    expect(glance(result?.messages.all() ?? [])).toEqual([
      "user: Go",
      "assistant: [echo]",
      "tool: echo a",
      "assistant: [patient]",
    ]);
    expect(result?.usage.totalTokens).toBeGreaterThan(0);
    expect(Object.keys(reason)).toEqual([]);
  });

  test("is carried by an AbortError and by a timeout, and has the text so far", async () => {
    const stream = agentOf(["One two three four."]).stream("Go");
    for await (const piece of stream.text) if (piece === "two ") break;
    const left = await stream.result.catch((error: unknown) => error);
    expect(resultOf(left)).toMatchObject({ runId: stream.runId, text: "One two " });
    const timedOut = await agentOf([calls({ name: "patient" })])
      .run("Go", { signal: AbortSignal.timeout(10) })
      .catch((error: unknown) => error);
    expect(timedOut).toMatchObject({ name: "TimeoutError" });
    expect(resultOf(timedOut)?.outcome.reason).toBe("aborted");
  });

  test("is the parent's, not its subagent's", async () => {
    const child = new Agent({ name: "child", model: scriptedModel([calls({ name: "patient" })]), tools: [patient] });
    const model = scriptedModel([calls({ name: "child", input: { prompt: "x" } })]);
    const stream = new Agent({ name: "parent", model, tools: [child.asTool()] }).stream("Go");
    await pause(10);
    stream.abort();
    const result = resultOf(await stream.result.catch((error: unknown) => error));
    expect([result?.agent, result?.children[0]?.agent]).toEqual(["parent", "child"]);
  });

  const odd: readonly [string, unknown][] = [
    ["text", "stop"],
    ["a frozen object", Object.freeze({ code: 7 })],
    ["an object with a result of its own", { result: "mine" }],
    [
      "an object whose result throws",
      Object.defineProperty({}, "result", {
        get: () => {
          throw new Error("no");
        },
      }),
    ],
  ];
  test.for(odd)("leaves the reason as it is if that is %s", async ([, reason]) => {
    const ended: RunResult<unknown>[] = [];
    const agent = new Agent({
      model: scriptedModel([calls({ name: "patient" })]),
      tools: [patient],
      hooks: { onRunEnd: ({ result }) => void ended.push(result) },
    });
    const stream = agent.stream("Go");
    stream.abort(reason);
    expect(await stream.result.catch((error: unknown) => error)).toBe(reason);
    expect(ended[0]?.outcome.reason).toBe("aborted");
    if (
      typeof reason === "object" &&
      reason !== null &&
      Object.hasOwn(reason, "result") &&
      !Object.getOwnPropertyDescriptor(reason, "result")?.get
    )
      expect(reason).toEqual({ result: "mine" });
  });
});

describe("stream.tee", () => {
  test("gives two readers the same events, each at its own pace", async () => {
    const [first, second] = agentOf([calls(echoing("a")), "Done it is."])
      .stream("Go")
      .tee();
    const early = await read(first);
    const late = await read(second);
    expect(late).toEqual(early);
    expect([early[0]?.type, early.at(-1)?.type]).toEqual(["run-start", "run-end"]);
    expect(await second.result).toBe(await first.result);
  });

  test("returns the stream itself and a second reader of the same run", async () => {
    const stream = agentOf(["One two."]).stream("Go");
    const [same, second] = stream.tee();
    expect([same === stream, second.runId]).toEqual([true, stream.runId]);
    const [, third] = second.tee();
    const texts = await Promise.all([stream, second, third].map((each) => collect(each.text)));
    expect(texts).toEqual([
      ["One ", "two."],
      ["One ", "two."],
      ["One ", "two."],
    ]);
  });

  test("in the middle gives the second reader what the first has not read yet", async () => {
    const stream = agentOf(["One two three."]).stream("Go");
    const iterator = stream.text[Symbol.asyncIterator]();
    await iterator.next();
    const [, second] = stream.tee();
    expect((await collect(second.text)).join("")).toBe("two three.");
    expect((await iterator.next()).value).toBe("two ");
  });

  test("lets one reader leave; the run is aborted when the last one leaves", async () => {
    const [first, second] = agentOf([calls({ name: "patient" })])
      .stream("Go")
      .tee();
    for await (const event of first) if (event.type === "run-start") break;
    const types: string[] = [];
    for await (const event of second) {
      types.push(event.type);
      if (event.type === "tool-start") break;
    }
    expect(types.at(-1)).toBe("tool-start");
    await expect(first.result).rejects.toMatchObject({ name: "AbortError" });
  });

  test("throws the failure of the run in both loops", async () => {
    const [first, second] = agentOf([new Error("down")])
      .stream("Go")
      .tee();
    await expect(read(first)).rejects.toMatchObject({ code: "model-failed" });
    await expect(read(second)).rejects.toMatchObject({ code: "model-failed" });
    const [, third] = first.tee();
    await expect(read(third)).rejects.toMatchObject({ code: "model-failed" });
  });

  test("of a stream that was left gives an empty reader", async () => {
    const stream = agentOf(["One two."]).stream("Go");
    for await (const event of stream) if (event.type === "run-start") break;
    const [, second] = stream.tee();
    expect(await read(second)).toEqual([]);
  });
});

describe("stream.started", () => {
  test("resolves when the session is held and the message is durable, before the answer", async () => {
    const store = memoryStore();
    const stream = agentOf([calls({ name: "patient" })]).stream("Go", { session: store.session("s") });
    await stream.started;
    expect(await store.session("s").getItems()).toMatchObject([{ role: "user", content: "Go" }]);
    expect(await store.runs.list()).toMatchObject([{ runId: stream.runId, status: "running" }]);
    stream.abort();
    await expect(stream.result).rejects.toMatchObject({ name: "AbortError" });
  });

  test("rejects with session-busy, with the same error as the result", async () => {
    const session = await PersistentSession.inMemory("s");
    const agent = agentOf([calls({ name: "patient" })]);
    const first = agent.stream("Go", { session });
    await first.started;
    const second = agent.stream("Go", { session, onBusy: "reject" });
    const error = await second.started.catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "session-busy" });
    await expect(second.result).rejects.toBe(error);
    first.abort();
    await first.result.catch(() => undefined);
    await session.close();
  });

  test("waits for the session if the run is queued", async () => {
    const session = new InMemorySession();
    const agent = agentOf([calls({ name: "patient" }), "Hi."]);
    const first = agent.stream("Go", { session });
    await first.started;
    const second = agent.stream("Next", { session });
    expect(await Promise.race([second.started.then(() => "started"), pause(20).then(() => "queued")])).toBe("queued");
    first.abort();
    await second.started;
    expect((await second.result).output).toBe("Hi.");
  });

  test("rejects if the options are refused, and is never an unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    const stream = agentOf([]).stream("", {});
    await pause(5);
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
    await expect(stream.started).rejects.toMatchObject({ code: "invalid-argument" });
  });

  test("resolves for input that a guardrail blocks, and without a session", async () => {
    const blocks = { name: "no", check: () => false };
    const stream = new Agent({ model: scriptedModel([]), inputGuardrails: [blocks] }).stream(user("Go"));
    await stream.started;
    expect((await stream.result).outcome.reason).toBe("guardrail");
  });
});
