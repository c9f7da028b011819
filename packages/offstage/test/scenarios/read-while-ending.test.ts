// Reading a run at the moment it ends.
import { expect, test } from "vitest";
import { Agent, memoryStore } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

test("a run that ends while it is read is never said to be interrupted", async () => {
  const store = memoryStore();
  const answers = Array.from({ length: 200 }, () => "Done.");
  const agent = new Agent({ model: scriptedModel(answers) });
  const statuses = new Set<string>();
  for (const [index] of answers.entries()) {
    const runId = `run ${index}`;
    let isOver = false;
    const running = agent.run("Go", { session: store.session(`s${index}`), runId }).finally(() => {
      isOver = true;
    });
    while (!isOver) statuses.add((await store.runs.get(runId))?.status ?? "not begun");
    await running;
  }
  expect(statuses).not.toContain("interrupted");
  expect(statuses).toContain("running");
  await store.close();
});
