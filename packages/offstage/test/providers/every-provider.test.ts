// Every provider package on a server that refuses what its API refuses: tools, foreign histories, files and errors.
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { assistant, type Message, system, tool, toolCall, toolResult, user } from "../../src/index.ts";
import { allProviders } from "./all-providers.ts";
import { ask, continueAfter, facesOf, failureOf, loopback, weather } from "./loopback-agents.ts";

const cases = allProviders.flatMap(facesOf);
const clock = tool({
  name: "clock",
  description: "The time in a city.",
  input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  execute: ({ city }) => `${city}: noon`,
});
const tools = [weather, clock];
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

beforeAll(() => void vi.spyOn(process, "emitWarning").mockImplementation(() => undefined));
afterAll(() => void vi.restoreAllMocks());

describe.each(cases)("$name, $face", (provider) => {
  test("two tools, called in parallel over two steps and two turns", async () => {
    await using at = await loopback(
      provider,
      [
        { calls: [ask("callAAAA1", "Rome"), { ...ask("callAAAA2", "Oslo"), name: "clock" }] },
        { text: ["One more."], calls: [ask("callAAAA3", "Lima")] },
        { text: ["Sunny, ", "noon."] },
        { calls: [ask("callAAAA4", "Cairo"), ask("callAAAA5", "Bern")] },
        { text: ["Sunny again."] },
      ],
      { tools, instructions: "Be brief." },
    );
    const { result } = await provider.play(at.agent, "Weather in Rome, time in Oslo?");
    expect(result.text).toBe("Sunny, noon.");
    const contents = result.steps.flatMap(({ toolResults }) => toolResults.map(({ content }) => content));
    expect(contents).toEqual(["Rome: sunny", "Oslo: noon", "Lima: sunny"]);
    const history = result.state.messagesForInference().toArray();
    const { result: second } = await provider.play(at.agent, [...history, user("Cairo and Bern?")]);
    expect(second.text).toBe("Sunny again.");
  });

  test("reasoning is reported, and goes back in a form that the server accepts", async () => {
    const thoughts = [{ text: "Rome is in Italy.", signature: "c2lnbmF0dXJl" }];
    await using at = await loopback(provider, [{ thoughts, calls: [ask("callBBBB1", "Rome")] }, { text: ["Sunny."] }]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.text).toBe("Sunny.");
    // OpenAI's chat protocol has no reasoning.
    expect(result.steps[0]?.reasoning).toBe(provider.name === "OpenAI, chat" ? undefined : "Rome is in Italy.");
  });

  test("ids that the server repeats or leaves empty become ones that it accepts", async () => {
    await using at = await loopback(provider, [
      { calls: [ask("callCCCC1", "Rome"), ask("callCCCC1", "Oslo")] },
      { calls: [ask("callCCCC1", "Lima")] },
      { text: ["Sunny."] },
    ]);
    const { result } = await provider.play(at.agent, "Weather?");
    const ids = result.steps.flatMap(({ toolResults }) => toolResults.map(({ toolCallId }) => toolCallId));
    expect(new Set(ids).size).toBe(3);
    expect(ids.filter((id) => id.length > 40)).toEqual([]);
  });

  test.each<[string, readonly Message[]]>([
    ["begins with an assistant message", [assistant("Welcome!"), user("Hi.")]],
    [
      "has system messages in the middle",
      [user("Hi."), system("It is late."), assistant("Hello."), system("Be kind."), user("Bye.")],
    ],
    [
      "has foreign ids and names",
      [
        user("Weather?"),
        assistant(null, {
          toolCalls: [
            toolCall("functions.weather:0", "weather.get now"),
            toolCall(`call_${"x".repeat(60)}`, "weather"),
          ],
        }),
        toolResult("functions.weather:0", "sunny", { name: "weather.get now" }),
        toolResult(`call_${"x".repeat(60)}`, "rainy"),
        user("Which is it?"),
      ],
    ],
    [
      "was cut off after a call",
      [user("Weather?"), assistant(null, { toolCalls: [toolCall("c1", "weather")] }), user("Still there?")],
    ],
    [
      "repeats and lacks ids",
      [
        user("Weather?"),
        assistant("Looking.", { toolCalls: [toolCall("", "weather"), toolCall("c1", "clock")] }),
        toolResult("", "sunny"),
        toolResult("c1", "noon"),
        assistant(null, { toolCalls: [toolCall("c1", "clock")] }),
        toolResult("c1", "one"),
        user("Thanks. And now?"),
      ],
    ],
    [
      "has parts of a chat UI",
      [
        user([
          { type: "data-weather", data: { city: "Rome" } },
          { type: "text", text: "Hi." },
        ]),
      ],
    ],
  ])("a history that %s is accepted", async (_, history) => {
    await using at = await loopback(provider, [{ text: ["Fine."] }], { tools, instructions: "Be brief." });
    expect((await provider.play(at.agent, history)).result.text).toBe("Fine.");
    expect(JSON.stringify(at.server.requests[0]?.body)).not.toContain("data-weather");
  });

  test("an image in a message arrives as its bytes", async () => {
    await using at = await loopback(provider, [{ text: ["A pixel."] }]);
    await provider.play(at.agent, user([{ type: "image", image: pixel }]));
    expect(JSON.stringify(at.server.requests[0]?.body)).toContain(pixel);
  });

  test("an image at a URL arrives, by its URL or downloaded", async () => {
    const download = async () => ({ data: pixel, mediaType: "image/png" });
    await using at = await loopback(provider, [{ text: ["A cat."] }], { download });
    const url = "https://images.example/cat.png?size=1";
    await provider.play(at.agent, user([{ type: "image_url", image_url: { url } }]));
    const body = JSON.stringify(at.server.requests[0]?.body);
    expect([body.includes(url), body.includes(pixel)].filter(Boolean)).toHaveLength(1);
  });

  test("a rate-limited request is retried, and a refused one fails the run", async () => {
    await using at = await loopback(provider, [
      { status: 429, headers: { "retry-after-ms": "1" } },
      { text: ["Sunny."] },
      { status: 400 },
      { text: ["Back."] },
    ]);
    const { result } = await provider.play(at.agent, "Weather?");
    expect(result.text).toBe("Sunny.");
    const error = await failureOf(provider.play(at.agent, "Weather?"));
    expect(error.message).toContain("HTTP status 400");
    expect(await continueAfter(provider, at.agent, error.result)).toBe("Back.");
  });
});
