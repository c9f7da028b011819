// The result of a run as a value: what it has is its own.
import { expect } from "vitest";
import type { RunResult } from "../../src/index.ts";
import { payingAgent, payTo } from "../support/approval-cast.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echoing, glance } from "../support/cast.ts";

// Listed by the compiler: what a result gains is missed here until it is added.
const members: Readonly<Record<keyof RunResult, true>> = {
  output: true,
  text: true,
  outcome: true,
  state: true,
  steps: true,
  usage: true,
  runId: true,
  parentRunId: true,
  agent: true,
  traceId: true,
  trace: true,
  messages: true,
  children: true,
  guardrailTrips: true,
  approvals: true,
};

bothWays("a copy of a result has everything the result has", async ({ play }) => {
  const { agent } = payingAgent([calls(echoing("a")), calls(payTo("ann"))]);
  const result = await play(agent, "Pay Ann");
  const copy = { ...result };
  expect(Object.keys(copy).sort()).toEqual(Object.keys(members).sort());
  expect(copy.usage.totalTokens).toBe(30);
  expect(copy.steps).toHaveLength(1);
  expect(copy.traceId).toBe(result.trace?.traceId);
  expect(copy.approvals).toMatchObject([{ toolCallId: "ann", runId: result.runId }]);
  expect(glance(copy.messages.all())).toEqual([
    "user: Pay Ann",
    "assistant: [echo]",
    "tool: echo a",
    "assistant: [pay]",
  ]);
});
