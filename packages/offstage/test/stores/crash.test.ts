import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { sqliteStore } from "../../src/sessions/open-store.ts";
import type { WriteLabel } from "../../src/sessions/ports/store-driver.ts";
import { answered, calling, ended, resultOf, step } from "../../src/testing/store-claims/claim.ts";
import { checkRuns, countFaults } from "../processes/check-turns.ts";
import { killWriters, spawnWriter } from "../processes/spawn-writer.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-crash-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// crash.torture.ts repeats this with 200 or 1,000 kills.
test("after 8 random kills no acknowledged turn is lost, duplicated or partial", async () => {
  const paths = [0, 1].map((n) => join(folder, `random-${n}.db`));
  const acknowledged = await Promise.all(paths.map((path) => killWriters(`sqlite:${path}`, { kills: 4 })));
  let turns = 0;
  for (const [n, path] of paths.entries()) {
    const store = sqliteStore({ path });
    expect(await countFaults(store, acknowledged[n] ?? [])).toEqual({ lost: 0, duplicated: 0, partial: 0 });
    turns += (await checkRuns(store)).completed;
    await store.close();
    expect(new DatabaseSync(path).prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  }
  process.stdout.write(`8 kills, ${turns} turns: 0 lost, 0 duplicated, 0 partial, 0 corrupt\n`);
});

interface Left {
  readonly items: readonly string[];
  readonly steps: number;
  /** Calls without a result, if a step was unfinished. */
  readonly pending?: readonly string[];
  readonly effects: number;
}

// The state after a process died at each point.
const points: readonly (readonly [WriteLabel, "before" | "after", Left | undefined])[] = [
  ["run.begin", "before", undefined],
  ["run.begin", "after", { items: ["question r-0"], steps: 0, effects: 0 }],
  ["tool.intent", "before", { items: ["question r-0"], steps: 0, effects: 0 }],
  ["tool.intent", "after", { items: ["question r-0"], steps: 0, pending: ["a", "b"], effects: 0 }],
  ["tool.result", "before", { items: ["question r-0"], steps: 0, pending: ["a", "b"], effects: 1 }],
  ["tool.result", "after", { items: ["question r-0"], steps: 0, pending: ["b"], effects: 1 }],
  ["step.commit", "before", { items: ["question r-0"], steps: 0, pending: ["b"], effects: 1 }],
  ["step.commit", "after", { items: ["question r-0"], steps: 1, effects: 1 }],
  ["run.end", "before", { items: ["question r-0"], steps: 1, effects: 1 }],
  ["run.end", "after", { items: ["question r-0", "answer r-0"], steps: 2, effects: 1 }],
];

describe("a process killed", () => {
  test.for(points)(
    "at %s (%s the write) leaves a valid conversation and a run that can be finished",
    async ([at, when, left]) => {
      const place = join(folder, `${at}-${when}`);
      writeFileSync(`${place}.effects`, "");
      const url = `sqlite:${place}.db`;
      const point = { at, when, action: "kill" } as const;
      const writer = spawnWriter({ url, sessionId: "s", name: "r", turns: 1, point, effects: `${place}.effects` });
      expect(await writer.done).toMatchObject({ signal: "SIGKILL", acknowledged: [] });

      const store = sqliteStore({ path: `${place}.db` });
      const session = store.session("s");
      const run = await store.runs.get("r-0");
      if (left === undefined) expect([run, await session.getItems()]).toEqual([undefined, []]);
      else {
        expect((await session.getItems()).map(({ content }) => content)).toEqual(left.items);
        expect(run?.status).toBe(left.items.length === 2 ? "completed" : "interrupted");
        expect(run?.steps).toHaveLength(left.steps);
        expect(run?.openStep?.pending.map(({ id }) => id)).toEqual(left.pending);
        expect(readFileSync(`${place}.effects`, "utf8").split("\n").length - 1).toBe(left.effects);
      }
      if (run?.status === "interrupted") {
        const log = await session.journal.reopen("r-0", { historyLimit: 50, onBusy: "reject" });
        if (left?.steps === 0) await log.step(step(1, [calling("a", "b"), resultOf("a"), resultOf("b")]));
        await log.end(ended("", { answer: [answered("answer r-0")], lastStep: step(2, [answered("answer r-0")]) }));
        expect((await session.getItems()).map(({ content }) => content)).toEqual(["question r-0", "answer r-0"]);
        expect((await store.runs.get("r-0"))?.steps).toHaveLength(2);
      }
      expect(await store.verify()).toEqual([]);
      await store.close();
    },
  );
});
