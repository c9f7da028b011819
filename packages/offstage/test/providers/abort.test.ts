// An abort reaches the server through the real provider packages, and the run rejects with the signal's own reason.
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { tool } from "../../src/index.ts";
import type { FakeProvider, FakeTurn } from "./fake-provider.ts";
import { anthropic, ask, cases, facesOf, goOn, loopback, openAI } from "./loopback-agents.ts";

const hanging: FakeTurn = { begin: { text: ["It ", "is ", "sunny"] }, events: 4, ending: "hang" };
const silent: FakeTurn = { begin: {}, events: 0, ending: "hang" };

// Aborts a little after the server began its first turn, so that the client has had time to read what there was.
function abortDuring(server: FakeProvider): { signal: AbortSignal; reason: Error } {
  const controller = new AbortController();
  const reason = new Error("the user left");
  void server.played.then(() => setTimeout(() => controller.abort(reason), 30));
  return { signal: controller.signal, reason };
}

describe.each(cases)("$name, $face", (provider) => {
  test.each([
    { when: "in the middle of a reply", turn: hanging },
    { when: "before the first byte of it", turn: silent },
  ])("an abort $when hangs up on the server and rejects with the reason", async ({ turn }) => {
    await using at = await loopback(provider, [turn]);
    const { signal, reason } = abortDuring(at.server);
    await expect(provider.play(at.agent, "Weather?", { signal })).rejects.toBe(reason);
    await at.server.hungUp;
    expect(at.server.requests).toHaveLength(1);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("a signal that has aborted before sends nothing", async () => {
    await using at = await loopback(provider, []);
    const reason = new Error("too late");
    await expect(provider.play(at.agent, "Hello", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(at.server.requests).toHaveLength(0);
  });

  test("an abort while a tool runs sends nothing more", async () => {
    const slow = tool({ name: "weather", execute: () => new Promise(() => undefined) });
    await using at = await loopback(provider, [{ calls: [ask("c1", "Rome")] }], { tools: [slow] });
    const { signal, reason } = abortDuring(at.server);
    await expect(provider.play(at.agent, "Weather?", { signal })).rejects.toBe(reason);
    expect(at.server.requests).toHaveLength(1);
  });

  test("an abort while waiting for a retry sends nothing more", async () => {
    await using at = await loopback(provider, [{ status: 500 }], { retry: { initialDelayMs: 10_000 } });
    const { signal, reason } = abortDuring(at.server);
    await expect(provider.play(at.agent, "Weather?", { signal })).rejects.toBe(reason);
    expect(at.server.requests).toHaveLength(1);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("after an abort the conversation goes on", async () => {
    await using at = await loopback(provider, [hanging, { text: ["Back."] }]);
    const { signal } = abortDuring(at.server);
    const ended: unknown[] = [];
    const hooks = { onRunEnd: ({ result }: { result: unknown }) => void ended.push(result) };
    await expect(provider.play(at.agent, "Weather?", { signal, hooks })).rejects.toThrow("the user left");
    expect(await goOn(provider, at.agent, ended[0])).toBe("Back.");
  });
});

describe.each([openAI, anthropic].map((provider) => facesOf(provider)[1]!))("$name", (provider) => {
  test("leaving the stream hangs up on the server", async () => {
    await using at = await loopback(provider, [hanging]);
    const stream = at.agent.stream("Weather?");
    for await (const event of stream) if (event.type === "text-delta") break;
    await at.server.hungUp;
    await expect(stream.result).rejects.toThrow(expect.objectContaining({ name: "AbortError" }));
  });
});
