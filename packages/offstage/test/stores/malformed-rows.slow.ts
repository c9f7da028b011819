// Rows that are JSON of an unexpected form, as on back ends without checksums: each is treated as damaged.
import { beforeAll, describe, expect, test } from "vitest";
import { Agent, type AgentState } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import {
  asker,
  codeOf,
  type KeptRow,
  kindOf,
  malformedValues,
  openWith,
  readEverything,
  refusals,
  type StoredRows,
  storedRows,
  withOneReplaced,
} from "../support/malformed-rows.ts";

let stored: StoredRows;
beforeAll(async () => {
  stored = await storedRows();
});

test("the store contains every kind of row", () => {
  const kinds = new Set(stored.rows.map(kindOf));
  expect([...kinds].sort()).toEqual(
    [
      "activity",
      "head",
      "loose trace",
      "message",
      "place",
      "run",
      ...["a", "c", "i", "r", "s", "t", "v"].map((kind) => `step row ${kind}`),
      "trace run",
      "trace spans",
    ].sort(),
  );
});

const others = ["other items", "other run"];

describe("a row of an unexpected form", () => {
  test("in the list of traces is reported by verify()", async () => {
    for (const row of stored.rows.filter((each) => kindOf(each) === "loose trace")) {
      for (const value of malformedValues(row)) {
        const { store } = await openWith(stored.rows, row, value);
        expect((await store.verify()).map(({ problem }) => problem).join(), value).toContain("the list of traces");
      }
    }
  });

  test("is reported by its readers, causes no other error, and stays unchanged", async () => {
    // Full values may have any form; the list of traces is read only by verify() and rotate().
    for (const row of stored.rows.filter((each) => !["step row v", "loose trace"].includes(kindOf(each)))) {
      for (const value of malformedValues(row)) {
        const { store, reported, now } = await openWith(stored.rows, row, value);
        const { read, thrown } = await readEverything(store, stored);
        const at = `${row.list} ${row.key} = ${value}`;
        expect(new Set([...thrown, "store-corrupt"]), at).toEqual(new Set(["store-corrupt"]));
        expect(reported.length + thrown.length, at).toBeGreaterThan(0);
        expect(
          reported.every(({ code }) => code === "store-corrupt"),
          at,
        ).toBe(true);
        expect(await now(), at).toBe(value);
        if (row.list.includes("other") || row.value.includes("other") || row.list.includes(stored.runIds[0] ?? ""))
          continue;
        for (const name of others) expect(read[name], at).toBe(stored.expected[name]);
      }
    }
  });

  test("hides only its own content from readers", async () => {
    const items = JSON.parse(stored.expected.items ?? "") as unknown[];
    const runs = JSON.parse(stored.expected["all runs"] ?? "") as { readonly runId: string }[];
    const sessions = JSON.parse(stored.expected.sessions ?? "") as { readonly sessionId: string }[];
    for (const row of stored.rows) {
      for (const value of malformedValues(row)) {
        const { store } = await openWith(stored.rows, row, value);
        const held: unknown = JSON.parse(row.value);
        if (row.list === "m//s")
          expect(await store.session("s").getItems()).toEqual(
            items.toSpliced(Number.parseInt(row.key.slice(1), 36), 1),
          );
        if (row.list.startsWith("j/"))
          expect(await store.runs.list()).toEqual(runs.filter(({ runId }) => runId !== (held as string[])[0]));
        if (row.list.startsWith("a/"))
          expect(await store.sessions.list()).toEqual(sessions.filter(({ sessionId }) => sessionId !== held));
      }
    }
  });

  test("with one element replaced causes no error without a code", async () => {
    for (const row of stored.rows) {
      for (const value of withOneReplaced(row)) {
        const { store, now } = await openWith(stored.rows, row, value);
        const { thrown } = await readEverything(store, stored);
        const at = `${row.list} ${row.key} = ${value.slice(0, 2_000)}`;
        expect(refusals, at).toEqual(expect.arrayContaining(thrown));
        expect(await now(), at).toBe(value);
      }
    }
  });
});

