import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildState, buildStep, buildToolStep, buildUsage } from "../../test/support/build-state.ts";
import { validHistories } from "../../test/support/generated-histories.ts";
import { AgentState } from "./agent-state.ts";
import type { Outcome } from "./outcome.ts";
import type { Step } from "./step.ts";

const stored = (state: AgentState): AgentState => AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
const outcome: Outcome = { status: "stopped", reason: "step-limit", message: "enough", criterion: "step-limit" };
const json = (changes: object = {}) => ({ ...buildState({ steps: [buildToolStep()] }).toJSON(), ...changes });

/** The message of the error with which a value is refused. */
function refusal(value: unknown): string {
  try {
    AgentState.fromJSON(value);
  } catch (error) {
    expect(error).toMatchObject({ code: "invalid-state" });
    return (error as Error).message;
  }
  throw new Error("it was read");
}

describe("a state survives JSON", () => {
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.oneof(
      fc.string().map((text) => buildStep({ text, reasoning: text })),
      fc
        .array(fc.record({ name: fc.string(), isError: fc.boolean() }), { minLength: 1, maxLength: 3 })
        .map((calls) => buildToolStep(calls)),
    ),
    { maxLength: 4 },
  );
  // Objects put keys that look like numbers first, whatever the order they came in.
  const sectionName = fc.string().filter((name) => !/^\d+$/.test(name));
  const states = fc
    .record({
      steps,
      sections: fc.dictionary(sectionName, validHistories, { maxKeys: 3 }),
      metadata: fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
      usageByModel: fc.dictionary(
        fc.string(),
        fc.nat().map((count) => buildUsage(count)),
        { maxKeys: 3 },
      ),
      isOver: fc.boolean(),
      isChild: fc.boolean(),
    })
    .map(({ steps, sections, metadata, usageByModel, isOver, isChild }) => {
      let state = buildState({ steps, usageByModel, startedAt: 5 });
      for (const [name, messages] of Object.entries(sections)) state = state.withSection(name, messages);
      state = state.withMetadata(JSON.parse(JSON.stringify(metadata)));
      if (isChild) state = state.withRun({ runId: "r2", startedAt: 6, parentAgentId: "p" });
      return isOver ? state.withOutcome(outcome) : state;
    });

  test("any state is the same after JSON.parse(JSON.stringify())", () => {
    const property = fc.property(states, (state) => {
      expect(stored(state).toJSON()).toEqual(JSON.parse(JSON.stringify(state)));
      expect(JSON.stringify(stored(state))).toBe(JSON.stringify(state));
    });
    fc.assert(property, { numRuns: 200 });
  });

  test("all its fields are the same", () => {
    const property = fc.property(states, (state) => {
      const read = stored(state);
      for (const it of [
        "agentId",
        "parentAgentId",
        "runId",
        "createdAt",
        "startedAt",
        "status",
        "stepCount",
      ] as const) {
        expect(read[it]).toEqual(state[it]);
      }
      expect([read.usage, read.usageByModel, read.outcome]).toEqual([state.usage, state.usageByModel, state.outcome]);
      expect(read.store.names).toEqual(state.store.names);
      expect(read.messagesForInference().toArray()).toEqual(state.messagesForInference().toArray());
    });
    fc.assert(property, { numRuns: 100 });
  });

  test("it continues from its last step", () => {
    const read = stored(buildState({ steps: [buildToolStep()] }));
    const next = read.withStep(buildStep(), { m: buildUsage(5) });
    expect([next.stepCount, read.stepCount, next.currentStep?.isAnswer]).toEqual([2, 1, true]);
  });

  test("it is plain data with a version", () => {
    const written = AgentState.empty().toJSON();
    expect(written).toMatchObject({ version: 1, sections: {}, metadata: {}, steps: [], usageByModel: {} });
    expect(JSON.parse(JSON.stringify(written))).toEqual(written);
  });
});

