// The result of a run is a value: all of its members are own properties.
import { expect } from "vitest";
import type { RunResult } from "../../src/index.ts";
import { payingAgent, payTo } from "../support/approval-cast.ts";
import { bothWays } from "../support/both-ways.ts";
import { calls, echoing, glance } from "../support/cast.ts";

// The compiler demands that every member of a result is listed here.
const members: Readonly<Record<keyof Omit<RunResult, "requireOutput">, true>> = {
  output: true,
  text: true,
  outcome: true,
  state: true,
  steps: true,
  usage: true,
  cost: true,
  runId: true,
  parentRunId: true,
  agent: true,
  traceId: true,
  trace: true,
  messages: true,
  children: true,
  guardrailTrips: true,
  historyCut: true,
  approvals: true,
};

bothWays("a spread copy of a result has every member of the result", async ({ play }) => {
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
