import { expect, test } from "vitest";
import { ended, open, start } from "../../testing/store-claims/claim.ts";
import { memoryStore } from "../open-store.ts";

test("a note that names a parent run does not cause endless recursion", async () => {
  const store = memoryStore();
  const log = await open(store, "a", start("r", "question"));
  const waiting = [{ toolCallId: "c", why: "approval", child: { runId: "r", agent: "tester" } }];
  await log.end(ended("", { status: "waiting", reason: "approval", answer: [], notes: { waiting } }));
  expect((await store.runs.get("r"))?.approvals).toEqual([]);
});
