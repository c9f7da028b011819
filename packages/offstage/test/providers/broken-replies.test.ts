// Replies that go wrong after they began: cut off, garbled, empty, too long. A partial reply never counts as an answer.
import { describe, expect, test } from "vitest";
import { anthropic, ask, cases, continueAfter, facesOf, failureOf, loopback, openAI } from "./loopback-agents.ts";

const streamed = [openAI, anthropic].map((provider) => facesOf(provider)[1]!);
const whole = { text: ["It ", "is ", "sunny."] };

describe.each(cases)("$name, $face", (provider) => {
  test.each(["end", "reset"] as const)("a reply cut off in the middle (%s) fails the run", async (ending) => {
    await using at = await loopback(provider, [{ begin: whole, events: 4, ending }, { text: ["Back."] }], {
      retry: { maxRetries: 0 },
    });
    const error = await failureOf(provider.play(at.agent, "Weather?"));
    expect(error.cause).toBeInstanceOf(Error);
    expect(await continueAfter(provider, at.agent, error.result)).toBe("Back.");
  });

  test("a reply cut off in the middle of a call runs no tool", async () => {
    const begin = { calls: [ask("c1", "Rome")] };
    await using at = await loopback(provider, [{ begin, events: 4, ending: "end" }, { text: ["Back."] }], {
      retry: { maxRetries: 0 },
    });
    const error = await failureOf(provider.play(at.agent, "Weather?"));
    expect(at.agent.getMessages().filter(({ role }) => role === "tool")).toEqual([]);
    expect(await continueAfter(provider, at.agent, error.result)).toBe("Back.");
  });

  test("an empty reply is an empty answer, and the conversation can continue", async () => {
    await using at = await loopback(provider, [{}, { text: ["Back."] }]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect([result.text, result.outcome.status]).toEqual(["", "completed"]);
    expect(await continueAfter(provider, at.agent, result)).toBe("Back.");
  });

  test("a reply that reached the length limit has the finish reason length", async () => {
    await using at = await loopback(provider, [{ text: ["It is su"], finish: "length" }, { text: ["Back."] }]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.text).toBe("It is su");
    expect(result.steps[0]?.finishReason).toBe("length");
    expect(await continueAfter(provider, at.agent, result)).toBe("Back.");
  });

  test("a call that reached the length limit gets an error result, and the run continues", async () => {
    const calls = [{ id: "c1", name: "weather", arguments: '{"city": "Ro' }];
    await using at = await loopback(provider, [{ calls, finish: "length" }, { text: ["Sorry."] }]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.steps[0]?.toolResults[0]).toMatchObject({ isError: true });
    expect(result.text).toBe("Sorry.");
  });

  test("arguments that are not a JSON object get an error result, and are sent back as an empty object", async () => {
    const broken = ["[1,2]", "not json", '"text"', "null", ""];
    const calls = broken.map((text, index) => ({ id: `c${index}`, name: "weather", arguments: text }));
    await using at = await loopback(provider, [{ calls }, { text: ["Sorry."] }]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.steps[0]?.toolResults.map(({ isError }) => isError)).toEqual(broken.map(() => true));
    expect(result.text).toBe("Sorry.");
  });
});

describe.each(streamed)("$name, stream", (provider) => {
  test("a stream that is cut off before any content is retried", async () => {
    await using at = await loopback(provider, [{ begin: whole, events: 1, ending: "reset" }, whole]);
    const { result, events } = await provider.play(at.agent, "Weather?");
    expect(result.text).toBe("It is sunny.");
    expect(events.filter(({ type }) => type === "model-retry")).toHaveLength(1);
  });

  test("a stream that is cut off after some content is not retried", async () => {
    await using at = await loopback(provider, [{ begin: whole, events: 4, ending: "reset" }]);
    await failureOf(provider.play(at.agent, "Weather?"));
    expect(at.server.requests).toHaveLength(1);
  });

  test.each([
    { what: "is not JSON", frame: "data: {oops\n\n" },
    { what: "has an unexpected shape", frame: 'data: {"surprise": [1]}\n\n' },
  ])("an event that $what fails the run", async ({ frame }) => {
    await using at = await loopback(provider, [{ begin: whole, events: 4, frames: [frame] }, { text: ["Back."] }]);
    const error = await failureOf(provider.play(at.agent, "Weather?"));
    expect(await continueAfter(provider, at.agent, error.result)).toBe("Back.");
  });

  test("an error event in the stream fails the run with the server's message", async () => {
    const error = { type: "overloaded_error", message: "Overloaded" };
    const frames = [`event: error\ndata: ${JSON.stringify({ type: "error", error })}\n\n`];
    await using at = await loopback(provider, [{ begin: whole, events: 4, frames }, { text: ["Back."] }]);
    const failure = await failureOf(provider.play(at.agent, "Weather?"));
    expect(failure.message).toMatch(/: Overloaded$/);
    expect(await continueAfter(provider, at.agent, failure.result)).toBe("Back.");
  });
});

describe.each(streamed)("$name, stream that fails but stays open", (provider) => {
  test("the connection is closed", async () => {
    const frames = ["data: {oops\n\n"];
    await using at = await loopback(provider, [{ begin: whole, events: 4, frames, ending: "hang" }]);
    await failureOf(provider.play(at.agent, "Weather?"));
    await at.server.hungUp;
  });
});

describe.each([facesOf(openAI)[1]!])("OpenAI-compatible, stream", (provider) => {
  test("an error event before any content is retried if its code is retryable", async () => {
    const failed = (code: number) => ({
      begin: whole,
      events: 1,
      frames: [`data: {"error":{"message":"no luck","code":${code}}}\n\n`],
    });
    await using at = await loopback(provider, [failed(502), whole, failed(400)]);
    expect((await provider.play(at.agent, "Weather?")).result.text).toBe("It is sunny.");
    await failureOf(provider.play(at.agent, "Weather?"));
  });
});

describe.each([facesOf(anthropic)[1]!])("Anthropic, stream", (provider) => {
  test("a stream that ends before any content is retried", async () => {
    const begin = { thoughts: [{ text: "Hm", signature: "S" }] };
    await using at = await loopback(provider, [
      { begin, events: 2, ending: "end" },
      { begin, events: 4, ending: "end" },
      whole,
    ]);
    expect((await provider.play(at.agent, "Weather?")).result.text).toBe("It is sunny.");
  });

  test("an overloaded error event before any content is retried", async () => {
    const frames = [
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    ];
    await using at = await loopback(provider, [
      { begin: whole, events: 0, frames },
      { begin: { thoughts: [{ text: "Hm", signature: "S" }] }, events: 4, frames },
      whole,
    ]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.text).toBe("It is sunny.");
  });
});
