// Rows with a column of an unexpected form, as a tool of somebody else or a damaged file leaves them: each is reported or refused.
import { beforeAll, describe, expect, test } from "vitest";
import type { AgentState } from "../../src/index.ts";
import type { Row } from "../../src/sessions/ports/store-driver.ts";
import { type TableName, tables } from "../../src/sessions/ports/tables.ts";
import {
  asker,
  codeOf,
  type Damage,
  openWith,
  readEverything,
  refusals,
  type StoredRows,
  shownDamage,
  storedRows,
  strangeDamages,
  unfitDamages,
} from "../support/malformed-rows.ts";
import { tableNames } from "../support/stored-rows.ts";

let stored: StoredRows;
beforeAll(async () => {
  stored = await storedRows();
});

/** Each kind of damage once: the same damage of a second row of the same kind would tell nothing new. */
function damages(table: TableName, damagesOf: typeof unfitDamages): Damage[] {
  const rows = stored.rows.filter((each) => each.table === table);
  const kinds = new Map(rows.map((each) => [kindOf(each.row), each]));
  return [...kinds.values()].flatMap(damagesOf);
}

// Rows of a table differ in the session and the run that they belong to, and messages also in their role.
function kindOf({ session_id, run_id, role, stream }: Row): string {
  const isWaiting = stored.runIds.indexOf(String(run_id)) >= 3;
  return JSON.stringify([session_id, isWaiting, role, stream]);
}

test("the store has rows in every table", () => {
  expect(new Set(stored.rows.map(({ table }) => table))).toEqual(new Set(tableNames));
  expect(JSON.parse(stored.expected.problems ?? "")).toEqual([]);
});

const others = ["other items", "other run"];

describe.for(tableNames)("a row of the table %s", (table) => {
  test("with a column of another type is reported, refused or harmless, hides nothing else, and stays unchanged", async () => {
    const faults: string[] = [];
    for (const each of damages(table, unfitDamages)) {
      await using opened = await openWith(stored.rows, each);
      const { store, reported, damaged, now } = opened;
      const { read, thrown } = await readEverything(store, stored);
      const at = shownDamage(each);
      const codes = new Set([...thrown, ...reported.map(({ code }) => code)]);
      // A column that is read nowhere, or only in another form of the row, does no harm.
      const isHarmless = JSON.stringify(read) === JSON.stringify(stored.expected);
      const isVerified = read.problems !== stored.expected.problems;
      if (codes.size === 0 && !isHarmless && !isVerified) faults.push(`${at}: nobody noticed`);
      for (const code of codes) if (!["store-corrupt", "wrong-key"].includes(code)) faults.push(`${at}: ${code}`);
      if (JSON.stringify(await now()) !== JSON.stringify(damaged)) faults.push(`${at}: the row was changed`);
      // A namespace that cannot be read is refused as a whole.
      const isOther = table === "namespaces" || each.placed.row.session_id === "other";
      for (const name of isOther ? [] : others)
        if (read[name] !== stored.expected[name]) faults.push(`${at}: ${name} differ`);
    }
    expect(faults).toEqual([]);
  });

  test("with another value in a column causes no error without a code, and stays unchanged", async () => {
    const faults: string[] = [];
    for (const each of damages(table, strangeDamages)) {
      await using opened = await openWith(stored.rows, each);
      const { store, reported, damaged, now } = opened;
      const { thrown } = await readEverything(store, stored);
      const at = shownDamage(each);
      for (const code of [...thrown, ...reported.map(({ code }) => code)])
        if (!refusals.includes(code)) faults.push(`${at}: ${code}`);
      if (JSON.stringify(await now()) !== JSON.stringify(damaged)) faults.push(`${at}: the row was changed`);
    }
    expect(faults).toEqual([]);
  });

  const sources: Readonly<Record<string, (stored: StoredRows) => AgentState | string>> = {
    "by id": ({ waitingId }) => waitingId,
    "by state": ({ state }) => state,
  };
  for (const [name, sourceOf] of Object.entries(sources))
    test(`that is damaged lets a run be resumed and started, or refuses it with a known code, ${name}`, async () => {
      const faults: string[] = [];
      for (const each of [...damages(table, unfitDamages), ...damages(table, strangeDamages)]) {
        await using opened = await openWith(stored.rows, each);
        const { store } = opened;
        const agent = asker();
        const codes: string[] = [];
        await agent.resume(sourceOf(stored), { store }).catch((error) => codes.push(codeOf(error)));
        // A damaged lease or mark may belong to a run elsewhere; that is not waited for here.
        const options = { session: store.session("s"), onBusy: "reject" } as const;
        await agent.run("And?", options).catch((error) => codes.push(codeOf(error)));
        for (const code of codes)
          if (![...refusals, "session-busy"].includes(code)) faults.push(`${shownDamage(each)}: ${code}`);
      }
      expect(faults).toEqual([]);
    });
});

