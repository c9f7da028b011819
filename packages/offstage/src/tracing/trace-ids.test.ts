import { expect, test } from "vitest";
import { runIdOf, traceIdOf } from "./trace-ids.ts";

test("the trace id of a run has its digits, and leads back to it", () => {
  const runId = crypto.randomUUID();
  expect(traceIdOf(runId)).toMatch(/^[0-9a-f]{32}$/);
  expect(runIdOf(traceIdOf(runId) ?? "")).toBe(runId);
});

test("a run whose id is no UUID, or all zeros, lends its trace no id", () => {
  expect(traceIdOf("test-id")).toBeUndefined();
  expect(traceIdOf("00000000-0000-0000-0000-000000000000")).toBeUndefined();
});

test("what is no trace id is nobody's run", () => {
  expect(runIdOf("t1")).toBe("t1");
});
