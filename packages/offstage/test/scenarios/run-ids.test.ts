// Runs whose ids the caller chooses.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { Agent, memoryStore, type Store, sqliteStore } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

describe.each([
  ["memory", () => memoryStore()],
  ["SQLite", () => sqliteStore({ path: join(mkdtempSync(join(tmpdir(), "offstage-")), "runs.db") })],
])("a run id of the caller, on %s", (_, open) => {
  let store: Store;
  afterEach(() => store.close());

  test("is the id of the run, of its messages and of its record", async () => {
    store = open();
    const agent = new Agent({ model: scriptedModel(["Hello."]) });
    const result = await agent.run("Hi", { session: store.session("anna"), runId: "order-17" });
    expect(result.runId).toBe("order-17");
    expect((await store.runs.get("order-17"))?.status).toBe("completed");
    expect((await store.session("anna").getItems()).map(({ metadata }) => metadata?.runId)).toEqual([
      "order-17",
      "order-17",
    ]);
  });

  test("is refused if a run of that id is recorded, and nothing is written", async () => {
    store = open();
    const agent = new Agent({ model: scriptedModel(["Hello.", "Again."]) });
    await agent.run("Hi", { session: store.session("anna"), runId: "order-17" });
    const second = agent.run("Hi", { session: store.session("bert"), runId: "order-17" });
    await expect(second).rejects.toMatchObject({ code: "run-exists" });
    await expect(agent.run("Hi", { session: store.session("anna"), runId: "order-17" })).rejects.toThrow(/order-17/);
    expect(await store.session("bert").getItems()).toEqual([]);
    expect(await store.session("anna").getItemCount()).toBe(2);
  });

  test("is checked like every id", async () => {
    store = open();
    const agent = new Agent({ model: scriptedModel(["Hello."]) });
    const session = store.session("anna");
    await expect(agent.run("Hi", { session, runId: "x".repeat(600) })).rejects.toMatchObject({
      code: "invalid-argument",
    });
    await expect(agent.run("Hi", { session, runId: "" })).rejects.toMatchObject({ code: "invalid-argument" });
  });
});

test("resume() takes no run id beside the run that it resumes", async () => {
  const agent = new Agent({ model: scriptedModel([]) });
  const resumed = agent.resume("a", { runId: "b" } as object);
  await expect(resumed).rejects.toThrow(/Unknown resume\(\) option "runId"/);
});
