// Beside the conversation, a store keeps tool traces, runs of subagents and spans, linked by ids.
import { describe, expect } from "vitest";
import { memoryExporter } from "../../src/doors/tracing.ts";
import { Agent, type Message, TraceContext, tool, withTrace } from "../../src/index.ts";
import { checkSpans, scriptedModel } from "../../src/testing/index.ts";
import { calls, echo, echoing, glance } from "../support/cast.ts";
import { onSessions, onStores } from "../support/session-kinds.ts";

const lookThenAnswer = [calls(echoing("a")), "It said a."];

function family() {
  const inner = new Agent({ name: "inner", model: scriptedModel(lookThenAnswer), tools: [echo] });
  const middle = new Agent({
    name: "middle",
    model: scriptedModel([calls({ name: "inner", input: { prompt: "Look" } }), "Inner looked."]),
    tools: [inner.asTool()],
  });
  const model = scriptedModel([calls({ name: "middle", input: { prompt: "Ask" } }), "All looked."]);
  return new Agent({ name: "outer", model, tools: [middle.asTool()] });
}

describe("session.query()", () => {
  onSessions("returns conversation and tool trace, in order and by run", async ({ play, session }) => {
    const agent = new Agent({ model: scriptedModel([...lookThenAnswer, ...lookThenAnswer]), tools: [echo] });
    const first = await play(agent, "One", { session });
    const second = await play(agent, "Two", { session });
    const query = await session.query();
    const turn = (text: string) => [`user: ${text}`, "assistant: [echo]", "tool: echo a", "assistant: It said a."];
    expect(glance(query.all())).toEqual([...turn("One"), ...turn("Two")]);
    expect(glance(query.filter({ runId: second.runId }))).toEqual(turn("Two"));
    expect(query.filter({ runId: first.runId, role: "tool" })).toHaveLength(1);
    expect(query.toolSummary()).toMatchObject([{ toolName: "echo", callCount: 2 }]);
    expect(query.all()).toMatchObject(
      [...first.messages.all(), ...second.messages.all()].map(({ role }) => ({ role })),
    );
  });

  onSessions("returns the tool trace and the partial text of a run stopped by a limit", async ({ play, session }) => {
    const agent = new Agent({ model: scriptedModel([{ text: "I look.", toolCalls: [echoing("a")] }]), tools: [echo] });
    await play(agent, "Go", { session, maxSteps: 1 });
    expect(glance((await session.query()).all())).toEqual([
      "user: Go",
      "assistant: [echo] I look.",
      "tool: echo a",
      "assistant: I look.",
    ]);
  });
});

describe("subagents", () => {
  onSessions(
    "leave nothing in the conversation of their parent run, and are in its query",
    async ({ play, session }) => {
      await play(family(), "Go", { session });
      expect(glance(await session.getItems())).toEqual(["user: Go", "assistant: All looked."]);
      const query = await session.query();
      expect(glance(query.filter({ subagents: false }))).toEqual([
        "user: Go",
        "assistant: [middle]",
        "tool: [Subagent: middle] Inner looked.",
        "assistant: All looked.",
      ]);
      expect(query.filter({ subagents: true })).toHaveLength(8);
      expect(glance(query.filter({ agent: "inner", subagents: true }))).toEqual([
        "user: Look",
        "assistant: [echo]",
        "tool: echo a",
        "assistant: It said a.",
      ]);
      expect(await session.runs()).toHaveLength(1);
    },
  );

  onStores("are journaled under their parent run, each with its own steps", async ({ play, session, store }) => {
    const { runId, usage } = await play(family(), "Go", { session });
    const outer = await store.runs.get(runId);
    expect(outer).toMatchObject({ agent: "outer", status: "completed", usage });
    expect(outer?.children).toMatchObject([{ agent: "middle", status: "completed", parentRunId: runId }]);
    const middle = await store.runs.get(outer?.children[0]?.runId ?? "");
    expect(middle?.parentToolCallId).toBe(outer?.steps[0]?.messages.flatMap(callIds)[0]);
    expect(glance(middle?.input ?? [])).toEqual(["user: Ask"]);
    const inner = await store.runs.get(middle?.children[0]?.runId ?? "");
    expect(inner).toMatchObject({ agent: "inner", parentRunId: middle?.runId, sessionId: "s", status: "completed" });
    expect(glance(inner?.steps.flatMap(({ messages }) => messages) ?? [])).toEqual([
      "assistant: [echo]",
      "tool: echo a",
      "assistant: It said a.",
    ]);
    expect((await store.runs.list()).map((run) => run.runId)).toEqual([runId]);
  });

  onStores("ignore their own session while they answer a parent", async ({ play, session, store }) => {
    const own = store.session("own");
    const child = new Agent({ name: "child", model: scriptedModel(["Hello."]), session: own });
    const model = scriptedModel([calls({ name: "child", input: { prompt: "Hi" } }), "It greets."]);
    await play(new Agent({ model, tools: [child.asTool()] }), "Go", { session });
    expect(await own.isEmpty()).toBe(true);
  });
});

