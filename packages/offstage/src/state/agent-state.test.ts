import { describe, expect, test } from "vitest";
import { buildState, buildStep, buildToolStep, buildUsage } from "../../test/support/build-state.ts";
import { assistant, system, user } from "../messages/makers.ts";
import { MessageStore } from "../messages/message-store.ts";
import { AgentState } from "./agent-state.ts";
import type { Outcome } from "./outcome.ts";

const outcome: Outcome = { status: "stopped", reason: "step-limit", message: "enough" };
const used = { m: buildUsage(10, 5) };

/** A state in the middle of a run, with something in every place. */
const busy = (): AgentState =>
  buildState({ steps: [buildToolStep()], usageByModel: used })
    .withSection("execution_buffer", buildToolStep().messages)
    .withMetadata("user", "Ada")
    .withOutcome(outcome);

describe("an empty state", () => {
  test("has nothing in it and is ready", () => {
    const state = AgentState.empty();
    expect([state.messages.length, state.steps, state.currentStep, state.outcome, state.status]).toEqual([
      ...[0, [], undefined, undefined, "ready"],
    ]);
    expect(state.usage).toEqual(buildUsage(0));
  });

  test("has an agent id of its own", () => {
    expect(AgentState.empty().agentId).not.toBe(AgentState.empty().agentId);
  });

  test("knows its sections by name", () => {
    expect([AgentState.DEFAULT_SECTION, AgentState.EXECUTION_BUFFER_SECTION]).toEqual(["messages", "execution_buffer"]);
  });
});

describe("what the model sees", () => {
  const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map((text) => user(text)) as [never, never, never, never, never];

  test("is summary, buffer, messages and execution buffer, in this order, however they came", () => {
    const store = MessageStore.of({ execution_buffer: [d], messages: [c], buffer: [b], summary: [a] });
    const state = AgentState.empty().withMessageStore(store);
    expect(state.messagesForInference().toArray()).toEqual([a, b, c, d]);
  });

  test("is nothing of any other section", () => {
    const state = AgentState.empty().withSection("notes", [e]).withMessages([a]);
    expect(state.messagesForInference().toArray()).toEqual([a]);
  });
});

describe("withUserMessage", () => {
  test("appends a text, or a message, to the conversation", () => {
    const state = AgentState.empty()
      .withUserMessage("one")
      .withUserMessage(user("two", { metadata: { id: "2" } }));
    expect(state.messages.toArray()).toEqual([user("one"), user("two", { metadata: { id: "2" } })]);
  });

  test("begins a new run unless told otherwise", () => {
    const state = busy().withUserMessage("more");
    expect([state.status, state.executionBuffer.length, state.stepCount, state.runId]).toEqual([
      ...["ready", 0, 0, undefined],
    ]);
  });

  test("leaves the run as it stands where told so", () => {
    const state = busy().withUserMessage("more", { resetExecutionState: false });
    expect([state.status, state.executionBuffer.length, state.stepCount, state.usage]).toEqual([
      ...["stopped", 2, 1, buildUsage(10, 5)],
    ]);
  });
});

describe("forContinuation", () => {
  test("empties the buffer and resets steps, outcome and usage", () => {
    const state = busy().forContinuation();
    expect([state.executionBuffer.length, state.steps, state.currentStep, state.outcome, state.usage]).toEqual([
      ...[0, [], undefined, undefined, buildUsage(0)],
    ]);
    expect([state.usageByModel, state.startedAt, state.runId]).toEqual([{}, undefined, undefined]);
  });

  test("keeps ids, conversation, metadata and the other sections", () => {
    const before = busy().withSection("summary", [system("earlier")]);
    const after = before.forContinuation();
    const kept = (state: AgentState) => [state.agentId, state.createdAt, state.metadata, state.parentAgentId];
    expect(kept(after)).toEqual(kept(before));
    expect(after.messages).toBe(before.messages);
    expect(after.section("summary")).toBe(before.section("summary"));
  });

  test("leaves the state it is called on as it was", () => {
    const before = busy();
    const text = JSON.stringify(before);
    before.forContinuation().withUserMessage("more");
    expect(JSON.stringify(before)).toBe(text);
  });
});

describe("steps", () => {
  test("are running until there is an outcome, then as it says", () => {
    const state = AgentState.empty().withStep(buildStep(), used);
    expect([state.status, state.withOutcome(outcome).status]).toEqual(["running", "stopped"]);
  });

  test("a step brings the tokens the run has used by then", () => {
    const state = AgentState.empty().withStep(buildStep(), { a: buildUsage(1, 2), b: buildUsage(3) });
    expect(state.usage).toEqual(buildUsage(4, 2));
    expect(state.usageByModel).toEqual({ a: buildUsage(1, 2), b: buildUsage(3) });
  });

  test("two continuations of one state do not see each other", () => {
    const base = AgentState.empty().withStep(buildStep({ text: "one" }), {});
    const [a, b] = ["a", "b"].map((text) => base.withStep(buildStep({ text }), {}));
    expect([base, a, b].map((state) => state?.steps.map(({ text }) => text))).toEqual([
      ["one"],
      ["one", "a"],
      ["one", "b"],
    ]);
  });

  test("the newest can be replaced, and nobody else sees it", () => {
    const before = buildState({ steps: [buildStep({ text: "one" }), buildStep({ text: "two" })] });
    const after = before.withCurrentStep(buildStep({ text: "other" }));
    expect([before, after].map((state) => state.steps.map(({ text }) => text))).toEqual([
      ["one", "two"],
      ["one", "other"],
    ]);
    expect([after.stepCount, after.currentStep?.text]).toEqual([2, "other"]);
  });

  test("a list of steps is the caller's to keep", () => {
    const state = buildState({ steps: [buildStep()] });
    (state.steps as unknown[]).pop();
    expect(state.steps).toHaveLength(1);
  });
});

describe("metadata", () => {
  test("is added by key or several at once, the newest counting", () => {
    const state = AgentState.empty()
      .withMetadata("a", 1)
      .withMetadata({ a: 2, b: [3] });
    expect(state.metadata).toEqual({ a: 2, b: [3] });
  });

  test("may have any key", () => {
    const { metadata } = AgentState.empty().withMetadata("__proto__", "x");
    expect([Object.keys(metadata), Object.getPrototypeOf(metadata)]).toEqual([["__proto__"], Object.prototype]);
  });
});

test("a run begins with its ids, and a parent once known stays known", () => {
  const state = AgentState.empty().withRun({ runId: "r1", startedAt: 5, parentAgentId: "p" });
  expect([state.runId, state.startedAt, state.parentAgentId]).toEqual(["r1", 5, "p"]);
  expect(state.withRun({ runId: "r2", startedAt: 6 }).parentAgentId).toBe("p");
});

test("another conversation takes the place of the one there was", () => {
  expect(
    busy()
      .withMessages([assistant("new")])
      .messages.toArray(),
  ).toEqual([assistant("new")]);
});

test("states that come from one have one agent id, whichever is asked first; others have others", () => {
  const first = AgentState.empty();
  const next = first.withUserMessage("Hi").withMetadata("k", 1);
  const { agentId } = next;
  expect([first.agentId, AgentState.fromJSON(JSON.parse(JSON.stringify(first))).agentId]).toEqual([agentId, agentId]);
  expect(AgentState.empty().agentId).not.toBe(agentId);
});
