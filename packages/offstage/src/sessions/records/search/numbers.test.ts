import { expect, test } from "vitest";
import { recordRun } from "../../../testing/store-claims/recorded-run.ts";
import { memoryStore } from "../../open-store.ts";
import type { Dimension } from "./numbers.ts";

test("a run counts for the model that answered, if the provider gave it a more exact name", async () => {
  const store = memoryStore();
  const session = store.session("s");
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15 };
  const startedAt = "2026-01-01T00:00:00.000Z";
  const start = { agent: "desk", model: "gpt-5", startedAt, input: [], historyLimit: 0, onBusy: "queue" } as const;
  const end = { reason: "answered", usage, endedAt: startedAt, answer: [] } as const;
  const step = { step: 1, messages: [], usage, finishReason: "stop", startedAt, durationMs: 1 };
  const answered = await session.journal.open({ ...start, runId: "a" });
  await answered.end({ ...end, status: "completed", lastStep: { ...step, model: "gpt-5-2025-08-07" } });
  const failed = await session.journal.open({ ...start, runId: "b" });
  await failed.end({ ...end, status: "failed", usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 } });
  const groups = await store.numbers({ by: "model" });
  expect(groups.map(({ model, runs, failures, totalTokens }) => [model, runs, failures, totalTokens])).toEqual([
    ["gpt-5", 1, 1, 0],
    ["gpt-5-2025-08-07", 1, 0, 15],
  ]);
});

test("a time that no calendar has selects everything or nothing", async () => {
  const store = memoryStore();
  await recordRun(store, { session: "s", runId: "a", question: "hi" });
  for (const far of [8.64e15, Number.MAX_SAFE_INTEGER, "+010000-01-01T00:00:00.000Z"]) {
    expect((await store.numbers({ until: far }))[0]?.runs).toBe(1);
    expect(await store.numbers({ since: far })).toEqual([]);
    expect(await store.runs.list({ since: far })).toEqual([]);
  }
});

test("dimensions are shown in the order in which they are asked for, each once", async () => {
  const store = memoryStore();
  await recordRun(store, { session: "s\u001b[31m", runId: "a", question: "hi" });
  const by: Dimension[] = ["session", "agent", "session"];
  const table = String(await store.numbers({ by }));
  expect(table.split("\n")[0]).toMatch(/^session +agent +runs/);
  expect(table).not.toContain("\u001b");
});
