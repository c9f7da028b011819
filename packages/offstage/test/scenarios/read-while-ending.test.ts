// Reading a run at the moment it ends.
import { expect, test } from "vitest";
import { createStore } from "../../src/doors/store-driver.ts";
import { Agent } from "../../src/index.ts";
import { memoryDriver } from "../../src/sessions/drivers/memory/memory.ts";
import { scriptedModel } from "../../src/testing/index.ts";

test("a run that ends while it is read is not said to be interrupted", async () => {
  const driver = memoryDriver();
  const answer = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const agent = new Agent({
    model: scriptedModel([
      () => {
        begun.resolve();
        return answer.promise;
      },
    ]),
  });
  const running = agent.run("Go", { session: createStore(driver).session("anna"), runId: "r" });
  await begun.promise;
  // The reader has the row of the run, and is about to read the head of the session: now the run ends.
  let isFirst = true;
  const reader = createStore({
    ...driver,
    read: async (range) => {
      const rows = await driver.read(range);
      if (range.table !== "runs" || !isFirst) return rows;
      isFirst = false;
      answer.resolve("Done.");
      await running;
      return rows;
    },
  });
  expect((await reader.runs.get("r"))?.status).toBe("completed");
});
