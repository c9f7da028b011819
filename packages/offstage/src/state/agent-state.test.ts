import { describe, expect, test } from "vitest";
import { buildState, buildStep, buildToolStep, buildUsage } from "../../test/support/build-state.ts";
import { assistant, system, user } from "../messages/makers.ts";
import { MessageStore } from "../messages/messages.ts";
import { AgentState } from "./agent-state.ts";
import type { Outcome } from "./outcome.ts";

const outcome: Outcome = { status: "stopped", reason: "step-limit", message: "enough" };
const used = { m: buildUsage(10, 5) };

/** A state in the middle of a run, with every field set. */
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

  test("names its sections", () => {
    expect([AgentState.DEFAULT_SECTION, AgentState.EXECUTION_BUFFER_SECTION]).toEqual(["messages", "execution_buffer"]);
  });
});

describe("model input", () => {
  const [a, b, c, d, e] = ["a", "b", "c", "d", "e"].map((text) => user(text)) as [never, never, never, never, never];

  test("is summary, buffer, messages and execution buffer, in this order, whatever the order of the store", () => {
    const store = MessageStore.of({ execution_buffer: [d], messages: [c], buffer: [b], summary: [a] });
    const state = AgentState.empty().withMessageStore(store);
    expect(state.messagesForInference().toArray()).toEqual([a, b, c, d]);
  });

  test("has nothing of any other section", () => {
    const state = AgentState.empty().withSection("notes", [e]).withMessages([a]);
    expect(state.messagesForInference().toArray()).toEqual([a]);
  });
});

test("the sections for inference are the lists of the state, so that a reader can tell which of them grew", () => {
  const state = AgentState.empty()
    .withSection("summary", [system("earlier")])
    .withUserMessage("hi");
  const [summary, buffer, messages, executionBuffer] = state.sectionsForInference();
  expect([summary, messages]).toEqual([state.section("summary"), state.messages]);
  expect([buffer?.length, executionBuffer?.length]).toEqual([0, 0]);
  expect(state.withUserMessage("more").sectionsForInference()[2]?.extends(state.messages)).toBe(true);
});

