import { expect, test } from "vitest";
import { DecisionBook } from "./decision-book.ts";

const call = { toolCallId: "same", toolName: "pay", inputText: "{}" };

test("a decision by id applies only to the run in which the call waited at that time", async () => {
  const book = new DecisionBook({ approve: ["same"] });
  const admitted = await book.check([{ toolCallId: "same", runId: "a", agent: "payer" }]);
  expect(admitted).toEqual([{ toolCallId: "same", runId: "a" }]);
  expect(book.permit(call, "a")).toBe("run");
  expect(book.permit(call, "b")).toBe("wait");
});
