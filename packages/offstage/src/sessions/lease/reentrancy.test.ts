import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { ended, said, start } from "../../testing/store-claims/claim.ts";
import { InMemorySession } from "../in-memory-session.ts";
import { journalFor } from "../journal/plain-journal.ts";
import { memoryStore, sqliteStore } from "../open-store.ts";
import type { Journal, RunLog } from "../ports/journal.ts";
import { SessionBusyError } from "../ports/session.ts";
import { createReentrancyScope, enterReentrancyScope } from "./lease.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-held-"));
const path = join(folder, "held.db");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function withinRun<T>(log: RunLog, work: () => T): T {
  return enterReentrancyScope(createReentrancyScope(log.held), work);
}

function plainSession(): Journal {
  const { sessionId, getItems, addItems, popItem, clearSession, getItemCount } = new Proxy(new InMemorySession("s"), {
    get: (session, name) => {
      const value = Reflect.get(session, name) as unknown;
      return typeof value === "function" ? value.bind(session) : value;
    },
  });
  return journalFor({ sessionId, getItems, addItems, popItem, clearSession, getItemCount });
}

describe.each([
  ["in memory", () => new InMemorySession("s").journal],
  ["on a store", () => memoryStore().session("s").journal],
  ["implemented by the user", plainSession],
])("a session %s", (_, make) => {
  const opened = async (): Promise<{ journal: Journal; log: RunLog }> => {
    const journal = make();
    return { journal, log: await journal.open(start("r1", "one")) };
  };

  test.for(["queue", "reject"] as const)(
    "rejects a run started by the run that holds the session, with onBusy %s",
    async (onBusy) => {
      const { journal, log } = await opened();
      const inner = withinRun(log, async () => {
        await nextTurn();
        return journal.open(start("r2", "two", { onBusy }));
      });
      await expect(inner).rejects.toThrow(SessionBusyError);
      await expect(inner).rejects.toThrow(
        /"s" is already in use by the enclosing run; waiting for it would deadlock.*agent\.asTool\(\)/,
      );
      await log.end(ended("done"));
    },
  );

  test("rejects a run two levels down", async () => {
    const { journal, log } = await opened();
    const other = await make().open(start("r2", "two"));
    const inner = withinRun(log, () => withinRun(other, async () => journal.open(start("r3", "three"))));
    await expect(inner).rejects.toThrow(/would deadlock/);
  });

  test("accepts a run that was started by a run that has ended since", async () => {
    const { journal, log } = await opened();
    const later = withinRun(log, async () => {
      await log.end(ended("done"));
      return journal.open(start("r2", "two"));
    });
    await (await later).end(ended("done"));
    const waiting = await withinRun(log, async () => journal.open(start("r3", "three")));
    await waiting.end(ended("done"));
  });

  test("makes a run wait if it was not started by the run that holds the session", async () => {
    const { journal, log } = await opened();
    const beside = withinRun(await make().open(start("r0", "zero")), () => journal.open(start("r2", "two")));
    await log.end(ended("done"));
    expect((await beside).history).toHaveLength(2);
  });
});

test("a session opened a second time from the same file rejects a nested run too", async () => {
  await using store = sqliteStore({ path });
  await using again = sqliteStore({ path });
  const log = await store.session("s").journal.open(start("r1", "one"));
  const inner = withinRun(log, () => again.session("s").journal.open(start("r2", "two")));
  await expect(inner).rejects.toThrow(/would deadlock/);
  await withinRun(log, () => again.session("s").addItem(said("by the way")));
  await log.end(ended("done"));
});

test("a run started inside runs that have ended has no enclosing run", () => {
  let run = createReentrancyScope();
  for (let n = 0; n < 3; n++) run = enterReentrancyScope(run, () => createReentrancyScope());
  expect(run.outer).toBeUndefined();
});