function callIds(message: Message): string[] {
  return message.role === "assistant" ? (message.tool_calls ?? []).map(({ id }) => id) : [];
}

describe("agent integration: tracing tests of the design document", () => {
  onSessions("testTraceContextPropagation: a run and its tools join the enclosing trace", async ({ play, session }) => {
    const seen: (string | undefined)[] = [];
    const look = tool({ name: "look", execute: () => void seen.push(TraceContext.current?.traceId) });
    const agent = new Agent({ model: scriptedModel([calls({ name: "look" }), "Ok."]), tools: [look] });
    await withTrace("Outer", async () => {
      const { traceId } = await play(agent, "Go", { session });
      expect(traceId).toBe(TraceContext.current?.traceId);
      expect(seen).toEqual([traceId]);
    });
  });

  onSessions(
    "testSpansCollectedInTrace: run, steps, model calls and tools are spans, grouped by session",
    async ({ play, session }) => {
      const agent = new Agent({ name: "looker", model: scriptedModel(lookThenAnswer), tools: [echo] });
      const { trace } = await play(agent, "Go", { session });
      const kinds = (trace?.getSpans() ?? []).map(({ kind }) => kind).filter((kind) => kind !== "session");
      expect(trace?.groupId).toBe("s");
      expect(kinds.sort()).toEqual(["model", "model", "run", "step", "step", "tool"]);
    },
  );
});

describe("the trace of a run", () => {
  onStores("has the digits of the run id, and a resumed run gets a new trace id", async ({ play, session }) => {
    const ask = tool({ name: "ask", needsApproval: true, execute: () => "ok" });
    const model = scriptedModel([{ toolCalls: [{ name: "ask", input: {} }] }, "Done."]);
    const agent = new Agent({ model, tools: [ask] });
    const waiting = await play(agent, "Go", { session });
    expect(waiting.traceId).toBe(waiting.runId.replaceAll("-", ""));
    const done = await agent.resume(waiting.runId, { session, approve: waiting.approvals });
    expect(done.runId).toBe(waiting.runId);
    expect(done.traceId).not.toBe(waiting.traceId);
  });
});

