import { expect, test } from "vitest";
import { buildState, buildStep, buildToolStep } from "../../test/support/build-state.ts";
import { assistant } from "../messages/makers.ts";
import { partialAnswer } from "./partial-answer.ts";

test("a partial answer is the newest text of the run, marked as interrupted", () => {
  const steps = [buildToolStep([{ text: "first" }]), buildToolStep([{ text: "second" }]), buildToolStep()];
  const metadata = { step: 2, interrupted: true };
  expect(partialAnswer(buildState({ steps }))).toEqual(assistant("second", { metadata }));
});

test("a run that said nothing, or only blanks, has none", () => {
  expect(partialAnswer(buildState())).toBeUndefined();
  expect(partialAnswer(buildState({ steps: [buildToolStep(), buildToolStep([{ text: " \n" }])] }))).toBeUndefined();
});

test("it keeps who said it and when, and nothing that belongs to the calls", () => {
  const metadata = { id: "m1", createdAt: "2026-01-01", runId: "r1", agent: "a", providerParts: [], usage: {} };
  const step = buildStep({ text: "half", isAnswer: false, messages: [assistant("half", { metadata })] });
  expect(partialAnswer(buildState({ steps: [step] }))?.metadata).toEqual({
    ...{ id: "m1", createdAt: "2026-01-01", runId: "r1", agent: "a" },
    ...{ step: 1, interrupted: true },
  });
});
