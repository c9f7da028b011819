// Failures before a reply begins: which are retried, and that the conversation survives both kinds.
import { APICallError } from "@ai-sdk/provider";
import { describe, expect, test } from "vitest";
import type { ModelRetryEvent } from "../../src/agent/ports/events.ts";
import type { RunResult } from "../../src/index.ts";
import { ask, cases, continueAfter, failureOf, loopback } from "./loopback-agents.ts";

function noted(): { retries: ModelRetryEvent[]; hooks: { onModelRetry(event: ModelRetryEvent): void } } {
  const retries: ModelRetryEvent[] = [];
  return { retries, hooks: { onModelRetry: (event) => void retries.push(event) } };
}

describe.each(cases)("$name, $face", (provider) => {
  test("a refused request is not retried, and the error has its cause and the result so far", async () => {
    await using at = await loopback(provider, [{ calls: [ask("c1", "Rome")] }, { status: 400 }, { text: ["Back."] }]);
    const error = await failureOf(provider.play(at.agent, "Weather?"));
    expect(error.message).toContain("status 400 on purpose");
    expect(error.message).toContain("after 1 try with HTTP status 400");
    expect(APICallError.isInstance(error.cause)).toBe(true);
    expect(error.cause).toMatchObject({ statusCode: 400 });
    const { steps, usage, outcome } = error.result as RunResult;
    expect(steps).toHaveLength(1);
    expect(usage.inputTokens).toBe(10);
    expect(outcome).toMatchObject({ status: "failed", reason: "model-failed" });
    expect(at.server.requests).toHaveLength(2);
    expect(await continueAfter(provider, at.agent, error.result)).toBe("Back.");
  });

  test("a rate-limited request is retried after the delay in retry-after-ms", async () => {
    const headers = { "retry-after-ms": "60", "retry-after": "9" };
    await using at = await loopback(provider, [{ status: 429, headers }, { text: ["Sunny."] }]);
    const { retries, hooks } = noted();
    const { result } = await provider.play(at.agent, "Weather?", { hooks });
    expect(result.text).toBe("Sunny.");
    expect(retries).toMatchObject([{ attempt: 1, delayMs: 60 }]);
    const [refused, served] = at.server.requests;
    expect(served!.at - refused!.at).toBeGreaterThanOrEqual(58);
  });

  test("retry-after is in seconds, and a delay above maxDelayMs fails the run at once", async () => {
    const turn = { status: 429, headers: { "retry-after": "2" } };
    await using at = await loopback(provider, [turn], { retry: { initialDelayMs: 1, maxDelayMs: 1999 } });
    const error = await failureOf(provider.play(at.agent, "Weather?"));
    expect(error.cause).toMatchObject({ statusCode: 429 });
    expect(at.server.requests).toHaveLength(1);
  });

  test.each([500, 503, 529])("status %s twice, then an answer, completes the run", async (status) => {
    await using at = await loopback(provider, [{ status }, { status }, { text: ["Sunny."] }]);
    const { retries, hooks } = noted();
    const { result } = await provider.play(at.agent, "Weather?", { hooks });
    expect(result.text).toBe("Sunny.");
    expect(result.steps).toHaveLength(1);
    expect(retries.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  test("a server that keeps failing fails the run after the last retry", async () => {
    await using at = await loopback(provider, [{ status: 500 }, { status: 500 }, { status: 500 }, { text: ["Back."] }]);
    const error = await failureOf(provider.play(at.agent, "Weather?"));
    expect(error.cause).toMatchObject({ statusCode: 500 });
    expect(error.message).toContain("after 3 tries with HTTP status 500");
    expect(await continueAfter(provider, at.agent, error.result)).toBe("Back.");
  });

  test("a connection that is reset before the reply is retried", async () => {
    await using at = await loopback(provider, [{ reset: true }, { text: ["Sunny."] }]);
    expect((await provider.play(at.agent, "Weather?")).result.text).toBe("Sunny.");
    expect(at.server.requests).toHaveLength(2);
  });

  test("an unreachable server fails the run with the reason", async () => {
    const gone = await loopback(provider, []);
    await gone[Symbol.asyncDispose]();
    const { retries, hooks } = noted();
    const error = await failureOf(provider.play(gone.agent, "Weather?", { hooks }));
    expect(error.message).toMatch(/ECONNREFUSED|Cannot connect/);
    expect(retries).toHaveLength(2);
  });

  test("a response without a reply fails the run", async () => {
    await using at = await loopback(provider, [{ begin: {}, events: 0, frames: [] }], { retry: { maxRetries: 0 } });
    const error = await failureOf(provider.play(at.agent, "Weather?"));
    expect(error.cause).toBeInstanceOf(Error);
  });
});
