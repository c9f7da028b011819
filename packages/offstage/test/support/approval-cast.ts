// The parts that approval scenarios share: a tool that needs approval, and agents that call it at some depth.
import { Agent, type AgentOptions, type Tool, tool } from "../../src/index.ts";
import { type ScriptEntry, scriptedModel } from "../../src/testing/index.ts";
import { calls, echo } from "./cast.ts";

/** A tool that pays and records its payments. It needs approval by default. */
export function paying(needsApproval: Tool["needsApproval"] = true) {
  const paid: string[] = [];
  const pay = tool({
    name: "pay",
    input: { type: "object", properties: { to: { type: "string" } } },
    needsApproval,
    execute: (input) => {
      const { to } = input as { to: string };
      paid.push(to);
      return `paid ${to}`;
    },
  });
  return { paid, pay };
}

/** A call of `pay` whose id is the name. */
export function payTo(to: string) {
  return { name: "pay", id: to, input: { to } };
}

export function payingAgent(script: readonly ScriptEntry[], options: Partial<AgentOptions> = {}) {
  const { paid, pay } = paying();
  const model = scriptedModel(script);
  return { paid, model, agent: new Agent({ name: "payer", model, tools: [pay, echo], ...options }) };
}

/** Three nested agents, of which the innermost pays all names in parallel. */
export function payingFamily(...names: readonly string[]) {
  const inner = payingAgent([calls(...names.map(payTo)), "Paid."], { name: "inner" });
  const middle = new Agent({
    name: "middle",
    model: scriptedModel([calls({ name: "inner", id: "to-inner", input: { prompt: "Pay" } }), "Inner paid."]),
    tools: [inner.agent.asTool()],
  });
  const model = scriptedModel([calls({ name: "middle", id: "to-middle", input: { prompt: "Pay" } }), "All paid."]);
  const agent = new Agent({ name: "outer", model, tools: [middle.asTool()] });
  return { paid: inner.paid, inner: inner.model, model, agent };
}
