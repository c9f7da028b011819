import { expect, test } from "vitest";
import { runIdOf, traceIdOf } from "./trace-span.ts";

test("the trace id of a run has the digits of the run id, and converts back", () => {
  const runId = crypto.randomUUID();
  expect(traceIdOf(runId)).toMatch(/^[0-9a-f]{32}$/);
  expect(runIdOf(traceIdOf(runId) ?? "")).toBe(runId);
});

test("a run id that is not a UUID, or all zeros, gives no trace id", () => {
  expect(traceIdOf("test-id")).toBeUndefined();
  expect(traceIdOf("00000000-0000-0000-0000-000000000000")).toBeUndefined();
});

test("a text that is not a trace id converts to itself", () => {
  expect(runIdOf("t1")).toBe("t1");
});
