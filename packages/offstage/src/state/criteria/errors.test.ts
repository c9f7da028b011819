import { describe, expect, test } from "vitest";
import { buildState, buildStep, buildToolStep } from "../../../test/support/build-state.ts";
import type { Step } from "../step.ts";
import { errorPolicy, errorPresence } from "./errors.ts";

const [fine, failed] = [buildToolStep(), buildToolStep([{ isError: true }])];
const partly = buildToolStep([{ isError: true }, { id: "c2" }]);
const after = (...steps: readonly Step[]) => buildState({ steps });
const fails = expect.objectContaining({ decision: "stop", reason: "error-policy", status: "failed" });

describe("error policy", () => {
  test("continue ignores every error", () => {
    expect(errorPolicy("continue").decide(after(failed, failed, failed))).toBeUndefined();
  });

  test("stop fails the run at the first error", () => {
    expect(errorPolicy("stop").decide(after(partly))).toEqual(fails);
  });

  test("maxToolErrors counts the errors of the whole run", () => {
    const policy = errorPolicy({ maxToolErrors: 2 });
    expect([policy.decide(after(failed)), policy.decide(after(failed, fine, partly))]).toEqual([undefined, fails]);
  });

  test("maxFailedSteps counts consecutive steps in which every tool failed", () => {
    const policy = errorPolicy({ maxFailedSteps: 2 });
    const cases = [after(failed, fine, failed), after(failed, partly), after(failed, failed)];
    expect(cases.map((state) => policy.decide(state))).toEqual([undefined, undefined, fails]);
  });

  test("an error that the model recovered from does not fail the run", () => {
    expect(errorPolicy("stop").decide(after(failed, buildStep()))).toBeUndefined();
  });

  test("quotes the last error", () => {
    expect(errorPolicy("stop").decide(after(failed))).toMatchObject({
      message: expect.stringContaining('"search" said "it failed"'),
    });
  });
});

test.for([
  [
    "an unknown word",
    "halt",
    '"policy" must be "continue", "stop" or { maxToolErrors, maxFailedSteps }; found "halt".',
  ],
  ["nothing", undefined, '"policy" must be'],
  ["an unknown option", { maxErrors: 2 }, 'Unknown errorPolicy() option "maxErrors".'],
  ["text for a number", { maxToolErrors: "2" }, '"maxToolErrors" must be a number of at least 0; found "2".'],
] as const)("an error policy of %s is refused", ([, policy, says]) => {
  expect(() => errorPolicy(policy as never)).toThrow(says);
});

describe("error presence", () => {
  test("stops the run if a tool of the newest step failed", () => {
    expect(errorPresence().decide(after(partly))).toEqual({
      decision: "stop",
      reason: "error-presence",
      message: 'A tool failed: "search" said "it failed"',
    });
  });

  test("has no opinion about earlier errors", () => {
    expect(errorPresence().decide(after(failed, fine))).toBeUndefined();
  });
});
