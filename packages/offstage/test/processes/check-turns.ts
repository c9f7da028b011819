// Checks of a session after its writers were killed any number of times.
import { expect } from "vitest";
import type { Store } from "../../src/sessions/store.ts";

export interface TurnCounts {
  readonly lost: number;
  readonly duplicated: number;
  readonly partial: number;
}

/** Counts acknowledged turns that are missing, duplicated turns, and answers without their question. Also verifies the store. */
export async function countFaults(store: Store, acknowledged: readonly string[], sessionId = "s"): Promise<TurnCounts> {
  const texts = (await store.session(sessionId).getItems()).map(({ content }) => String(content));
  const answers = new Set(texts.filter((text) => text.startsWith("answer")));
  const counts = {
    lost: acknowledged.filter((turn) => !answers.has(`answer ${turn}`)).length,
    duplicated: texts.length - new Set(texts).size,
    partial: texts.filter(
      (text, at) => text.startsWith("answer") && texts[at - 1] !== text.replace("answer", "question"),
    ).length,
  };
  expect(await store.verify()).toEqual([]);
  return counts;
}

/** Expects each run to be completed if its answer is stored, and interrupted if not. */
export async function checkRuns(store: Store, sessionId = "s"): Promise<{ completed: number; interrupted: number }> {
  const answers = new Set((await store.session(sessionId).getItems()).map(({ content }) => content));
  const runs = await store.session(sessionId).runs();
  for (const run of runs) {
    expect(run.status, run.runId).toBe(answers.has(`answer ${run.runId}`) ? "completed" : "interrupted");
  }
  const completed = runs.filter(({ status }) => status === "completed").length;
  return { completed, interrupted: runs.length - completed };
}
