// The user's message is durable before the first model call, and stored exactly once whatever happens afterwards.
import { describe, expect } from "vitest";
import { Agent, type SessionPort } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { calls, echo, echoing, glance } from "../support/cast.ts";
import { onSessions, onStores } from "../support/session-kinds.ts";

const busy = Object.assign(new Error("overloaded"), { statusCode: 503 });
const retry = { initialDelayMs: 1 };

describe("the user's message", () => {
  onSessions("is in the session before the first model call", async ({ play, session }) => {
    const seen: string[][] = [];
    const look = async (from: SessionPort) => void seen.push(glance(await from.getItems()));
    const model = scriptedModel([
      async () => {
        await look(session);
        return "Hello.";
      },
    ]);
    await play(new Agent({ model }), "Hi", { session });
    expect(seen).toEqual([["user: Hi"]]);
  });

  onSessions("is stored once if the model fails twice and then succeeds", async ({ play, session }) => {
    const model = scriptedModel([busy, busy, "Hello."]);
    await play(new Agent({ model, retry }), "Hi", { session });
    expect(model.callCount).toBe(3);
    expect(glance(await session.getItems())).toEqual(["user: Hi", "assistant: Hello."]);
  });

  onSessions("is stored once if the run fails for good", async ({ fail, session }) => {
    const { result } = await fail(new Agent({ model: scriptedModel([new Error("down")]) }), "Hi", { session });
    expect(glance(await session.getItems())).toEqual(["user: Hi"]);
    expect(await session.runs()).toMatchObject([{ runId: result.runId, status: "failed", reason: "model-failed" }]);
  });

  onSessions("is stored once if a failed run is resumed several times", async ({ fail, session }) => {
    const model = scriptedModel([calls(echoing("a")), new Error("down"), new Error("still down"), "It said a."]);
    const agent = new Agent({ model, tools: [echo] });
    const { result } = await fail(agent, "Go", { session });
    await expect(agent.resume(result.runId, { session })).rejects.toMatchObject({ code: "model-failed" });
    const resumed = await agent.resume(result.runId, { session });
    expect(resumed).toMatchObject({ output: "It said a.", runId: result.runId });
    expect(glance(await session.getItems())).toEqual(["user: Go", "assistant: It said a."]);
    expect(glance(model.requests[3]?.messages ?? [])).toEqual(["user: Go", "assistant: [echo]", "tool: echo a"]);
    expect(glance(resumed.messages.all())).toHaveLength(4);
    expect(await session.runs()).toMatchObject([{ runId: result.runId, status: "completed" }]);
    await expect(agent.resume(result.runId, { session })).rejects.toMatchObject({ code: "run-not-resumable" });
  });

  onSessions("is sent once if a failed run is resumed after another turn", async ({ play, fail, session }) => {
    const model = scriptedModel([new Error("down"), "Second.", "First."]);
    const agent = new Agent({ model });
    const { result } = await fail(agent, "One", { session });
    await play(agent, "Two", { session });
    expect(glance(model.requests[1]?.messages ?? [])).toEqual(["user: One", "user: Two"]);
    await agent.resume(result.runId, { session });
    expect(glance(model.requests[2]?.messages ?? [])).toEqual(["user: One"]);
    expect(glance(await session.getItems())).toEqual([
      "user: One",
      "user: Two",
      "assistant: Second.",
      "assistant: First.",
    ]);
  });

  onSessions("is not added again if the run is resumed by its state", async ({ fail, session }) => {
    const model = scriptedModel([calls(echoing("a")), new Error("down"), "It said a."]);
    const agent = new Agent({ model, tools: [echo], session, separateToolTrace: true });
    const { result } = await fail(agent, "Go");
    const resumed = await agent.resume(result.state);
    expect(glance(resumed.state.messages)).toEqual(["user: Go", "assistant: It said a."]);
    expect(glance(await session.getItems())).toEqual(["user: Go", "assistant: It said a."]);
  });

  onStores(
    "needs no session to be found: the store is enough to resume the run by its id",
    async ({ fail, session, store }) => {
      const agent = new Agent({ model: scriptedModel([new Error("down"), "Hello."]) });
      const { result } = await fail(agent, "Hi", { session });
      expect((await agent.resume(result.runId, { store })).output).toBe("Hello.");
      expect(glance(await session.getItems())).toEqual(["user: Hi", "assistant: Hello."]);
      await expect(agent.resume("nobody", { store })).rejects.toMatchObject({ code: "run-not-found" });
      await expect(agent.resume(result.runId)).rejects.toMatchObject({ code: "run-not-found" });
    },
  );
});

onStores("a resumed run keeps the spans of every attempt", async ({ fail, session, store }) => {
  const agent = new Agent({ model: scriptedModel([new Error("down"), new Error("still"), "Hello."]) });
  const { result } = await fail(agent, "Hi", { session });
  await expect(agent.resume(result.runId, { store })).rejects.toThrow("still");
  await agent.resume(result.runId, { store });
  const models = (spans: readonly { kind: string; status: string }[]) =>
    spans.filter(({ kind }) => kind === "model").map(({ status }) => status);
  expect(models(await store.spans.list({ runId: result.runId }))).toEqual(["error", "error", "ok"]);
  expect(models(await store.spans.list({ sessionId: "s" }))).toEqual(["error", "error", "ok"]);
});
