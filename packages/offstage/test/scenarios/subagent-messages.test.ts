// Queries over a run include its subagents, in chronological order and marked by run, agent and parent.
import { describe, expect, test } from "vitest";
import { Agent, type AgentOptions, InMemorySession, tool, user } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { payingFamily } from "../support/approval-cast.ts";
import { bothWays } from "../support/both-ways.ts";
import { broken, calls, echo, echoing, glance, patient, pause } from "../support/cast.ts";

function agent(name: string, script: readonly ScriptEntry[], tools: AgentOptions["tools"] = []): Agent {
  return new Agent({ name, model: scriptedModel(script), tools });
}

const ask = (name: string, prompt = "Do it") => ({ name, input: { prompt } });

function family() {
  const child = agent("helper", [calls({ name: "broken" }), "It burst."], [broken]);
  const boss = agent("boss", [calls(ask("helper")), "Thanks."], [child.asTool()]);
  return { boss, child };
}

const everything = [
  "user: Go",
  "assistant: [helper]",
  "user: Do it",
  "assistant: [broken]",
  'tool: The tool "broken" failed: the pipe burst',
  "assistant: It burst.",
  "tool: [Subagent: helper] It burst.",
  "assistant: Thanks.",
];

describe("the messages of a run", () => {
  bothWays("have those of a subagent between the call and its result", async ({ play }) => {
    const { messages } = await play(family().boss, "Go");
    expect(glance(messages)).toEqual(everything);
  });

  bothWays("name the run and the agent of each message, and the parent of a subagent's", async ({ play }) => {
    const { messages, runId, children } = await play(family().boss, "Go");
    const [child] = children;
    expect(messages.all().map(({ metadata }) => [metadata?.runId, metadata?.agent, metadata?.parentRunId])).toEqual([
      ...Array(2).fill([runId, "boss", undefined]),
      ...Array(4).fill([child?.runId, "helper", runId]),
      ...Array(2).fill([runId, "boss", undefined]),
    ]);
  });

  bothWays("can be filtered: without subagents, only theirs, or those of one agent", async ({ play }) => {
    const { messages } = await play(family().boss, "Go");
    const own = [0, 1, 6, 7].map((index) => everything[index]);
    expect(glance(messages.filter({ subagents: false }))).toEqual(own);
    expect(glance(messages.where({ subagents: true }))).toEqual(everything.slice(2, 6));
    expect(messages.filter({ agent: "helper" })).toEqual(messages.filter({ subagents: true }));
    expect(messages.where({ subagents: false }).toolSummary()).toMatchObject([{ toolName: "helper" }]);
  });

  bothWays("count a subagent's failing tool and all of its tokens", async ({ play }) => {
    const { messages, usage } = await play(family().boss, "Go");
    expect(messages.toolSummary()).toMatchObject([
      { toolName: "helper", callCount: 1, errorCount: 0 },
      { toolName: "broken", callCount: 1, errorCount: 1, calls: [{ agent: "helper" }] },
    ]);
    expect(messages.stats()).toMatchObject({ totalMessages: 8, usage });
    expect(messages.filter({ isError: true })).toHaveLength(1);
    expect(JSON.parse(messages.export("json"))).toHaveLength(8);
  });

  bothWays("have subagents that ran in parallel, each before its own result", async ({ play }) => {
    const names = ["p", "q"];
    const slow = (name: string) => agent(name, [() => pause(name === "p" ? 10 : 1).then(() => `${name}!`)]);
    const children = names.map(slow);
    const boss = agent(
      "boss",
      [calls(...names.map((name) => ask(name))), "Ok."],
      children.map((child) => child.asTool()),
    );
    expect(glance((await play(boss, "Go")).messages).slice(2, -1)).toEqual([
      ...["user: Do it", "assistant: p!", "tool: [Subagent: p] p!"],
      ...["user: Do it", "assistant: q!", "tool: [Subagent: q] q!"],
    ]);
  });

  bothWays("have a subagent's even if the run was aborted inside it", async ({ play, ended }) => {
    const controller = new AbortController();
    const child = agent("helper", [calls(echoing("a")), calls({ name: "patient" })], [echo, patient]);
    const boss = agent("boss", [calls(ask("helper"))], [child.asTool()]);
    setTimeout(() => controller.abort(), 10);
    await play(boss, "Go", { signal: controller.signal }).catch(() => {});
    const exchanged = [
      "user: Go",
      "assistant: [helper]",
      "user: Do it",
      "assistant: [echo]",
      "tool: echo a",
      "assistant: [patient]",
    ];
    expect(glance(ended.at(-1)?.messages ?? [])).toEqual(exchanged);
    expect(glance(boss.messages)).toEqual(exchanged);
  });

  bothWays("have those of a subagent that waits, and after resume() all of them once", async ({ play }) => {
    const { agent: outer } = payingFamily("ann");
    const waiting = await play(outer, "Pay");
    const soFar = [
      "user: Pay",
      "assistant: [middle]",
      "user: Pay",
      "assistant: [inner]",
      "user: Pay",
      "assistant: [pay]",
    ];
    expect(glance(waiting.messages)).toEqual(soFar);
    expect(glance(outer.messages)).toEqual(soFar);
    const resumed = await outer.resume(waiting.state, { approve: waiting.approvals });
    const all = [
      ...soFar,
      "tool: paid ann",
      "assistant: Paid.",
      "tool: [Subagent: inner] Paid.",
      "assistant: Inner paid.",
      "tool: [Subagent: middle] Inner paid.",
      "assistant: All paid.",
    ];
    expect(glance(resumed.messages)).toEqual(all);
    expect(glance(outer.messages)).toEqual(all);
  });
});

