import { expect, test } from "vitest";
import { DecisionBook } from "./approvals.ts";

const call = { toolCallId: "same", toolName: "pay", inputText: "{}" };

test("a decision by id applies only to the run in which the call waited at that time", () => {
  const book = new DecisionBook({ approve: ["same"] });
  expect(book.check([{ toolCallId: "same", runId: "a" }])).toEqual([{ toolCallId: "same", runId: "a" }]);
  expect(book.permit(call, "a")).toBe("run");
  expect(book.permit(call, "b")).toBe("wait");
});
