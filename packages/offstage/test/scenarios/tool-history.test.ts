// Tool history: what later turns are sent of earlier turns' tools, per agent and per tool, byte-identical every time.
import { describe, expect } from "vitest";
import { compactor, slidingWindow } from "../../src/doors/memory.ts";
import {
  Agent,
  type AgentOptions,
  type Message,
  SlidingWindowMemory,
  type Tool,
  textOf,
  tool,
} from "../../src/index.ts";
import { toolCallsOf } from "../../src/messages/message.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import type { Remember } from "../../src/tools/tool.ts";
import { calls, echo, echoing, glance } from "../support/cast.ts";
import { onSessions, onStores } from "../support/session-kinds.ts";

const longText = "all work and no play ".repeat(200);

/** A tool that always returns the same long text. */
function reading(remember?: Remember): Tool {
  return tool({ name: "read", execute: () => longText, ...(remember === undefined ? undefined : { remember }) });
}

const firstTurn: readonly ScriptEntry[] = [calls(echoing("a", "c1"), { name: "read", id: "c2" }), "Read."];

function agentOf(script: readonly ScriptEntry[], options: Partial<AgentOptions> = {}) {
  const model = scriptedModel([...firstTurn, ...script]);
  return { model, agent: new Agent({ model, tools: [echo, reading()], ...options }) };
}

const shownOf = (messages: readonly Message[] = []) => messages.map(({ role }) => role).join(" ");
const contentOf = (messages: readonly Message[] = [], id = "") =>
  String(messages.find((message) => message.role === "tool" && message.tool_call_id === id)?.content);