describe("withUserMessage", () => {
  test("appends text or a message to the conversation", () => {
    const state = AgentState.empty()
      .withUserMessage("one")
      .withUserMessage(user("two", { metadata: { id: "2" } }));
    expect(state.messages.toArray()).toEqual([user("one"), user("two", { metadata: { id: "2" } })]);
  });

  test("starts a new run by default", () => {
    const state = busy().withUserMessage("more");
    expect([state.status, state.executionBuffer.length, state.stepCount, state.runId]).toEqual([
      ...["ready", 0, 0, undefined],
    ]);
  });

  test("keeps the run if resetExecutionState is false", () => {
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

  test("does not change the state it is called on", () => {
    const before = busy();
    const text = JSON.stringify(before);
    before.forContinuation().withUserMessage("more");
    expect(JSON.stringify(before)).toBe(text);
  });
});

describe("steps", () => {
  test("make the status running, until the outcome sets it", () => {
    const state = AgentState.empty().withStep(buildStep(), used);
    expect([state.status, state.withOutcome(outcome).status]).toEqual(["running", "stopped"]);
  });

  test("come with the tokens that the run has used by then", () => {
    const state = AgentState.empty().withStep(buildStep(), { a: buildUsage(1, 2), b: buildUsage(3) });
    expect(state.usage).toEqual(buildUsage(4, 2));
    expect(state.usageByModel).toEqual({ a: buildUsage(1, 2), b: buildUsage(3) });
  });

  test("of two continuations of one state do not mix", () => {
    const base = AgentState.empty().withStep(buildStep({ text: "one" }), {});
    const [a, b] = ["a", "b"].map((text) => base.withStep(buildStep({ text }), {}));
    expect([base, a, b].map((state) => state?.steps.map(({ text }) => text))).toEqual([
      ["one"],
      ["one", "a"],
      ["one", "b"],
    ]);
  });

  test("can be replaced from the newest on, without effect on other states", () => {
    const before = buildState({ steps: [buildStep({ text: "one" }), buildStep({ text: "two" })] });
    const after = before.withCurrentStep(buildStep({ text: "other" }));
    expect([before, after].map((state) => state.steps.map(({ text }) => text))).toEqual([
      ["one", "two"],
      ["one", "other"],
    ]);
    expect([after.stepCount, after.currentStep?.text]).toEqual([2, "other"]);
  });

  test("are handed out as a copy", () => {
    const state = buildState({ steps: [buildStep()] });
    (state.steps as unknown[]).pop();
    expect(state.steps).toHaveLength(1);
  });
});

describe("metadata", () => {
  test("is added by key or as an object; the newest value counts", () => {
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

test("a run begins with its ids, and keeps a known parent", () => {
  const state = AgentState.empty().withRun({ runId: "r1", startedAt: 5, parentAgentId: "p" });
  expect([state.runId, state.startedAt, state.parentAgentId]).toEqual(["r1", 5, "p"]);
  expect(state.withRun({ runId: "r2", startedAt: 6 }).parentAgentId).toBe("p");
});

test("withMessages replaces the conversation", () => {
  expect(
    busy()
      .withMessages([assistant("new")])
      .messages.toArray(),
  ).toEqual([assistant("new")]);
});

test("states made from one state share its agent id", () => {
  const first = AgentState.empty();
  const next = first.withUserMessage("Hi").withMetadata("k", 1);
  const { agentId } = next;
  expect([first.agentId, AgentState.fromJSON(JSON.parse(JSON.stringify(first))).agentId]).toEqual([agentId, agentId]);
  expect(AgentState.empty().agentId).not.toBe(agentId);
});

describe("wrong values are refused with a sentence", () => {
  const state = AgentState.empty();
  const refusals: readonly [what: string, act: () => unknown, says: string][] = [
    [
      "a user message that is a number",
      () => state.withUserMessage(5 as never),
      '"message" must be an object with a role',
    ],
    [
      "options that are null",
      () => state.withUserMessage("hi", null as never),
      "The withUserMessage() options must be",
    ],
    [
      "an unknown option",
      () => state.withUserMessage("hi", { reset: true } as never),
      'Unknown withUserMessage() option "reset". Valid options: resetExecutionState.',
    ],
    [
      "messages that are a number",
      () => state.withMessages(5 as never),
      '"messages" must be a list of messages; found 5.',
    ],
    ["messages that are text", () => state.withMessages("hi" as never), '"messages" must be a list of messages'],
    ["a list of texts", () => state.withMessages(["hi"] as never), '"messages" must be a list of messages'],
    ["no messages", () => state.withMessages(undefined as never), '"messages" must be a list of messages'],
    ["a section without a name", () => state.withSection(undefined as never, []), '"name" must be text'],
    ["a store that is an object", () => state.withMessageStore({} as never), '"store" must be a MessageStore'],
    ["metadata that is a number", () => state.withMetadata(5 as never), '"metadata" must be a key and a value, or'],
    [
      "an outcome that is text",
      () => state.withOutcome("stopped" as never),
      '"outcome" must be an object with a status',
    ],
    [
      "a pending step that is empty",
      () => state.withPendingStep({} as never),
      '"pendingStep" must be an object with a',
    ],
    ["a step that is null", () => state.withStep(null as never, {}), '"step" must be a step with messages, text,'],
    [
      "usage that is missing",
      () => state.withStep(buildStep(), undefined as never),
      '"usageByModel" must be an object',
    ],
    ["usage without numbers", () => state.withUsage({ m: {} } as never), '"usageByModel" must be an object of usages'],
    ["a run without an id", () => state.withRun({ startedAt: 5 } as never), '"runId" must be text; found undefined.'],
    [
      "new",
      () => new (AgentState as unknown as new () => AgentState)(),
      "AgentState.empty() or AgentState.fromJSON(…)",
    ],
  ];

  test.for(refusals)("%s", ([, act, says]) => {
    expect(act).toThrow(expect.objectContaining({ name: "OffstageError", message: expect.stringContaining(says) }));
  });

  test("a newest step where there is none", () => {
    expect(() => state.withCurrentStep(buildStep())).toThrow(expect.objectContaining({ code: "invalid-state" }));
  });
});

test("messages may come from any iterable", () => {
  function* said() {
    yield user("one");
    yield user("two");
  }
  expect(AgentState.empty().withMessages(said()).messages.toArray()).toEqual([user("one"), user("two")]);
});
