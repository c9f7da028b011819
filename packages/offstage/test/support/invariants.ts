// The invariants of every run, however it was started and however it ended.
import { expect } from "vitest";
import {
  type AgentEvent,
  AgentState,
  type Message,
  type RunResult,
  repairMessages,
  type Usage,
} from "../../src/index.ts";
import { checkSpans } from "../../src/testing/check-spans.ts";

export type RecordedSpan = Parameters<typeof checkSpans>[0] extends Iterable<infer Span> ? Span : never;

const resultKeys = [
  "output",
  "text",
  "outcome",
  "state",
  "steps",
  "usage",
  "cost",
  "runId",
  "parentRunId",
  "agent",
  "traceId",
  "messages",
  "children",
  "guardrailTrips",
] as const;

/** Checks that a result is complete, its messages are valid, its state survives JSON, and its tokens and costs add up. */
export function checkRun(result: RunResult<unknown>): void {
  for (const key of resultKeys) expect(key in result, `a result has "${key}"`).toBe(true);
  checkMessages(result);
  checkState(result);
  checkUsage(result);
  checkCost(result);
  for (const child of result.children) {
    expect(child.parentRunId).toBe(result.runId);
    checkRun(child);
  }
}

function checkMessages({ messages, state, steps, runId, parentRunId, children }: RunResult<unknown>): void {
  const all = messages.all();
  const nested = new Set(children.flatMap((child) => child.messages.all()));
  const own = all.filter((message) => message.metadata?.runId === runId);
  // A step that was cut off has calls without a result.
  expectValid(own.filter(({ metadata }) => Number(metadata?.step ?? 0) <= steps.length));
  expectValid([...state.messages, ...state.executionBuffer]);
  for (const message of own) expect(message.metadata?.parentRunId).toBe(parentRunId);
  if (state.pendingStep === undefined) expect(new Set(all)).toEqual(new Set([...own, ...nested]));
  expect(new Set(all.map((message) => message.metadata?.id)).size, "message ids are unique").toBe(all.length);
  for (const step of steps) {
    expect(step.toolResults.map((each) => each.toolCallId)).toEqual(step.toolCalls.map((each) => each.toolCallId));
  }
}

// repairMessages() returns the same list if it is valid. An empty reply is kept but not sent.
function expectValid(messages: readonly Message[]): void {
  const said = messages.filter(
    (message) => message.role !== "assistant" || message.tool_calls || String(message.content).trim() !== "",
  );
  expect(repairMessages(said), "messages are valid for every provider").toBe(said);
}

function checkState({ state, outcome, runId }: RunResult<unknown>): void {
  expect(state.outcome).toEqual(outcome);
  expect(state.runId).toBe(runId);
  const json: unknown = JSON.parse(JSON.stringify(state));
  expect(JSON.parse(JSON.stringify(AgentState.fromJSON(json)))).toEqual(json);
  const isOver = outcome.status === "completed" || (outcome.status === "stopped" && outcome.reason !== "aborted");
  if (isOver) expect(state.executionBuffer.length, "the buffer is empty").toBe(0);
}

// Subagents may have prices of their own, so only a run without them is checked.
function checkCost({ cost, steps, children, outcome }: RunResult<unknown>): void {
  if (outcome.status !== "completed" || children.length > 0) return;
  const costs = steps.map((step) => step.cost ?? (step.usage.totalTokens === 0 ? 0 : undefined));
  if (costs.includes(undefined)) expect(cost).toBeUndefined();
  else
    expect(cost).toBeCloseTo(
      costs.reduce<number>((sum, each) => sum + (each ?? 0), 0),
      10,
    );
}

function isCutOff(reason: string): boolean {
  return reason === "aborted" || reason === "stop-requested";
}

function checkUsage({ usage, steps, children, outcome }: RunResult<unknown>): void {
  const sum = (pick: (usage: Usage) => number) =>
    [...steps, ...children].reduce((total, each) => total + pick(each.usage), 0);
  const known = { input: sum((each) => each.inputTokens), output: sum((each) => each.outputTokens) };
  expect(usage.totalTokens).toBe(usage.inputTokens + usage.outputTokens);
  const isWhole = outcome.status !== "failed" && outcome.status !== "waiting" && !isCutOff(outcome.reason);
  if (isWhole) expect({ input: usage.inputTokens, output: usage.outputTokens }).toEqual(known);
  else expect(usage.totalTokens).toBeGreaterThanOrEqual(known.input + known.output);
}

/** Returns what is wrong with the spans of these runs: each must end once, in its place, and before its run. */
export function checkTraces(spans: readonly RecordedSpan[], results: readonly RunResult<unknown>[]): string[] {
  const active = results.flatMap(({ trace }) => trace?.getSpans() ?? []).filter((span) => span.status === "active");
  const late = spans.filter((span, index) => {
    const root = spans.findIndex((each) => each.traceId === span.traceId && each.parentSpanId === undefined);
    return root !== -1 && index > root;
  });
  return [
    ...checkSpans(spans),
    ...active.map((span) => `"${span.name}" never ended`),
    ...late.map((span) => `"${span.name}" ended after its run`),
  ];
}

/** Checks that a stream begins with run-start, ends with run-end, and that every event names its run and step. */
export function checkEvents(events: readonly AgentEvent[]): void {
  expect(events.at(0)?.type).toBe("run-start");
  expect(events.at(-1)?.type).toBe("run-end");
  const { runId } = events[0] as AgentEvent;
  for (const event of events) {
    expect(event.runId).toBe(runId);
    if (stepTypes.has(event.type)) expect(event, event.type).toMatchObject({ step: expect.any(Number) });
    if (event.type.endsWith("-delta")) expect((event as { delta: string }).delta).not.toBe("");
  }
}

const stepTypes = new Set([
  "step-start",
  "step-end",
  "model-start",
  "model-end",
  "model-retry",
  "text-delta",
  "reasoning-delta",
  "tool-input-delta",
  "tool-start",
  "tool-end",
  "subagent-event",
]);