describe("agent.messages", () => {
  bothWays("has what subagents exchanged, once; a subagent's own list has it too", async ({ play }) => {
    const { boss, child } = family();
    const { messages } = await play(boss, "Go");
    expect(boss.getMessages()).toEqual(messages.all());
    expect(boss.messages.all()).toEqual(messages.all());
    expect(child.getMessages()).toEqual(messages.filter({ subagents: true }));
    expect(boss.getContextState().messageCount).toBe(8);
  });

  test("has a message once if an agent calls itself", async () => {
    const again = tool({
      name: "again",
      input: { type: "object" },
      execute: (_, about) => self.asTool().execute({ prompt: "Again" }, about),
    });
    const self: Agent = agent("self", [calls({ name: "again" }), "Inner.", "Outer."], [again]);
    const { messages } = await self.run("Go");
    expect(glance(messages)).toEqual([
      "user: Go",
      "assistant: [again]",
      "user: Again",
      "assistant: Inner.",
      "tool: [Subagent: self] Inner.",
      "assistant: Outer.",
    ]);
    expect(self.getMessages()).toEqual(messages.all());
  });
});

describe("a subagent's messages never reach", () => {
  bothWays("a model, a session or a state of the parent", async ({ play }) => {
    const child = agent("helper", [calls(echoing("secret")), "Done."], [echo]);
    const model = scriptedModel([calls(ask("helper")), "Thanks.", "Again."]);
    const boss = new Agent({ name: "boss", model, tools: [child.asTool()], toolHistory: "full" });
    const session = new InMemorySession("s");
    const { state } = await play(boss, "Go", { session });
    await play(boss, "And?", { session });
    expect(JSON.stringify([model.requests, state, await session.getItems()])).not.toMatch(/secret|parentRunId/);
  });

  bothWays("another run as a subagent's: passed as input they are ordinary messages", async ({ play }) => {
    const { boss } = family();
    const { messages } = await play(boss, "Go");
    const other = await play(agent("other", ["Ok."]), [...messages.filter({ subagents: true }), user("So?")]);
    expect(other.messages.filter({ subagents: true })).toEqual([]);
  });
});
