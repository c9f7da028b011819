// The processors that append and clear, alone and together in each mode.

import { describe, expect, test } from "vitest";
import { buildState, buildStep, buildToolStep } from "../../../test/support/build-state.ts";
import { assistant, user } from "../../messages/makers.ts";
import type { AgentState } from "../agent-state.ts";
import type { Outcome } from "../outcome.ts";
import { chain, type Next, type Processor } from "../processor.ts";
import type { Step } from "../step.ts";
import { keepSeparate, keepTogether } from "../turn-of.ts";
import { appendFinalResponse, appendStepMessages, appendToolTraceToBuffer, clearExecutionBuffer } from "./index.ts";

const completed: Outcome = { status: "completed", reason: "answered", message: "" };
const stopped: Outcome = { status: "stopped", reason: "step-limit", message: "" };
const failed: Outcome = { status: "failed", reason: "error", message: "" };
const waiting: Outcome = { status: "waiting", reason: "approval", message: "" };

const taking =
  (step: Step | undefined, outcome?: Outcome): Next =>
  async (state) =>
    (step === undefined ? state : state.withStep(step, {})).withOutcome(outcome);

const after = (processors: readonly Processor[], step: Step | undefined, outcome?: Outcome): Promise<AgentState> =>
  chain(processors, taking(step, outcome))(buildState());

const [answer, calls] = [buildStep(), buildToolStep([{ text: "let me look" }])];

describe("appendStepMessages", () => {
  test("appends everything the step produced to the conversation", async () => {
    const state = await after([appendStepMessages], calls);
    expect(state.messages.toArray()).toEqual([user("hi"), ...calls.messages]);
  });

  test("appends nothing if no step was taken", async () => {
    expect((await after([appendStepMessages], undefined)).messages.length).toBe(1);
  });

  test("does not append an earlier step again", async () => {
    const state = buildState({ steps: [answer] });
    expect((await chain([appendStepMessages], taking(undefined))(state)).messages.length).toBe(1);
  });
});

describe("appendFinalResponse", () => {
  test("appends an answer to the conversation", async () => {
    const state = await after([appendFinalResponse], answer, completed);
    expect(state.messages.toArray()).toEqual([user("hi"), assistant("the answer")]);
  });

  test("appends nothing of a step with tool calls, not even the text beside them", async () => {
    expect((await after([appendFinalResponse], calls)).messages.length).toBe(1);
  });

  test("does not append an empty answer", async () => {
    const empty = buildStep({ text: "", messages: [assistant("")] });
    expect((await after([appendFinalResponse], empty, completed)).messages.length).toBe(1);
  });

  test("appends the partial text of a run that a limit stopped, marked as interrupted", async () => {
    const state = await after([appendFinalResponse], calls, stopped);
    expect(state.messages.at(-1)).toEqual(assistant("let me look", { metadata: { step: 1, interrupted: true } }));
  });

  test("appends nothing if the run was stopped before it had any text", async () => {
    expect((await after([appendFinalResponse], buildToolStep(), stopped)).messages.length).toBe(1);
  });

  test.for([failed, waiting])("appends no partial text of a run that ended $status", async (outcome) => {
    expect((await after([appendFinalResponse], calls, outcome)).messages.length).toBe(1);
  });
});

describe("appendToolTraceToBuffer", () => {
  test("appends what a step with tool calls produced to the execution buffer, text beside the calls included", async () => {
    const state = await after([appendToolTraceToBuffer], calls);
    expect(state.executionBuffer.toArray()).toEqual(calls.messages);
    expect(state.messages.length).toBe(1);
  });

  test("classifies by step, not by role: a step that is not an answer is tool trace, even without tool messages", async () => {
    const thought = buildStep({ isAnswer: false, messages: [assistant("Action: search"), user("Observation: found")] });
    expect((await after([appendToolTraceToBuffer], thought)).executionBuffer.toArray()).toEqual(thought.messages);
  });

  test("leaves an answer out", async () => {
    expect((await after([appendToolTraceToBuffer], answer, completed)).executionBuffer.isEmpty).toBe(true);
  });
});

describe("clearExecutionBuffer", () => {
  const clearing = [clearExecutionBuffer, appendToolTraceToBuffer];

  test.for([completed, stopped])("empties the buffer of a run that is $status", async (outcome) => {
    expect((await after(clearing, calls, outcome)).executionBuffer.isEmpty).toBe(true);
  });

  test("keeps it while the run continues", async () => {
    expect((await after(clearing, calls)).executionBuffer.length).toBe(2);
  });

  test.for([failed, waiting])("keeps it if the run is $status, for inspection or resume", async (outcome) => {
    expect((await after(clearing, calls, outcome)).executionBuffer.length).toBe(2);
  });
});

describe("separated mode", () => {
  const turn = async (...steps: readonly (readonly [Step, Outcome?])[]): Promise<AgentState> => {
    let state = buildState();
    for (const [step, outcome] of steps) state = keepSeparate(await taking(step, outcome)(state), step);
    return state;
  };

  test("keeps the trace in the buffer while the run continues", async () => {
    const state = await turn([calls], [buildToolStep([{ id: "c9" }])]);
    expect([state.messages.length, state.executionBuffer.length]).toEqual([1, 4]);
  });

  test("leaves question and answer in the conversation, and nothing in the buffer", async () => {
    const state = await turn([calls], [answer, completed]);
    expect(state.messages.toArray()).toEqual([user("hi"), assistant("the answer")]);
    expect(state.executionBuffer.isEmpty).toBe(true);
  });

  test("leaves the partial text and an empty buffer if a limit stops the run at its tools", async () => {
    const state = await turn([calls], [buildToolStep([{ id: "c9" }]), stopped]);
    expect(state.messages.map((message) => message.content)).toEqual(["hi", "let me look"]);
    expect(state.executionBuffer.isEmpty).toBe(true);
  });

  test("shows the model the trace after the conversation", async () => {
    const state = await turn([calls]);
    expect(state.messagesForInference().toArray()).toEqual([user("hi"), ...calls.messages]);
  });
});

test("the other mode appends everything to the conversation, in order", async () => {
  let state = keepTogether(await taking(calls)(buildState()), calls);
  state = keepTogether(await taking(answer, completed)(state), answer);
  expect(state.messages.toArray()).toEqual([user("hi"), ...calls.messages, ...answer.messages]);
  expect(state.executionBuffer.isEmpty).toBe(true);
});