describe("spans", () => {
  onStores("are readable from the store by run, by trace and by session", async ({ play, session, store }) => {
    const { runId, traceId = "" } = await play(family(), "Go", { session });
    const spans = await store.spans.list({ traceId });
    expect(checkSpans(spans)).toEqual([]);
    const ofKind = (kind: string) => spans.filter((span) => span.kind === kind).map(({ name }) => name);
    expect(ofKind("run")).toEqual(["outer", "middle", "inner"]);
    expect(ofKind("tool")).toEqual(["middle", "inner", "echo"]);
    expect(ofKind("model")).toHaveLength(6);
    expect(ofKind("step")).toHaveLength(6);
    expect(await store.spans.list({ sessionId: "s" })).toEqual(spans);
    expect((await store.spans.list({ runId })).find(({ kind }) => kind === "run")).toMatchObject({
      name: "outer",
      status: "ok",
      metadata: { runId, sessionId: "s", outcome: "completed" },
    });
  });

  onStores("and messages carry each other's ids", async ({ play, session, store }) => {
    const agent = new Agent({ model: scriptedModel(lookThenAnswer), tools: [echo] });
    const { runId, traceId } = await play(agent, "Go", { session });
    const messages = (await session.query()).filter({ runId }).filter(({ role }) => role !== "user");
    const spans = new Map((await store.spans.list({ runId })).map((span) => [span.spanId, span]));
    expect(messages).toHaveLength(3);
    for (const { role, metadata } of messages) {
      expect(metadata?.traceId).toBe(traceId);
      const span = spans.get(String(metadata?.spanId));
      expect(span?.kind).toBe(role === "tool" ? "tool" : "model");
      expect(span?.metadata.messageId).toBe(metadata?.id);
    }
  });

  onStores("of a failed run have the status error", async ({ fail, session, store }) => {
    const agent = new Agent({ model: scriptedModel([calls(echoing("a")), new Error("down")]), tools: [echo] });
    const { result } = await fail(agent, "Go", { session });
    const spans = await store.spans.list({ runId: result.runId });
    expect(checkSpans(spans)).toEqual([]);
    expect(spans.filter(({ status }) => status === "error").map(({ kind }) => kind)).toEqual(["run", "step", "model"]);
    expect(await store.runs.get(result.runId)).toMatchObject({ status: "failed", error: { code: "model-failed" } });
  });

  onStores("are not stored if tracing is off, but everything else is", async ({ play, session, store }) => {
    const agent = new Agent({ model: scriptedModel(lookThenAnswer), tools: [echo] });
    const { runId } = await play(agent, "Go", { session, tracing: false });
    expect(await store.spans.list({ runId })).toEqual([]);
    expect((await store.runs.get(runId))?.steps).toHaveLength(2);
  });
});

describe("content in spans", () => {
  onStores("uses the same names for a call's input and output as events do", async ({ play, store }) => {
    const exporter = memoryExporter();
    const agent = new Agent({ model: scriptedModel(lookThenAnswer), tools: [echo] });
    await play(agent, "Look", { session: store.session("s"), tracing: { content: true, exporters: [exporter] } });
    const contentOf = (kind: string) => exporter.spans.find((span) => span.kind === kind)?.content;
    const inputText = '{"text":"a"}';
    expect(contentOf("tool")).toEqual({ inputText, output: "echo a" });
    expect(contentOf("model")?.toolCalls).toMatchObject([{ toolName: "echo", inputText }]);
  });

  onStores(
    "includes the prompt for exporters, but not in the journal, which already has the messages",
    async ({ play, store }) => {
      const exporter = memoryExporter();
      const agent = new Agent({ model: scriptedModel(lookThenAnswer), tools: [echo], instructions: "Be brief." });
      const session = store.session("s");
      const { runId } = await play(agent, "Look", { session, tracing: { content: true, exporters: [exporter] } });
      const shown = exporter.spans.filter(({ kind }) => kind === "model").map(({ content }) => content?.messages);
      expect(shown).toMatchObject([
        [{ role: "system" }, { role: "user", content: "Look" }],
        [{ role: "system" }, { role: "user" }, { role: "assistant" }, { role: "tool", content: "echo a" }],
      ]);
      const stored = (await store.spans.list({ runId })).filter(({ kind }) => kind === "model");
      expect(stored.map(({ content }) => Object.keys(content ?? {}))).toEqual([
        ["text", "toolCalls"],
        ["text", "toolCalls"],
      ]);
    },
  );
});
