import { describe, expect, test } from "vitest";
import { buildState, buildStep, buildToolStep } from "../../test/support/build-state.ts";
import { assistant } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import type { Outcome } from "./outcome.ts";
import type { Step } from "./step.ts";
import { partialAnswer, turnOf } from "./turn-of.ts";

const ending = (status: Outcome["status"], reason: string): Outcome => ({ status, reason, message: "" });
const completed = ending("completed", "answered");
const stopped = ending("stopped", "step-limit");
const aborted = ending("stopped", "aborted");
const blocked = ending("stopped", "guardrail");
const failed = ending("failed", "error");
const waiting = ending("waiting", "approval");

const turn = (outcome: Outcome | undefined, ...steps: readonly Step[]): readonly Message[] =>
  turnOf(buildState({ steps }).withOutcome(outcome));

const [answer, calls] = [buildStep(), buildToolStep([{ text: "let me look" }])];
const partial = assistant("let me look", { metadata: { step: 1, interrupted: true } });

describe("the turn of a run that answered", () => {
  test("is its answer, and nothing of its tools", () => {
    expect(turn(completed, calls, answer)).toEqual([assistant("the answer")]);
  });

  test("has the very messages of the answer", () => {
    expect(turn(completed, answer)[0]).toBe(answer.messages[0]);
  });

  test("is empty if the answer says nothing", () => {
    expect(turn(completed, buildStep({ text: "", messages: [assistant("")] }))).toEqual([]);
  });

  test("is empty if a criterion completed the run at its tools", () => {
    expect(turn(completed, calls)).toEqual([]);
  });
});

describe("the turn of a run that was stopped", () => {
  test("is its newest text, marked as interrupted", () => {
    expect(turn(stopped, calls, buildToolStep([{ id: "c9" }]))).toEqual([partial]);
  });

  test("is its answer, marked as interrupted, if it was stopped with one", () => {
    const marked = assistant("the answer", { metadata: { interrupted: true } });
    expect(turn(stopped, answer)).toEqual([marked]);
    const before = buildStep({ messages: [marked] });
    expect(turn(stopped, before)[0]).toBe(marked);
  });

  test("is empty if the run said nothing", () => {
    expect(turn(stopped)).toEqual([]);
    expect(turn(stopped, buildToolStep())).toEqual([]);
  });
});

describe("the turn of a run that was aborted", () => {
  test("is its answer, marked as interrupted, if it had answered", () => {
    expect(turn(aborted, calls, answer)).toEqual([assistant("the answer", { metadata: { interrupted: true } })]);
  });

  test("is empty otherwise: text beside tool calls is no answer", () => {
    expect(turn(aborted, calls)).toEqual([]);
  });
});

test.for([failed, blocked, waiting, undefined])("a run that ended %j has no turn", (outcome) => {
  expect(turn(outcome, calls)).toEqual([]);
  expect(turn(outcome, calls, answer)).toEqual([]);
});

describe("a partial answer", () => {
  test("is the newest text of the run, marked as interrupted", () => {
    const steps = [buildToolStep([{ text: "first" }]), buildToolStep([{ text: "second" }]), buildToolStep()];
    const metadata = { step: 2, interrupted: true };
    expect(partialAnswer(buildState({ steps }))).toEqual(assistant("second", { metadata }));
  });

  test("is undefined if the run has no text, or only whitespace", () => {
    expect(partialAnswer(buildState())).toBeUndefined();
    expect(partialAnswer(buildState({ steps: [buildToolStep(), buildToolStep([{ text: " \n" }])] }))).toBeUndefined();
  });

  test("keeps its author and time, and nothing that belongs to the tool calls", () => {
    const metadata = { id: "m1", createdAt: "2026-01-01", runId: "r1", agent: "a", providerParts: [], usage: {} };
    const step = buildStep({ text: "half", isAnswer: false, messages: [assistant("half", { metadata })] });
    expect(partialAnswer(buildState({ steps: [step] }))?.metadata).toEqual({
      ...{ id: "m1", createdAt: "2026-01-01", runId: "r1", agent: "a" },
      ...{ step: 1, interrupted: true },
    });
  });
});
