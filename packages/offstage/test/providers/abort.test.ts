// An abort reaches the server through the real provider packages, and the run rejects with the signal's own reason.
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { tool } from "../../src/index.ts";
import type { FakeProvider, FakeTurn } from "./fake-provider.ts";
import { anthropic, ask, cases, continueAfter, facesOf, loopback, openAI } from "./loopback-agents.ts";

const hanging: FakeTurn = { begin: { text: ["It ", "is ", "sunny"] }, events: 4, ending: "hang" };
const silent: FakeTurn = { begin: {}, events: 0, ending: "hang" };

// Aborts shortly after the server began its first reply, so that the client has had time to read the beginning.
function abortDuring(server: FakeProvider): { signal: AbortSignal; reason: Error } {
  const controller = new AbortController();
  const reason = new Error("the user left");
  void server.played.then(() => setTimeout(() => controller.abort(reason), 30));
  return { signal: controller.signal, reason };
}

describe.each(cases)("$name, $face", (provider) => {
  test.each([
    { when: "in the middle of a reply", turn: hanging },
    { when: "before its first byte", turn: silent },
  ])("an abort $when closes the connection and rejects with the reason", async ({ turn }) => {
    await using at = await loopback(provider, [turn]);
    const { signal, reason } = abortDuring(at.server);
    await expect(provider.play(at.agent, "Weather?", { signal })).rejects.toBe(reason);
    await at.server.hungUp;
    expect(at.server.requests).toHaveLength(1);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("nothing is sent if the signal has already aborted", async () => {
    await using at = await loopback(provider, []);
    const reason = new Error("too late");
    await expect(provider.play(at.agent, "Hello", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(at.server.requests).toHaveLength(0);
  });

  test("nothing more is sent after an abort during a tool", async () => {
    const slow = tool({ name: "weather", execute: () => new Promise(() => undefined) });
    await using at = await loopback(provider, [{ calls: [ask("c1", "Rome")] }], { tools: [slow] });
    const { signal, reason } = abortDuring(at.server);
    await expect(provider.play(at.agent, "Weather?", { signal })).rejects.toBe(reason);
    expect(at.server.requests).toHaveLength(1);
  });

  test("nothing more is sent after an abort during the wait for a retry", async () => {
    await using at = await loopback(provider, [{ status: 500 }], { retry: { initialDelayMs: 10_000 } });
    const { signal, reason } = abortDuring(at.server);
    await expect(provider.play(at.agent, "Weather?", { signal })).rejects.toBe(reason);
    expect(at.server.requests).toHaveLength(1);
    expect(getEventListeners(signal, "abort")).toHaveLength(0);
  });

  test("the conversation can continue after an abort", async () => {
    await using at = await loopback(provider, [hanging, { text: ["Back."] }]);
    const { signal } = abortDuring(at.server);
    const ended: unknown[] = [];
    const hooks = { onRunEnd: ({ result }: { result: unknown }) => void ended.push(result) };
    await expect(provider.play(at.agent, "Weather?", { signal, hooks })).rejects.toThrow("the user left");
    expect(await continueAfter(provider, at.agent, ended[0])).toBe("Back.");
  });
});

describe.each([openAI, anthropic].map((provider) => facesOf(provider)[1]!))("$name", (provider) => {
  test("leaving the stream closes the connection", async () => {
    await using at = await loopback(provider, [hanging]);
    const stream = at.agent.stream("Weather?");
    for await (const event of stream) if (event.type === "text-delta") break;
    await at.server.hungUp;
    await expect(stream.result).rejects.toThrow(expect.objectContaining({ name: "AbortError" }));
  });
});
