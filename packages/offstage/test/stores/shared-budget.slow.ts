// A budget that several processes share on one store: together they exceed it by at most one step each.
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { openStore } from "../../src/sessions/open-store.ts";
import type { SpenderOptions } from "../processes/budget-spender.ts";
import { startPostgres } from "../servers/postgres-server.ts";

const script = fileURLToPath(new URL("../processes/budget-spender.ts", import.meta.url));
const postgres = await startPostgres();
const folder = mkdtempSync(join(tmpdir(), "offstage-budget-"));
afterAll(async () => {
  await postgres?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function spend(options: SpenderOptions): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(options)]);
  return Number(stdout);
}

const places = [
  { store: "SQLite", url: `sqlite:${join(folder, "budget.db")}` },
  ...(postgres === undefined ? [] : [{ store: "Postgres", url: postgres.url }]),
];

test.for(places)(
  "four processes on $store share a budget, with at most one step each beyond it",
  { timeout: 60_000 },
  async ({ url }) => {
    const namespace = `budget-${crypto.randomUUID().slice(0, 8)}`;
    const perDay = 100;
    const steps = await Promise.all(["a", "b", "c", "d"].map((name) => spend({ url, namespace, name, perDay })));
    const spent = steps.reduce((sum, each) => sum + each, 0);
    await using store = openStore(url);
    const [all] = await store.namespace(namespace).numbers();
    expect(all?.cost).toBe(spent);
    expect(spent).toBeGreaterThanOrEqual(perDay);
    expect(spent).toBeLessThanOrEqual(perDay + 4);
    expect(steps.filter((each) => each > 0).length).toBeGreaterThan(1);
  },
);