describe("resuming and starting runs beside a row of an unexpected form", () => {
  const sources: Readonly<Record<string, (stored: StoredRows) => AgentState | string>> = {
    "by id": ({ waitingId }) => waitingId,
    "by state": ({ state }) => state,
  };
  for (const [name, sourceOf] of Object.entries(sources))
    test(`works or fails with a known code, ${name}`, async () => {
      for (const row of stored.rows) {
        for (const value of [...malformedValues(row), ...withOneReplaced(row, 1)]) {
          const { store } = await openWith(stored.rows, row, value);
          const at = `${row.list} ${row.key} = ${value.slice(0, 2_000)}`;
          const session = store.session("s");
          const agent = asker();
          const codes: string[] = [];
          await agent.resume(sourceOf(stored), { store }).catch((error) => codes.push(codeOf(error)));
          await agent.run("And?", { session }).catch((error) => codes.push(codeOf(error)));
          expect(refusals, at).toEqual(expect.arrayContaining(codes));
        }
      }
    });
});

test("resuming a waiting run whose row has any element replaced works or fails with a known code", async () => {
  const row = stored.rows.find(({ list, value }) => list === "j//s" && value.includes(stored.waitingId)) as KeptRow;
  for (const value of withOneReplaced(row, 6)) {
    const { store } = await openWith(stored.rows, row, value);
    const codes: string[] = [];
    await asker()
      .resume(stored.waitingId, { store })
      .catch((error) => codes.push(codeOf(error)));
    expect(refusals, value).toEqual(expect.arrayContaining(codes));
  }
});

test("notes of an unexpected form are ignored: the run still waits, and nothing is paid", async () => {
  const row = stored.rows.find(({ list, value }) => list === "j//s" && value.includes(stored.waitingId)) as KeptRow;
  const run = JSON.parse(row.value) as unknown[];
  const rest = run[10] as { readonly notes: object };
  for (const notes of [{}, ...Object.keys(rest.notes).map((name) => ({ ...rest.notes, [name]: 5 }))]) {
    const value = JSON.stringify(run.with(10, { ...rest, notes }));
    const { store } = await openWith(stored.rows, row, value);
    const { outcome } = await asker().resume(stored.waitingId, { store });
    expect(outcome.status, value).toBe("waiting");
  }
});

test("a waiting mark of an unexpected form is ignored", async () => {
  for (const value of ["null", "5", "{}", "[null]", '["x"]', "[[],{}]"]) {
    const [{ list }] = stored.rows.filter((row) => row.list === "h//s") as [KeptRow];
    const { store } = await openWith(
      [...stored.rows, { list, key: "waiting", value }],
      { list, key: "waiting", value },
      value,
    );
    const agent = new Agent({ model: scriptedModel(["Yes."]) });
    expect((await agent.run("Hello", { session: store.session("s") })).output).toBe("Yes.");
  }
});

test("a place that leads to another run is damage, and no reader loops", async () => {
  const parent = stored.rows.find(({ list, value }) => list === "j//s" && value.includes(stored.waitingId)) as KeptRow;
  const n = Number.parseInt(parent.key.slice(1), 36);
  for (const row of stored.rows.filter(({ list, key }) => list.startsWith("r/") && key === "at")) {
    const value = JSON.stringify(["s", n]);
    if (row.value === value) continue;
    const { store, reported } = await openWith(stored.rows, row, value);
    const runId = row.list.slice("r//".length);
    expect(await store.runs.get(runId)).toBeUndefined();
    expect(reported).toMatchObject([{ code: "store-corrupt" }]);
    await store.runs.get(stored.waitingId);
    await store.verify();
    const codes: string[] = [];
    await asker()
      .resume(runId, { store })
      .catch((error) => codes.push(codeOf(error)));
    expect(refusals).toEqual(expect.arrayContaining(codes));
    expect(codes).toHaveLength(1);
  }
});
