import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildState, buildStep } from "../../test/support/build-state.ts";
import { Cancellation } from "../base/cancellation.ts";
import type { AgentState } from "./agent-state.ts";
import { responseContent } from "./criteria/replies.ts";
import { askCriteria, type Criterion, criterionOf, type Ruling, stepLimit, toolCallPresence } from "./criterion.ts";
import type { Verdict } from "./outcome.ts";

const verdict = (decision: Verdict["decision"], changes: Partial<Verdict> = {}): Verdict => ({
  decision,
  reason: decision,
  message: `It said ${decision}.`,
  ...changes,
});
const saying = (name: string, said: Verdict | undefined, isAsync = false): Criterion => ({
  name,
  decide: () => (isAsync ? Promise.resolve(said) : said),
});
const [stop, continueAfter, mayStop] = [
  saying("f", verdict("stop")),
  saying("r", verdict("continue", { feedback: "more" })),
  saying("a", verdict("may-stop")),
];
const silent = saying("s", undefined);
const state = buildState({ steps: [buildStep()] });

async function rule(criteria: readonly Criterion[], asked: AgentState): Promise<Ruling> {
  return askCriteria(criteria, asked, { step: undefined, agent: "a", cancellation: new Cancellation() });
}

describe("one rule decides", () => {
  test("any vote to stop stops the run, whatever the others say", async () => {
    expect(await rule([continueAfter, mayStop, stop, silent], state)).toMatchObject({
      outcome: { status: "stopped", criterion: "f" },
    });
  });

  test("else any vote to continue continues it", async () => {
    expect(await rule([mayStop, silent, continueAfter], state)).toEqual({ outcome: undefined, feedback: "more" });
  });

  test("else any vote that it may stop completes it", async () => {
    expect(await rule([silent, mayStop], state)).toMatchObject({ outcome: { status: "completed", criterion: "a" } });
  });

  test("else it continues", async () => {
    expect(await rule([silent], state)).toEqual({ outcome: undefined, feedback: undefined });
    expect(await rule([], state)).toEqual({ outcome: undefined, feedback: undefined });
  });

  test("a verdict of an unknown kind is no opinion, alone or among others", async () => {
    const odd = saying("o", verdict("pause" as Verdict["decision"], { feedback: "x" }));
    expect(await rule([odd], state)).toEqual({ outcome: undefined, feedback: undefined });
    expect(await rule([odd, mayStop], state)).toMatchObject({ outcome: { status: "completed", criterion: "a" } });
  });

  test("a hard limit is not overridden by a vote to continue", async () => {
    const never = responseContent(() => false);
    expect(await rule([never, stepLimit(1), toolCallPresence()], state)).toMatchObject({
      outcome: { status: "stopped", reason: "step-limit" },
    });
  });

  test("a run that reaches a limit with its answer has answered, if no vote sends the answer back", async () => {
    expect(await rule([stepLimit(1), toolCallPresence()], state)).toMatchObject({
      outcome: { status: "completed", reason: "answered" },
    });
  });

  test("a verdict may say how the run ends", async () => {
    const failing = saying("x", verdict("stop", { status: "failed" }));
    expect(await rule([failing], state)).toMatchObject({ outcome: { status: "failed" } });
  });
});

describe("the outcome says", () => {
  test("which criterion decided, why, and how the others voted", async () => {
    expect(await rule([continueAfter, stop, mayStop, silent], state)).toEqual({
      feedback: undefined,
      outcome: {
        status: "stopped",
        reason: "stop",
        message: "It said stop.",
        criterion: "f",
        verdicts: [
          { criterion: "a", ...verdict("may-stop") },
          { criterion: "f", ...verdict("stop") },
          { criterion: "r", ...verdict("continue", { feedback: "more" }) },
        ],
      },
    });
  });

  test("of several votes to stop, the one that fails the run", async () => {
    const failing = saying("z", verdict("stop", { status: "failed" }));
    expect(await rule([stop, failing], state)).toMatchObject({ outcome: { status: "failed", criterion: "z" } });
  });

  test("of several votes to continue, the feedback of one that has any", async () => {
    const mute = saying("a", verdict("continue"));
    expect(await rule([mute, continueAfter], state)).toMatchObject({ feedback: "more" });
  });
});

