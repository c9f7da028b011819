import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { openStore, sqliteStore } from "../../src/sessions/open-store.ts";
import { checkRuns, countFaults } from "../processes/check-turns.ts";
import { killWriters } from "../processes/spawn-writer.ts";
import { startPostgres } from "../servers/postgres-server.ts";
import { isShort } from "../support/torture.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-torture-"));
const sqliteKills = isShort ? 200 : 1_000;
const postgresKills = isShort ? 100 : 200;
const postgres = await startPostgres();
afterAll(async () => {
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test(`${sqliteKills} processes killed at random on SQLite: nothing lost, duplicated or partial`, async () => {
  const paths = [0, 1].map((n) => join(folder, `${n}.db`));
  const acknowledged = await Promise.all(
    paths.map((path) => killWriters(`sqlite:${path}`, { kills: sqliteKills / 2 })),
  );
  for (const [n, path] of paths.entries()) {
    const store = sqliteStore({ path });
    expect(await countFaults(store, acknowledged[n] ?? [])).toEqual({ lost: 0, duplicated: 0, partial: 0 });
    const { completed, interrupted } = await checkRuns(store);
    process.stdout.write(
      `${sqliteKills / 2} kills: ${completed} turns completed, ${interrupted} interrupted, 0 lost\n`,
    );
    await store.close();
    expect(new DatabaseSync(path).prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  }
});

describe.runIf(postgres)("Postgres", () => {
  test(`${postgresKills} clients killed, and the server too: nothing lost, duplicated or partial`, async () => {
    const url = postgres?.url ?? "";
    const acknowledged: string[] = [];
    for (let round = 0; round < 4; round++) {
      acknowledged.push(...(await killWriters(url, { kills: postgresKills / 4, name: `r${round}` })));
      await postgres?.restart();
    }
    const store = openStore(url);
    expect(await countFaults(store, acknowledged)).toEqual({ lost: 0, duplicated: 0, partial: 0 });
    const { completed, interrupted } = await checkRuns(store);
    process.stdout.write(
      `${postgresKills} kills, 4 restarts: ${completed} turns completed, ${interrupted} interrupted, 0 lost\n`,
    );
    await store.close();
  });
});