describe("toolHistory", () => {
  onSessions("digest is the default: the next turn knows which tools ran", async ({ play, session }) => {
    const { agent, model } = agentOf(["Yes."]);
    await play(agent, "Go", { session });
    const result = await play(agent, "Sure?", { session });
    expect(shownOf(model.requests[2]?.messages)).toBe("user assistant tool tool assistant user");
    expect(glance(await session.getItems())).toHaveLength(4);
    expect(shownOf(result.state.messages.toArray())).toBe("user assistant user assistant");
  });

  onSessions("none sends only questions and answers", async ({ play, session }) => {
    const { agent, model } = agentOf(["Yes."], { toolHistory: "none" });
    await play(agent, "Go", { session });
    await play(agent, "Sure?", { session });
    expect(shownOf(model.requests[2]?.messages)).toBe("user assistant user");
  });

  onSessions("an agent without tools is shown no tools of earlier turns", async ({ play, session }) => {
    await play(agentOf([]).agent, "Go", { session });
    const model = scriptedModel(["Yes."]);
    await play(new Agent({ model, toolHistory: "full" }), "Sure?", { session });
    expect(shownOf(model.requests[0]?.messages)).toBe("user assistant user");
  });

  onSessions("digest clips long arguments, which stay valid JSON with the same fields", async ({ play, session }) => {
    const input = { text: longText, to: "anna", lines: [longText, "b"], flag: true };
    const model = scriptedModel([calls({ name: "echo", input, id: "c1" }), "Done.", "Yes."]);
    const agent = new Agent({ model, tools: [tool({ name: "echo", execute: () => "ok" })] });
    await play(agent, "Go", { session });
    await play(agent, "Sure?", { session });
    const [call] = toolCallsOf(model.requests[2]?.messages[1] as Message);
    const shown = JSON.parse(call?.function.arguments ?? "");
    expect(call?.function.arguments.length).toBeLessThanOrEqual(1024);
    expect(Object.keys(shown)).toEqual(Object.keys(input));
    expect(shown).toMatchObject({ to: "anna", flag: true, lines: [expect.stringContaining("[clipped, "), "b"] });
  });

  onSessions("digest shows large arguments without long texts by their size", async ({ play, session }) => {
    const input = { numbers: Array.from({ length: 2000 }, (_, n) => n) };
    const model = scriptedModel([calls({ name: "echo", input, id: "c1" }), "Done.", "Yes."]);
    const agent = new Agent({ model, tools: [tool({ name: "echo", execute: () => "ok" })] });
    await play(agent, "Go", { session });
    await play(agent, "Sure?", { session });
    const [call] = toolCallsOf(model.requests[2]?.messages[1] as Message);
    expect(JSON.parse(call?.function.arguments ?? "")).toEqual({ clipped: expect.stringMatching(/^\d+ bytes$/) });
  });

  onSessions("the digest of a turn with many calls is bounded", async ({ play, session }) => {
    const many = Array.from({ length: 64 }, (_, n) => ({ name: "read", id: `r${n}`, input: { text: longText } }));
    const model = scriptedModel([calls(...many), "Read.", "Yes."]);
    const agent = new Agent({ model, tools: [reading()] });
    await play(agent, "Go", { session });
    await play(agent, "Sure?", { session });
    const results = model.requests[2]?.messages.filter(({ role }) => role === "tool") ?? [];
    expect(results).toHaveLength(64);
    expect(results.reduce((sum, { content }) => sum + String(content).length, 0)).toBeLessThanOrEqual(16 * 1024);
  });

  for (const toolHistory of ["digest", "full"] as const) {
    onSessions(`${toolHistory} shows the last text of a stopped run once`, async ({ play, session }) => {
      const looking = { text: "Let me look.", toolCalls: [echoing("a", "c1")] };
      const model = scriptedModel([looking, "Yes."]);
      const agent = new Agent({ model, tools: [echo], toolHistory });
      await play(agent, "Go", { session, maxSteps: 1 });
      await play(agent, "Sure?", { session });
      const sent = model.requests[1]?.messages ?? [];
      expect(shownOf(sent)).toBe("user assistant tool assistant user");
      expect(sent.filter((message) => textOf(message) === "Let me look.")).toHaveLength(1);
      expect(sent[3]?.content).toBe("Let me look.");
    });
  }

  onSessions("historyLimit does not count digests, and historyTokens does", async ({ play, session }) => {
    const { agent, model } = agentOf(["Two.", "Three.", "Four."]);
    await play(agent, "One", { session });
    await play(agent, "Two", { session });
    await play(agent, "Three", { session, historyLimit: 4 });
    expect(shownOf(model.requests[3]?.messages)).toBe("user assistant tool tool assistant user assistant user");
    await play(agent, "Four", { session, historyTokens: 100 });
    expect(shownOf(model.requests[4]?.messages)).toBe("user assistant user assistant user");
  });

  onSessions("a memory is fed the clean conversation, and its answers are shown with their tools", async (own) => {
    const { play, session } = own;
    const memory = new SlidingWindowMemory({ turns: 2 });
    const { agent, model } = agentOf([calls(echoing("b", "c3")), "Two.", "Three."], { memory });
    for (const text of ["One", "Two", "Three"]) await play(agent, text, { session });
    expect((await memory.getAllMessages()).every(({ role }) => role !== "tool")).toBe(true);
    expect(shownOf(model.requests[4]?.messages)).toBe("user assistant tool assistant user");
  });

  onSessions("compaction drops a digest together with its turn", async ({ play, session }) => {
    const compaction = compactor({ threshold: 500, target: 0.2, strategy: slidingWindow() });
    const { agent, model } = agentOf([calls(echoing("b", "c3")), "Two.", "Three."], { compaction });
    for (const text of ["One", "Two", "Three"]) await play(agent, text, { session });
    const sent = model.requests[4]?.messages ?? [];
    expect(contentOf(sent, "c1")).toBe("undefined");
    expect(sent.flatMap(toolCallsOf).map(({ id }) => id)).toEqual(["c3"]);
  });

  onStores("is shown to a run that is resumed in another process", async ({ play, fail, session, store }) => {
    const script = [new Error("down"), "Two."];
    const { agent, model } = agentOf(script);
    await play(agent, "One", { session });
    await fail(agent, "Two", { session });
    const [failed] = await store.runs.list({ status: "failed" });
    await agent.resume(String(failed?.runId), { store });
    const [before, after] = [model.requests[2], model.requests[3]].map((each) => each?.options.prompt);
    expect(JSON.stringify(after)).toBe(JSON.stringify(before));
  });

  onSessions("full replays whole pairs of call and result between question and answer", async ({ play, session }) => {
    const { agent, model } = agentOf(["Yes."], { toolHistory: "full" });
    await play(agent, "Go", { session });
    await play(agent, "Sure?", { session });
    const sent = model.requests[2]?.messages;
    expect(shownOf(sent)).toBe("user assistant tool tool assistant user");
    expect(sent?.[1]).toMatchObject({ tool_calls: [{ id: "c1", function: { name: "echo" } }, { id: "c2" }] });
    expect([contentOf(sent, "c1"), contentOf(sent, "c2")]).toEqual(["echo a", longText]);
    expect(glance(await session.getItems())).toHaveLength(4);
  });

  onSessions("digest clips long results and says how much is missing", async ({ play, session }) => {
    const { agent, model } = agentOf(["Yes."], { toolHistory: "digest" });
    await play(agent, "Go", { session });
    await play(agent, "Sure?", { session });
    const sent = model.requests[2]?.messages;
    const digest = contentOf(sent, "c2");
    expect(contentOf(sent, "c1")).toBe("echo a");
    expect(Buffer.byteLength(digest)).toBeLessThanOrEqual(1024);
    expect(digest).toMatch(/\n\[clipped, \d+ bytes\]$/);
    const missing = Number(/(\d+) bytes/.exec(digest)?.[1]);
    expect(digest.lastIndexOf("\n") + missing).toBe(longText.length);
  });

  const policies: readonly (readonly [Remember, Remember, string])[] = [
    ["none", "full", "c2"],
    ["none", "digest", "c2"],
    ["full", "none", "c1"],
    ["digest", "none", "c1"],
  ];
  for (const [toolHistory, remember, shown] of policies) {
    onSessions(`${toolHistory} is overridden by a tool with remember: "${remember}"`, async ({ play, session }) => {
      const { agent, model } = agentOf(["Yes."], { toolHistory, tools: [echo, reading(remember)] });
      await play(agent, "Go", { session });
      await play(agent, "Sure?", { session });
      const sent = model.requests[2]?.messages ?? [];
      expect(shownOf(sent)).toBe("user assistant tool assistant user");
      expect(sent[1]).toMatchObject({ tool_calls: [{ id: shown }] });
      expect(sent[2]).toMatchObject({ tool_call_id: shown });
    });
  }

  for (const toolHistory of ["digest", "full"] as const) {
    onSessions(`${toolHistory} renders the same bytes every time`, async ({ play, session }) => {
      const { agent, model } = agentOf([calls(echoing("b", "c3")), "Two.", "Three.", "Four."], { toolHistory });
      for (const text of ["One", "Two", "Three", "Four"]) await play(agent, text, { session });
      const prompts = model.requests.map(({ options }) => options.prompt);
      for (const index of [4, 5]) {
        const before = prompts[index - 1] ?? [];
        expect(before.length).toBeGreaterThan(5);
        expect(JSON.stringify(prompts[index]?.slice(0, before.length))).toBe(JSON.stringify(before));
      }
      expect(shownOf(model.requests[5]?.messages)).toBe(
        "user assistant tool tool assistant user assistant tool assistant user assistant user",
      );
    });
  }

  onStores("is the same for a session that was opened again", async ({ play, session, store }) => {
    const { agent, model } = agentOf(["Two.", "Three."], { toolHistory: "digest" });
    await play(agent, "One", { session });
    await play(agent, "Two", { session });
    const fresh = (await session.branch()).sessionId;
    expect(await store.session(fresh).getItemCount()).toBe(4);
    await play(agent, "Three", { session: store.session("s") });
    const [before, after] = [model.requests[2], model.requests[3]].map((each) => each?.options.prompt ?? []);
    expect(JSON.stringify(after?.slice(0, before?.length))).toBe(JSON.stringify(before));
  });

  onSessions("shows the tools of a failed run after its question", async ({ play, fail, session }) => {
    const model = scriptedModel([calls(echoing("a", "c1")), new Error("down"), "Yes."]);
    const agent = new Agent({ model, tools: [echo], toolHistory: "full" });
    await fail(agent, "Go", { session });
    await play(agent, "Again", { session });
    expect(shownOf(model.requests[2]?.messages)).toBe("user assistant tool user");
  });

  onSessions('shows every message once if the turn was run with persist: "everything"', async ({ play, session }) => {
    const { agent, model } = agentOf(["Yes."], { toolHistory: "full" });
    await play(agent, "Go", { session, persist: "everything" });
    await play(agent, "Sure?", { session });
    expect(shownOf(model.requests[2]?.messages)).toBe("user assistant tool tool assistant user");
  });

  onSessions("does not show the steps of subagents", async ({ play, session }) => {
    const child = new Agent({ name: "child", model: scriptedModel([calls(echoing("a")), "Seen."]), tools: [echo] });
    const model = scriptedModel([calls({ name: "child", input: { prompt: "Look" }, id: "c1" }), "Ok.", "Yes."]);
    const agent = new Agent({ model, tools: [child.asTool()], toolHistory: "full" });
    await play(agent, "Go", { session });
    await play(agent, "Sure?", { session });
    expect(contentOf(model.requests[2]?.messages, "c1")).toBe("[Subagent: child] Seen.");
    expect(model.requests[2]?.messages).toHaveLength(5);
  });

  onSessions("still shows the calls of a tool that no longer exists", async ({ play, session }) => {
    await play(agentOf([]).agent, "Go", { session });
    const model = scriptedModel(["Yes."]);
    await play(new Agent({ model, tools: [reading()], toolHistory: "full" }), "Sure?", { session });
    expect(shownOf(model.requests[0]?.messages)).toBe("user assistant tool tool assistant user");
  });
});