describe("a version that cannot be read is refused", () => {
  test("a newer one, with the advice to update", () => {
    expect(refusal(json({ version: 2 }))).toBe(
      "AgentState.fromJSON cannot read this state: it has version 2, and this Offstage reads up to 1: update Offstage to read it.",
    );
  });

  test.for([undefined, null, "1", 1.5, 0, -1])("%j is not a version", (version) => {
    expect(refusal(json({ version }))).toContain('"version" must be a whole number of at least 1');
  });
});

describe("a field that does not fit is named", () => {
  test.for([null, undefined, "text", 5, []])("%j is not a state", (value) => {
    expect(refusal(value)).toContain("the value is not an object");
  });

  const step = buildToolStep();
  const open = { ...step, messages: step.messages.slice(0, 1), toolResults: [] };
  const waiting = { toolCallId: "c1", why: "approval" };
  const faults: readonly [what: string, changes: object, says: string][] = [
    ["no agent id", { agentId: undefined }, '"agentId" must be text'],
    ["a parent that is not text", { parentAgentId: null }, '"parentAgentId" must be text'],
    ["a run id that is not text", { runId: 5 }, '"runId" must be text'],
    ["no date", { createdAt: undefined }, '"createdAt" must be text'],
    ["a start that is not a number", { startedAt: "now" }, '"startedAt" must be a number'],
    ["sections that are a list", { sections: [] }, '"sections" must be an object'],
    ["a section that is not a list", { sections: { messages: 5 } }, '"sections.messages" must be a list of messages'],
    [
      "a message with an unknown role",
      { sections: { messages: [{ role: "x" }] } },
      '"sections.messages[0].role" must be',
    ],
    ["metadata that is text", { metadata: "x" }, '"metadata" must be an object'],
    ["steps that are not a list", { steps: {} }, '"steps" must be a list'],
    ["a step that is null", { steps: [step, null] }, '"steps[1]" must be an object'],
    ["a step without messages", { steps: [{ ...step, messages: undefined }] }, '"steps[0].messages" must be a list'],
    [
      "a step with a broken message",
      { steps: [{ ...step, messages: [5] }] },
      '"steps[0].messages[0]" must be an object',
    ],
    ["a step without results", { steps: [{ ...step, toolResults: null }] }, '"steps[0].toolResults" must be a list'],
    ["a step without text", { steps: [{ ...step, text: null }] }, '"steps[0].text" must be text'],
    ["an outcome that is text", { outcome: "stopped" }, '"outcome" must be an object with a status'],
    ["a pending step that is empty", { pendingStep: {} }, '"pendingStep" must be an object with a step'],
    ["a broken pending step", { pendingStep: { step: {}, waiting: [] } }, '"pendingStep.step.messages" must be a list'],
    [
      "a pending step without waiting calls",
      { pendingStep: { step } },
      '"pendingStep.waiting" must be a list of calls',
    ],
    [
      "a waiting call that is null",
      { pendingStep: { step, waiting: [null] } },
      '"pendingStep.waiting" must be a list of calls',
    ],
    [
      "a waiting call that the step did not make",
      { pendingStep: { step, waiting: [{ toolCallId: "other", why: "approval" }] } },
      '"pendingStep.waiting" must be a list of calls of its step',
    ],
    [
      "a call that is null",
      { steps: [{ ...step, toolCalls: [null] }] },
      '"steps[0].toolCalls" must be a list of calls',
    ],
    [
      "a result that is a number",
      { steps: [{ ...step, toolResults: [5] }] },
      '"steps[0].toolResults" must be a list of',
    ],
    ["a step without a reply", { steps: [{ ...step, messages: [] }] }, '"steps[0].messages" must begin with the reply'],
    ["a step without a number", { steps: [{ ...step, index: 0 }] }, '"steps[0].index" must be a whole number from 1'],
    [
      "a step without usage",
      { steps: [{ ...step, usage: {} }] },
      '"steps[0].usage" must be an object with token counts',
    ],
    [
      "a result without an id",
      { steps: [{ ...step, toolResults: [{ content: "x", isError: false }] }] },
      '"steps[0].toolResults" must be a list of results',
    ],
    [
      "an outcome without a reason",
      { outcome: { status: "stopped", message: "x" } },
      '"outcome" must be an object with a status, a reason',
    ],
    ["an unknown status", { outcome: { ...outcome, status: "lost" } }, '"outcome" must be an object with a status'],
    [
      "a pending step whose reply has no calls",
      { pendingStep: { step: { ...open, messages: buildStep().messages }, waiting: [waiting] } },
      '"pendingStep.step.messages" must begin with the calls of its step',
    ],
    [
      "a waiting call that has a result",
      { pendingStep: { step, waiting: [waiting] } },
      '"pendingStep.waiting" must be a list of calls of its step',
    ],
    [
      "a call that waits twice",
      { pendingStep: { step: open, waiting: [waiting, waiting] } },
      '"pendingStep.waiting" must be a list of calls of its step',
    ],
    [
      "a call that neither waits nor has a result",
      { pendingStep: { step: open, waiting: [] } },
      "each call waits or has a result",
    ],
    [
      "a call that waits for nothing known",
      { pendingStep: { step: open, waiting: [{ ...waiting, why: "luck" }] } },
      '"pendingStep.waiting[0].why" must be approval or',
    ],
    [
      "a subagent without an id",
      { pendingStep: { step: open, waiting: [{ ...waiting, child: { agent: "a" } }] } },
      '"pendingStep.waiting[0].child.runId" must be text',
    ],
    [
      "a subagent with a broken state",
      {
        pendingStep: {
          step: open,
          waiting: [{ ...waiting, child: { agent: "a", runId: "r", state: { version: 1 } } }],
        },
      },
      '"agentId" must be text',
    ],
    ["no usage", { usageByModel: undefined }, '"usageByModel" must be an object of usages'],
    [
      "a usage without numbers",
      { usageByModel: { m: { inputTokens: 1 } } },
      '"usageByModel" must be an object of usages',
    ],
  ];

  test.for(faults)("%s", ([, changes, says]) => {
    expect(refusal(json(changes))).toContain(says);
  });
});

