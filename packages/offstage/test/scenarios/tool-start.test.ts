// The events around a call: tool-start means that the tool really starts, and approval-request that a person is needed.
import { describe, expect, test } from "vitest";
import { Agent, type AgentEvent, type AgentOptions, memoryStore, type RunResult, tool } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { paying, payTo } from "../support/approval-cast.ts";
import { calls, glance } from "../support/cast.ts";

interface Played {
  readonly events: string[];
  readonly result: RunResult<unknown>;
}

function shown(event: AgentEvent): string[] {
  if (event.type === "subagent-event") return shown(event.event).map((each) => `in ${each}`);
  return "toolCallId" in event ? [`${event.type} ${event.toolCallId}`] : [];
}

async function streamed(stream: ReturnType<Agent["stream"]>): Promise<Played> {
  const events: string[] = [];
  for await (const event of stream) events.push(...shown(event).filter((each) => !each.includes("tool-input-delta")));
  return { events, result: await stream.result };
}

function payer(script: readonly ScriptEntry[], options: Partial<AgentOptions> = {}) {
  const { pay, paid } = paying();
  const model = scriptedModel(script);
  return { paid, model, agent: new Agent({ name: "payer", model, tools: [pay], ...options }) };
}

describe("tool-start", () => {
  test.each<[string, object, Partial<AgentOptions>]>([
    ["an unknown tool", { name: "nope", id: "x" }, {}],
    ["arguments that are not JSON", { name: "free", id: "x", arguments: "{" }, {}],
    ["input that does not fit", { name: "free", id: "x", input: { n: "text" } }, {}],
    [
      "a call that a guardrail blocks",
      { name: "free", id: "x", input: { n: 1 } },
      { toolInputGuardrails: [{ name: "no", check: () => false }] },
    ],
  ])("is not emitted for %s, but tool-end is", async (_, call, options) => {
    const input = { type: "object", properties: { n: { type: "number" } } };
    const free = tool({ name: "free", input, execute: () => "ran" });
    const model = scriptedModel([calls(call as { name: string }), "Done."]);
    const { events } = await streamed(new Agent({ model, tools: [free], ...options }).stream("Go"));
    expect(events).toEqual(["tool-end x"]);
  });

  test("is emitted once for a call that waits, when it is approved, and never for one that is rejected", async () => {
    const { agent } = payer([calls(payTo("ann"), payTo("bob")), "Done."]);
    const first = await streamed(agent.stream("Pay"));
    expect(first.events).toEqual(["approval-request ann", "approval-request bob"]);
    const { state } = first.result;
    const second = await streamed(agent.resumeStream(state, { approve: ["ann"], reject: ["bob"] }));
    expect(second.events.sort()).toEqual(["tool-end ann", "tool-end bob", "tool-start ann"]);
  });

  test("is not emitted again on resume for calls that have finished or still wait", async () => {
    const { pay } = paying();
    const free = tool({ name: "free", input: {}, execute: () => "ran" });
    const model = scriptedModel([calls({ name: "free", id: "f" }, payTo("ann")), "Done."]);
    const agent = new Agent({ model, tools: [pay, free] });
    const first = await streamed(agent.stream("Go"));
    expect(first.events).toEqual(["approval-request ann", "tool-start f", "tool-end f"]);
    const idle = await streamed(agent.resumeStream(first.result.state));
    expect(idle.events).toEqual([]);
  });

  test("is not emitted again for a subagent that is resumed", async () => {
    const inner = payer([calls(payTo("ann")), "Paid."]);
    const model = scriptedModel([calls({ name: "payer", id: "p", input: { prompt: "Pay" } }), "Done."]);
    const agent = new Agent({ name: "outer", model, tools: [inner.agent.asTool()] });
    const first = await streamed(agent.stream("Go"));
    expect(first.events).toEqual(["tool-start p", "in approval-request ann"]);
    const second = await streamed(agent.resumeStream(first.result.state, { approve: ["ann"] }));
    expect(second.events).toEqual(["in tool-start ann", "in tool-end ann", "tool-end p"]);
  });
});

describe("onApproval", () => {
  test.each<[string, unknown, string]>([
    ["true runs the call", true, "tool: paid ann"],
    ["false rejects it", false, 'tool: The call to the tool "pay" was rejected by the user and not run.'],
    ["a reason rejects it", { reason: "Too much." }, "Reason: Too much."],
    ["an input changes it", { input: { to: "ben" } }, "tool: [approved with changes] paid ben"],
  ])("decides without pausing the run: %s", async (_, decision, told) => {
    const { agent, model } = payer([calls(payTo("ann")), "Done."]);
    const seen: unknown[] = [];
    const { output, approvals } = await agent.run("Pay", {
      onApproval: async (approval) => {
        seen.push(approval);
        return decision as boolean;
      },
    });
    expect([output, approvals]).toEqual(["Done.", []]);
    expect(seen).toMatchObject([{ kind: "call", toolName: "pay", input: { to: "ann" } }]);
    expect(glance(model.requests[1]?.messages ?? []).at(-1)).toContain(told);
  });

  test.each<[string, () => unknown]>([
    ["returns undefined", () => undefined],
    ["throws", () => expect.fail("no idea")],
    ["returns something else", () => "yes"],
    ["changes the input to one that does not fit", () => ({ input: { to: 5 } })],
  ])("lets the call wait if it %s", async (_, decide) => {
    const { agent, paid } = payer([calls(payTo("ann")), "Done."], { onApproval: decide as () => undefined });
    const { outcome, state } = await agent.run("Pay");
    expect([outcome.status, paid]).toEqual(["waiting", []]);
    const done = await agent.resume(state, { onApproval: () => true });
    expect([done.output, paid]).toEqual(["Done.", ["ann"]]);
  });

  test("shows the model the changed input, and the record keeps both", async () => {
    const store = memoryStore();
    const { agent, model } = payer([calls(payTo("ann"), payTo("bob")), "Done."]);
    const session = store.session("s");
    const { runId } = await agent.run("Pay", { session, onApproval: () => ({ input: { to: "ben" } }) });
    const seen = model.requests[1]?.messages.find(({ role }) => role === "assistant");
    const stored = (await store.runs.get(runId))?.steps[0]?.messages[0];
    for (const message of [seen, stored])
      expect(message).toMatchObject({
        tool_calls: [{ function: { arguments: '{"to":"ben"}' } }, { function: { arguments: '{"to":"ben"}' } }],
      });
  });

  test("reaches subagents, and answers questions", async () => {
    const ask = tool({ name: "ask", input: {}, execute: (_, options) => options.ask({ message: "Well?" }) });
    const inner = new Agent({ name: "inner", model: scriptedModel([calls({ name: "ask" }), "Heard."]), tools: [ask] });
    const model = scriptedModel([calls({ name: "inner", input: { prompt: "Ask" } }), "Done."]);
    const outer = new Agent({ model, tools: [inner.asTool()] });
    const kinds: string[] = [];
    const { output, children } = await outer.run("Go", {
      onApproval: ({ kind, agent }) => {
        kinds.push(`${agent} ${kind}`);
        return { value: "Yes." };
      },
    });
    expect([output, kinds]).toEqual(["Done.", ["inner question"]]);
    expect(children[0]?.steps[0]?.toolResults[0]?.output).toBe("Yes.");
  });
});
