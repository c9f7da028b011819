import { expect, test } from "vitest";
import { buildState, buildStep } from "../../test/support/build-state.ts";
import { chain, type Next, type Processor } from "./processor.ts";

const step: Next = async (state) => state.withStep(buildStep(), {});

function noting(name: string, notes: string[]): Processor {
  return async (state, next) => {
    notes.push(`${name} before`);
    const after = await next(state);
    notes.push(`${name} after`);
    return after;
  };
}

test("the first processor in the list acts last", async () => {
  const notes: string[] = [];
  const innermost: Next = (state) => {
    notes.push("step");
    return step(state);
  };
  await chain([noting("first", notes), noting("second", notes)], innermost)(buildState());
  expect(notes).toEqual(["first before", "second before", "step", "second after", "first after"]);
});

test("without processors the chain is the step", async () => {
  expect((await chain([], step)(buildState())).stepCount).toBe(1);
});

test("the step is in the state after next, and not before", async () => {
  const seen: unknown[] = [];
  const looking: Processor = async (state, next) => {
    seen.push(state.currentStep?.text);
    const after = await next(state);
    seen.push(after.currentStep?.text);
    return after;
  };
  await chain([looking], step)(buildState());
  expect(seen).toEqual([undefined, "the answer"]);
});

test("a processor may change the state before and after the step", async () => {
  const changing: Processor = async (state, next) =>
    (await next(state.withMetadata("before", true))).withMetadata("after", true);
  expect((await chain([changing], step)(buildState())).metadata).toEqual({ before: true, after: true });
});

test("a synchronous processor that throws makes the chain reject", async () => {
  const throwing: Processor = () => {
    throw new Error("broken");
  };
  await expect(chain([throwing], step)(buildState())).rejects.toThrow("broken");
});