test("a state does not change if the JSON that it was read from does", () => {
  const given = JSON.parse(JSON.stringify(json()));
  const state = AgentState.fromJSON(given);
  const before = JSON.stringify(state);
  given.steps[0].messages.length = 0;
  given.sections.messages[0].content = "changed";
  expect(JSON.stringify(state)).toBe(before);
});

test("circular values and endless nesting are refused", () => {
  const circular: Record<string, unknown> = json();
  circular.metadata = circular;
  expect(refusal(circular)).toContain("the value is not JSON");
  const [first] = buildToolStep().messages;
  const step = { ...buildToolStep(), messages: [first], toolResults: [] };
  let state: object = json();
  for (let depth = 0; depth < 200; depth++) {
    const child = { runId: "r", agent: "a", state };
    state = json({ pendingStep: { step, waiting: [{ toolCallId: "c1", why: "approval", child }] } });
  }
  expect(refusal(state)).toContain("nested too deeply");
});

test("unknown fields of a later writer are accepted", () => {
  expect(AgentState.fromJSON(json({ shiny: true })).stepCount).toBe(1);
});

test("any value is read, or refused with invalid-state", () => {
  const value = fc.oneof(
    fc.anything(),
    fc.record(
      { version: fc.constant(1), agentId: fc.string(), sections: fc.anything(), steps: fc.anything() },
      { requiredKeys: [] },
    ),
  );
  const property = fc.property(value, (given) => {
    try {
      AgentState.fromJSON(given);
    } catch (error) {
      expect(error).toMatchObject({ code: "invalid-state" });
    }
  });
  fc.assert(property, { numRuns: 500 });
});
