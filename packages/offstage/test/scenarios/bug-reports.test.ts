// The messages of a run make a complete report of it: what it was, what it did, how it ended, and the same for its subagents.
import { describe, expect } from "vitest";
import { Agent, InMemorySession, tool } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { payingAgent, payTo } from "../support/approval-cast.ts";
import { bothWays } from "../support/both-ways.ts";
import { broken, calls, echo, echoing } from "../support/cast.ts";
import { onStores } from "../support/session-kinds.ts";

function family() {
  const helper = new Agent({
    name: "helper",
    instructions: "You help.",
    model: scriptedModel([calls({ name: "broken" }), new Error("no light")]),
    tools: [broken],
  });
  return new Agent({
    name: "boss",
    instructions: async () => "You are the boss.",
    model: scriptedModel([
      { text: "I ask.", toolCalls: [{ name: "helper", input: { prompt: "Fix it" } }] },
      new Error("down"),
    ]),
    tools: [helper.asTool()],
  });
}

describe("the report of a failed run", () => {
  onStores("is read from the store by the id of the run, with its subagents", async ({ fail, session, store }) => {
    const { result } = await fail(family(), "Go", { session });
    await new Agent({ model: scriptedModel(["Hello."]) }).run("Another", { session });
    const { runId } = result;
    const report = await store.query({ runId });
    expect(report.runs().map(({ agent }) => agent)).toEqual(["boss", "helper"]);
    expect(report.all().map(({ metadata }) => metadata?.id)).toEqual(
      result.messages.all().map(({ metadata }) => metadata?.id),
    );
    expect(report.export("markdown")).toContain("no light");
    await expect(store.query({ runId: "unknown" })).rejects.toMatchObject({ code: "run-not-found" });
    await expect(store.query({ runId, agent: "boss" })).rejects.toMatchObject({ code: "invalid-argument" });
  });

  bothWays(
    "has its error, status, agent, model, instructions and usage, and those of its subagents",
    async ({ fail }) => {
      const session = new InMemorySession("s1");
      const { result } = await fail(family(), "Go", { session });
      const [boss, helper, ...others] = result.messages.runs();
      expect(others).toEqual([]);
      expect(boss).toEqual({
        runId: result.runId,
        sessionId: "s1",
        agent: "boss",
        model: "scripted",
        provider: "offstage",
        status: "failed",
        reason: "model-failed",
        error: { code: "model-failed", message: result.outcome.message },
        startedAt: expect.any(String),
        endedAt: expect.any(String),
        durationMs: expect.any(Number),
        usage: result.usage,
        steps: 1,
        instructions: "You are the boss.",
      });
      expect(helper).toMatchObject({
        runId: result.children[0]?.runId,
        parentRunId: result.runId,
        parentToolCallId: "call_0_0",
        sessionId: "s1",
        agent: "helper",
        status: "failed",
        error: { code: "model-failed", message: expect.stringContaining("no light") },
        instructions: "You help.",
      });
      expect(Date.parse(boss?.endedAt ?? "") - Date.parse(boss?.startedAt ?? "")).toBe(boss?.durationMs);
    },
  );

  bothWays("is one Markdown or HTML text", async ({ fail }) => {
    const { result } = await fail(family(), "Go");
    for (const format of ["markdown", "html"] as const) {
      const text = result.messages.export(format);
      const parts = [result.runId, "boss", "model-failed", "You are the boss.", "Go", "I ask.", "Fix it"];
      const below = [result.children[0]?.runId ?? "", "You help.", "the pipe burst", "no light"];
      for (const part of [...parts, ...below]) expect(text).toContain(part);
      expect(text.indexOf("You help.")).toBeGreaterThan(text.indexOf("Fix it"));
    }
  });

  bothWays("shows the failure in the timeline", async ({ fail }) => {
    const { result } = await fail(family(), "Go");
    const [turn] = result.messages.timeline();
    expect(turn).toMatchObject({ status: "failed", reason: "model-failed", error: { code: "model-failed" } });
    expect(String(turn)).not.toContain("(open)");
    expect(String(turn)).toContain("Subagent helper (failed: model-failed):");
  });

  bothWays("has the calls of the step in which it failed", async ({ fail }) => {
    const strict = { name: "strict", check: () => Promise.reject(new Error("no connection")) };
    const agent = new Agent({
      model: scriptedModel([calls(echoing("a"))]),
      tools: [echo],
      toolOutputGuardrails: [strict],
    });
    const { result } = await fail(agent, "Go");
    expect(result.messages.export("markdown")).toContain("**Tool call** `echo`");
    expect(result.messages.timeline()[0]?.toolInteractions).toMatchObject([{ toolName: "echo", result: undefined }]);
  });
});

describe("the summary of a run", () => {
  bothWays("has the cost if the price of every model is known", async ({ play }) => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0 };
    const priced = Object.assign(scriptedModel([{ text: "Hi.", usage }]), { modelId: "gpt-4o-mini" });
    const [known] = (await play(new Agent({ model: priced }), "Go")).messages.runs();
    expect(known?.cost).toBeGreaterThan(0);
    const [unknown] = (await play(new Agent({ model: scriptedModel(["Hi."]) }), "Go")).messages.runs();
    expect(unknown?.cost).toBeUndefined();
  });

  bothWays("says that a run waits, and after resume() how it ended", async ({ play }) => {
    const { agent } = payingAgent([calls(payTo("ann")), "Paid."]);
    const { messages, state } = await play(agent, "Pay");
    expect(messages.runs()).toMatchObject([{ status: "waiting", reason: "approval", agent: "payer" }]);
    expect(messages.timeline()[0]?.status).toBe("waiting");
    const resumed = await agent.resume(state, { approve: ["ann"] });
    expect(resumed.messages.runs()).toMatchObject([{ status: "completed", steps: 2 }]);
  });

  bothWays("is plain JSON", async ({ fail }) => {
    const { result } = await fail(family(), "Go");
    const runs = result.messages.runs();
    expect(JSON.parse(JSON.stringify(runs))).toEqual(runs);
  });
});

bothWays("a tool result has its value in the tool summary, before and after a reload", async ({ play }) => {
  const rows = tool({ name: "rows", execute: () => ({ rows: [1, null] }) });
  const agent = new Agent({ model: scriptedModel([calls({ name: "rows" }), "Ok."]), tools: [rows] });
  const session = new InMemorySession("s");
  const { messages } = await play(agent, "Go", { session });
  expect(messages.toolSummary()[0]?.results).toEqual([{ rows: [1, null] }]);
  expect((await session.query()).toolSummary()[0]?.calls).toMatchObject([
    { result: { rows: [1, null] }, resultText: '{"rows":[1,null]}' },
  ]);
});