test("notes of an unexpected form are ignored: the run still waits, and nothing is paid", async () => {
  const placed = stored.rows.find(({ table, row }) => table === "runs" && row.run_id === stored.waitingId);
  const notes = JSON.parse(String(placed?.row.notes)) as object;
  for (const changed of [{}, ...Object.keys(notes).map((name) => ({ ...notes, [name]: 5 }))]) {
    const value = JSON.stringify(changed);
    await using opened = await openWith(stored.rows, { placed: placed as never, column: "notes", value });
    const { store } = opened;
    const { outcome } = await asker().resume(stored.waitingId, { store });
    expect(outcome.status, value).toBe("waiting");
  }
});

test("a mark of a waiting process of an unexpected form does not keep a run from starting", async () => {
  const placed = stored.rows.find(({ table, row }) => table === "sessions" && row.session_id === "s");
  for (const value of ["", "nonsense", " ", "a b c d e f"]) {
    await using opened = await openWith(stored.rows, { placed: placed as never, column: "waiting_holder", value });
    const { store } = opened;
    const log = await store.session("s").journal.open({
      ...{ runId: "r", agent: "a", startedAt: "2026-01-01T00:00:00.000Z", input: [{ role: "user", content: "?" }] },
      ...{ historyLimit: 10, onBusy: "reject" },
    });
    await log.abandon();
  }
});

test("runs that are each other's parents are read without end by nobody", async () => {
  const runs = stored.rows.filter(({ table }) => table === "runs");
  for (const placed of runs)
    for (const parent of stored.runIds) {
      await using opened = await openWith(stored.rows, { placed, column: "parent_run_id", value: parent });
      const { store } = opened;
      const { thrown } = await readEverything(store, stored);
      for (const code of thrown) expect(refusals, `${placed.row.run_id} under ${parent}`).toContain(code);
      const codes: string[] = [];
      await asker()
        .resume(stored.waitingId, { store })
        .catch((error) => codes.push(codeOf(error)));
      expect(refusals).toEqual(expect.arrayContaining(codes));
    }
});

test("two runs with the same id are damage of one of them, and no reader loops", async () => {
  const runs = stored.rows.filter(({ table }) => table === "runs");
  for (const placed of runs) {
    if (placed.row.run_id === stored.waitingId) continue;
    await using opened = await openWith(stored.rows, { placed, column: "run_id", value: stored.waitingId });
    const { store } = opened;
    const { thrown } = await readEverything(store, stored);
    for (const code of thrown) expect(refusals).toContain(code);
    expect((await store.verify()).length).toBeGreaterThan(0);
  }
});

test("every column of every table is damaged in these tests", () => {
  for (const table of tableNames) {
    const { columns, key } = tables[table];
    const open = Object.keys(columns).filter((name) => ![...key.scope, ...key.by].includes(name));
    const damaged = new Set(damages(table, unfitDamages).map(({ column }) => column));
    expect([...damaged].sort(), table).toEqual(open.sort());
  }
});
