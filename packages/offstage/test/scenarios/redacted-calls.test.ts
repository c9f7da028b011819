// A call whose arguments were redacted in the store never runs with the redacted arguments.
import { describe, expect, test } from "vitest";
import { type Agent, type AgentState, type Message, memoryStore, type RunResult, tool } from "../../src/index.ts";
import { crashingStore } from "../../src/testing/index.ts";
import { paying } from "../support/approval-cast.ts";
import { calls } from "../support/cast.ts";
import { canary, pay, removing, saying } from "../support/redaction-cast.ts";

describe("a call whose arguments were redacted", () => {
  const waiting = async (agent: Agent<unknown>) => {
    const store = memoryStore({ redact: removing });
    return { store, ...(await agent.run("Go", { session: store.session("s") })) };
  };
  const payer = () => {
    const { paid, pay: tool } = paying();
    return { paid, agent: saying([calls(pay), "Done."], { name: "clerk", tools: [tool] }) };
  };

  test("cannot be approved by run id, but runs with its real arguments if approved by state", async () => {
    const { paid, agent } = payer();
    const { store, runId, state } = await waiting(agent);
    await expect(agent.resume(runId, { store, approve: ["pay"] })).rejects.toMatchObject({
      code: "run-not-resumable",
      message: expect.stringContaining("its arguments were redacted in the store. Resume the run by its last state"),
    });
    expect((await store.runs.get(runId))?.status).toBe("waiting");
    expect((await agent.resume(state, { store, approve: ["pay"] })).output).toBe("Done.");
    expect(paid).toEqual([canary]);
  });

  test("is recognised even if the redactor mutates the message, and the run keeps the real arguments", async () => {
    const { paid, pay: tool } = paying();
    const agent = saying([calls(pay), "Done."], { name: "clerk", tools: [tool] });
    const redact = (message: Message): Message => {
      const shown = message as { tool_calls?: { function: { arguments: string } }[] };
      for (const call of shown.tool_calls ?? []) call.function.arguments = "{}";
      return message;
    };
    const store = memoryStore({ redact });
    const { runId, approvals, state } = await agent.run("Go", { session: store.session("s") });
    expect(approvals).toMatchObject([{ input: { to: canary } }]);
    await expect(agent.resume(runId, { store, approve: ["pay"] })).rejects.toThrow("were redacted in the store");
    await agent.resume(state, { store, approve: ["pay"] });
    expect(paid).toEqual([canary]);
  });

  test("does not prevent resuming a subagent that waits inside the call", async () => {
    const { paid, pay: tool } = paying();
    const clerk = saying([calls({ ...pay, input: {} }), "Done."], { name: "clerk", tools: [tool] });
    const agent = saying([calls({ name: "clerk", input: { prompt: canary } }), "Done."], { tools: [clerk.asTool()] });
    const redact = (message: Message): Message => JSON.parse(JSON.stringify(message).replaceAll("prompt", "p"));
    const store = memoryStore({ redact });
    const { runId, approvals } = await agent.run("Go", { session: store.session("s") });
    expect((await agent.resume(runId, { store, approve: approvals })).output).toBe("Done.");
    expect(paid).toHaveLength(1);
    expect((await store.runs.get(runId))?.children).toMatchObject([{ status: "completed" }]);
  });

  test("is reported as interrupted if it may have started, even if its tool is idempotent", async () => {
    const put = tool({ name: "put", idempotent: true, input: { type: "object" }, execute: () => "put" });
    const agent = saying([calls({ name: "put", input: { to: canary } }), "Done."], { tools: [put] });
    const cut = { at: "tool.intent", when: "after", action: new Error("the store broke") } as const;
    const store = crashingStore(memoryStore({ redact: removing }), cut);
    const { result } = await agent.run("Go", { session: store.session("s") }).catch((error) => error);
    const { steps } = await agent.resume(result.runId, { store });
    expect(steps[0]?.toolResults[0]?.content).toContain('"put" was interrupted and is not run again: its arguments');
  });

  test("can be rejected like any other call", async () => {
    const { paid, agent } = payer();
    const { store, runId } = await waiting(agent);
    expect((await agent.resume(runId, { store, reject: ["pay"] })).output).toBe("Done.");
    expect(paid).toEqual([]);
  });

  test("does not run in a subagent resumed by id, whose model is told why", async () => {
    const paidTo = async (source: (waiting: RunResult<unknown>) => AgentState | string) => {
      const { paid, agent: clerk } = payer();
      const ask = { name: "clerk", input: { prompt: "Pay" } };
      const agent = saying([calls(ask), "Done."], { tools: [clerk.asTool()] });
      const { store, ...left } = await waiting(agent);
      await agent.resume(source(left), { store, approve: left.approvals });
      const child = (await store.runs.get(left.runId))?.children[0]?.runId ?? "";
      return { paid, told: (await store.runs.get(child))?.steps[0]?.messages.at(-1)?.content };
    };
    const byId = await paidTo(({ runId }) => runId);
    expect(byId.paid).toEqual([]);
    expect(byId.told).toContain('The tool "pay" was not run: its arguments were redacted');
    expect((await paidTo(({ state }) => state)).paid).toEqual([canary]);
  });
});
