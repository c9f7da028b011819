// A decision covers one waiting call of one run. It approves no other call, even if a model reuses the call's id.
import { describe, expect, test } from "vitest";
import { compactor, slidingWindow } from "../../src/doors/memory.ts";
import { Agent, AgentState, type Message, memoryStore, tool } from "../../src/index.ts";
import { crashingStore, scriptedModel } from "../../src/testing/index.ts";
import { paying, payingAgent, payTo } from "../support/approval-cast.ts";
import { calls, echo, echoing } from "../support/cast.ts";
import { onSessions } from "../support/session-kinds.ts";

const again = (to: string) => ({ ...payTo(to), id: "same" });
const lengthy = "x".repeat(2_000);

describe("a later call that reuses the id of an approved one", () => {
  for (const [kind, compaction] of [
    ["in the prompt", undefined],
    ["compacted out of the prompt", compactor({ contextWindow: 2_000, strategy: slidingWindow() })],
  ] as const)
    onSessions(`waits for its own approval, with the first call ${kind}`, async ({ play, session }) => {
      const between = Array.from({ length: 6 }, (_, n) => calls(echoing(lengthy, `e${n}`)));
      const script = [calls(again("ann")), ...between, calls(again("everybody")), "Done."];
      const { agent, paid } = payingAgent(script, compaction && { compaction });
      const { runId, approvals } = await play(agent, "Pay Ann", { session });
      const second = await agent.resume(runId, { session, approve: approvals });
      expect(second.outcome.status).toBe("waiting");
      expect(second.approvals).toMatchObject([{ input: { to: "everybody" } }]);
      expect(paid).toEqual(["ann"]);
    });
});

describe("a subagent's call that reuses the id of a call approved in its parent", () => {
  onSessions("waits for its own approval", async ({ play, session }) => {
    const outer = paying();
    const inner = payingAgent([calls(again("everybody")), "Done."], { name: "inner" });
    const model = scriptedModel([calls(again("ann")), calls({ name: "inner", input: { prompt: "Pay" } }), "Done."]);
    const agent = new Agent({ name: "payer", model, tools: [outer.pay, inner.agent.asTool()] });
    const { runId } = await play(agent, "Pay Ann", { session });
    const second = await agent.resume(runId, { session, approve: ["same"] });
    expect(second.approvals).toMatchObject([{ agent: "inner", input: { to: "everybody" } }]);
    expect([outer.paid, inner.paid]).toEqual([["ann"], []]);
  });
});

/** An agent with a subagent that needs approval to start, and again to pay. */
function careful() {
  const began: string[] = [];
  const note = tool({ name: "note", execute: () => began.push("began") });
  const { paid, pay } = paying();
  const clerk = new Agent({
    name: "clerk",
    model: scriptedModel(
      ({ messages }) => [calls({ name: "note" }), calls(payTo("ann"))][toolCount(messages)] ?? "Paid.",
    ),
    tools: [note, pay],
  });
  const model = scriptedModel(({ messages }) =>
    toolCount(messages) === 0 ? calls({ name: "clerk", id: "ask", input: { prompt: "Pay" } }) : "Done.",
  );
  return { began, paid, agent: new Agent({ name: "boss", model, tools: [clerk.asTool({ needsApproval: true })] }) };
}

const toolCount = (messages: readonly { readonly role: string }[]) =>
  messages.filter(({ role }) => role === "tool").length;

describe("a subagent that needs approval to start, and again for a call of its own", () => {
  test("continues where it stopped if resumed by state", async () => {
    const { began, paid, agent } = careful();
    const first = await agent.run("Pay");
    const second = await agent.resume(first.state, { approve: first.approvals });
    expect(second.approvals).toMatchObject([{ agent: "clerk", toolName: "pay" }]);
    const saved = AgentState.fromJSON(JSON.parse(JSON.stringify(second.state)));
    expect((await agent.resume(saved, { approve: second.approvals })).output).toBe("Done.");
    expect([began, paid]).toEqual([["began"], ["ann"]]);
  });

  onSessions("continues where it stopped if resumed by run id", async ({ play, session }) => {
    const { began, paid, agent } = careful();
    const { runId, approvals } = await play(agent, "Pay", { session });
    const second = await agent.resume(runId, { session, approve: approvals });
    expect((await agent.resume(runId, { session, approve: second.approvals })).output).toBe("Done.");
    expect([began, paid]).toEqual([["began"], ["ann"]]);
  });
});

test("a state is not resumed on a store that does not have its run", async () => {
  const store = memoryStore();
  const { agent, paid } = payingAgent([calls(payTo("ann")), "Paid."]);
  const { runId, state } = await agent.run("Pay", { session: store.namespace("a").session("s") });
  await expect(agent.resume(state, { store, approve: ["ann"] })).rejects.toMatchObject({ code: "run-not-found" });
  expect(paid).toEqual([]);
  expect((await agent.resume(runId, { store: store.namespace("a"), approve: ["ann"] })).output).toBe("Paid.");
});

test("a call with unreadable arguments does not run with empty ones after a crash", async () => {
  const purged: unknown[] = [];
  const purge = tool({
    name: "purge",
    idempotent: true,
    input: { type: "object" },
    execute: (input) => purged.push(input),
  });
  const bare = ({ metadata: _, ...message }: Message) => message as Message;
  for (const [text, redact] of [
    ['{"folder": "/tmp/x', undefined],
    [`{"folder":1}${" ".repeat(3_000)}}`, undefined],
    ['{"folder": "/tmp/x', bare],
  ] as const) {
    const store = crashingStore(memoryStore(redact && { redact }), {
      at: "tool.intent",
      when: "after",
      action: new Error("the store broke"),
    });
    const model = scriptedModel([calls({ name: "purge", arguments: text }, echoing("a")), "Sorry."]);
    const agent = new Agent({ model, tools: [purge, echo] });
    const failed = await agent.run("Go", { session: store.session("s") }).catch((error) => error.result);
    const resumed = await agent.resume(failed.runId, { store });
    expect(resumed.steps[0]?.toolResults[0]).toMatchObject({ isError: true });
    expect(resumed.steps[0]?.toolResults[0]?.content).toMatch(/not valid JSON|were redacted/);
  }
  expect(purged).toEqual([]);
});

test("a subagent's run is not resumed by an agent with another name behind the same tool", async () => {
  const store = memoryStore();
  const bossOf = (name: string) => {
    const child = payingAgent([calls(payTo("ann")), "Paid."], { name });
    const model = scriptedModel(({ index }) =>
      index === 0 ? calls({ name: "helper", input: { prompt: "Pay" } }) : "Done.",
    );
    return { child, boss: new Agent({ name: "boss", model, tools: [child.agent.asTool({ name: "helper" })] }) };
  };
  const { runId, approvals } = await bossOf("expert").boss.run("Pay", { session: store.session("s") });
  const { child, boss } = bossOf("intern");
  const { steps } = await boss.resume(runId, { store, approve: approvals });
  expect(steps[0]?.toolResults[0]?.content).toContain('belongs to agent "expert", and this is agent "intern"');
  expect(child.paid).toEqual([]);
});

test("options of resume() may be inherited from a prototype", async () => {
  const { agent } = payingAgent([calls(payTo("ann")), "Paid."]);
  const session = memoryStore().session("s");
  const { runId } = await agent.run("Pay", { session });
  const ended: string[] = [];
  const options = Object.create({ session, approve: ["ann"], hooks: { onRunEnd: () => void ended.push("end") } });
  expect((await agent.resume(runId, options)).output).toBe("Paid.");
  expect(ended).toEqual(["end"]);
});