describe("the order of criteria does not matter", () => {
  const verdicts = fc.option(
    fc.record(
      {
        decision: fc.constantFrom("stop" as const, "continue" as const, "may-stop" as const),
        reason: fc.constantFrom("x", "y"),
        message: fc.constantFrom("one", "two"),
        status: fc.constantFrom("completed" as const, "stopped" as const, "failed" as const),
        feedback: fc.constantFrom("p", "q"),
        isLimit: fc.boolean(),
      },
      { requiredKeys: ["decision", "reason", "message"] },
    ),
    { nil: undefined },
  );
  const criterion = fc
    .tuple(fc.constantFrom("a", "b", "c"), verdicts, fc.boolean())
    .map(([name, said, isAsync]) => saying(name, said as Verdict | undefined, isAsync));
  const permuted = fc
    .array(criterion, { maxLength: 6 })
    .chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })));

  test("every permutation gives the same ruling, even with promises and with a name that occurs twice", async () => {
    const property = fc.asyncProperty(permuted, async ([list, other]) => {
      expect(await rule(other, state)).toEqual(await rule(list, state));
    });
    await fc.assert(property, { numRuns: 500 });
  });
});

describe("a function in place of a criterion", () => {
  const decide = (source: (state: AgentState) => unknown) => criterionOf(source as never).decide(state);

  test("stops the run by returning true, with its name as the reason", async () => {
    function enough() {
      return true;
    }
    expect(criterionOf(enough).name).toBe("enough");
    expect(await decide(enough)).toEqual({
      decision: "stop",
      reason: "enough",
      message: 'The function "enough" returned true.',
    });
  });

  test.for([false, undefined, null, 0, ""])("has no opinion with %j", async (said) => {
    expect(await decide(() => said)).toBeUndefined();
  });

  test("may return a verdict", async () => {
    expect(await decide(() => verdict("continue"))).toEqual(verdict("continue"));
  });

  test("may be async", async () => {
    expect(await decide(async () => true)).toMatchObject({ decision: "stop" });
    expect(await decide(async () => false)).toBeUndefined();
  });

  test("is called stopWhen if it has no name", () => {
    expect(
      criterionOf(
        (
          () => () =>
            true
        )(),
      ).name,
    ).toBe("stopWhen");
  });

  test("a criterion is returned as it is", () => {
    expect(criterionOf(stop)).toBe(stop);
  });
});

test("a promise of another library is awaited like a native one", async () => {
  // biome-ignore lint/suspicious/noThenProperty: this is what is tested
  const later = <Value>(value: Value) => ({ then: (done: (value: Value) => void) => void setTimeout(done, 1, value) });
  const asked = criterionOf((() => later(true)) as never);
  const named: Criterion = { name: "n", decide: () => later(verdict("stop")) as never };
  for (const criterion of [asked, named]) {
    expect(await rule([criterion, mayStop], state)).toMatchObject({ outcome: { status: "stopped" } });
  }
});

test("all criteria are asked at once", async () => {
  const asked: string[] = [];
  const slow = (name: string): Criterion => ({
    name,
    async decide() {
      asked.push(`${name} asked`);
      await new Promise((resolve) => setTimeout(resolve, 1));
      asked.push(`${name} done`);
      return undefined;
    },
  });
  await rule([slow("a"), slow("b")], state);
  expect(asked.slice(0, 2)).toEqual(["a asked", "b asked"]);
});

describe("a criterion that throws", () => {
  const throwing: Criterion = {
    name: "t",
    decide() {
      throw new Error("broken");
    },
  };

  test("makes the ruling reject", async () => {
    await expect(rule([mayStop, throwing], state)).rejects.toThrow("broken");
  });

  test("leaves no unhandled rejection of another criterion", async () => {
    const unhandled: unknown[] = [];
    const listen = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", listen);
    const rejecting: Criterion = { name: "j", decide: () => Promise.reject(new Error("also broken")) };
    await expect(rule([rejecting, throwing, rejecting], state)).rejects.toThrow("broken");
    await new Promise((resolve) => setTimeout(resolve, 5));
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
  });
});
