// The record is readable without us: the SQL of docs/the-record.md gives what the API gives, on SQLite and on Postgres.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgresStore, sqliteStore } from "../src/index.ts";
import { textOf } from "../src/messages/message.ts";
import type { RunInfo } from "../src/sessions/ports/run-record.ts";
import { tables } from "../src/sessions/ports/tables.ts";
import type { Store } from "../src/sessions/store.ts";
import { type PostgresServer, startPostgres } from "./servers/postgres-server.ts";
import { generatedTurns, runTurns } from "./support/generated-record.ts";

type Row = Record<string, unknown>;
/** Runs a statement on the database of a store. */
type Ask = (sql: string) => Promise<Row[]>;

interface Question {
  readonly store: Store;
  /** Asks with the SQL of the page, with these ids in place of 'anna' and 'RUN', and this step in place of 2. */
  ask(ids?: { session?: string; run?: string; step?: number }, block?: number): Promise<Row[]>;
}

const page = readFileSync(new URL("../../../docs/the-record.md", import.meta.url), "utf8");
const [, tablesPart = "", sealedPart = "", questionsPart = ""] = page.split(
  /^## (?:The tables|What an encrypted store hides|Ten questions)$/m,
);
const sections = new Map(
  questionsPart.split(/^### /m).flatMap((section): [string, string[]][] => {
    const blocks = [...section.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(([, sql = ""]) => sql);
    return blocks.length === 0 ? [] : [[section.split("\n")[0] ?? "", blocks]];
  }),
);

/** What the API answers to each question; each throws if the SQL answers something else. */
const checks: Readonly<Record<string, (question: Question) => Promise<void>>> = {
  async "What was said?"({ store, ask }) {
    for (const { sessionId } of await store.sessions.list()) {
      const said = (await store.session(sessionId).getItems()).map((message) => [message.role, textOf(message)]);
      expect((await ask({ session: sessionId })).map(({ role, content }) => [role, content])).toEqual(said);
    }
  },

  async "What did a run do, in order?"({ store, ask }) {
    for (const { runId, sessionId } of await store.runs.list({ subagents: true })) {
      const rows = await ask({ run: runId });
      const done = (await store.session(sessionId).query()).filter({ runId });
      expect(rows.map(({ role, content }) => [role, content ?? ""])).toEqual(
        done.map((message) => [message.role, textOf(message)]),
      );
      const { steps = [], input = [], openStep } = (await store.runs.get(runId)) ?? {};
      const ofSteps = steps.flatMap(({ messages }) => messages.length);
      const open = openStep === undefined ? 0 : 1 + openStep.results.length;
      expect(rows.length).toBe(ofSteps.reduce((sum, count) => sum + count, input.length + open));
    }
  },

  async "Which tools fail?"({ store, ask }) {
    const rows = (await ask()).map(({ tool, calls, failures }) => ({
      tool,
      calls: Number(calls),
      failures: Number(failures),
    }));
    const numbers = await store.numbers({ by: "tool" });
    expect(sorted(rows)).toEqual(sorted(numbers.map(({ tool, calls, failures }) => ({ tool, calls, failures }))));
    const summary = (await store.query()).toolSummary();
    expect(sorted(rows)).toEqual(
      sorted(
        summary.map(({ toolName, callCount, errorCount }) => ({
          tool: toolName,
          calls: callCount,
          failures: errorCount,
        })),
      ),
    );
    const failed = (await store.query({ isError: true })).all();
    expect(sorted((await ask({}, 1)).map(({ run_id, tool, result }) => ({ run_id, tool, result })))).toEqual(
      sorted(
        failed.map((message) => ({ run_id: message.metadata?.runId, tool: message.name, result: textOf(message) })),
      ),
    );
    expect(failed.length).toBeGreaterThan(0);
  },

  async "How many tokens, by agent, model and day?"({ store, ask }) {
    const rows = (await ask()).map(({ day, agent, model, input_tokens, output_tokens, cost }) => ({
      ...{ day: dayOf(day), agent, model, inputTokens: Number(input_tokens), outputTokens: Number(output_tokens) },
      cost: rounded(cost),
    }));
    const numbers = await store.numbers({ by: ["day", "agent", "model"] });
    const expected = numbers
      .filter(({ totalTokens }) => totalTokens > 0)
      .map(({ day, agent, model, inputTokens, outputTokens, cost }) => ({
        ...{ day, agent, model, inputTokens, outputTokens },
        cost: rounded(cost),
      }));
    expect(sorted(rows)).toEqual(sorted(expected));
    expect(new Set(rows.map(({ day }) => day)).size).toBe(2);
  },

  async "Which runs wait for a person?"({ store, ask }) {
    const rows = await ask();
    const waiting = await store.runs.list({ status: "waiting" });
    const runs = await Promise.all(waiting.map(({ runId }) => store.runs.get(runId)));
    const approvals = runs.flatMap((run) => run?.approvals ?? []);
    expect(sorted(rows.map(({ run_id, agent, call_id, tool }) => ({ run_id, agent, call_id, tool })))).toEqual(
      sorted(
        approvals.map(({ runId, agent, toolCallId, toolName }) => ({
          ...{ run_id: runId, agent, call_id: toolCallId, tool: toolName },
        })),
      ),
    );
    expect(rows.length).toBeGreaterThan(0);
  },

  async "Which operations are slow?"({ store, ask }) {
    const sessions = await store.sessions.list();
    const spans = await Promise.all(sessions.map(({ sessionId }) => store.spans.list({ sessionId })));
    const slowest = spans
      .flat()
      .flatMap(({ duration }) => duration ?? [])
      .sort((a, b) => b - a);
    expect((await ask()).map(({ duration_ms }) => duration_ms)).toEqual(slowest.slice(0, 10));
  },

  async "Which subagents did a run have?"({ store, ask }) {
    for (const { runId, usage } of await store.runs.list()) {
      const rows = await ask({ run: runId });
      const family = await familyOf(store, runId);
      expect(sorted(rows.map(({ depth, agent, run_id, status }) => ({ depth, agent, run_id, status })))).toEqual(
        sorted(family.map(({ depth, run }) => ({ depth, agent: run.agent, run_id: run.runId, status: run.status }))),
      );
      // Tokens of a run are its own, so that those of a family add up to its total.
      expect(rows.reduce((sum, { total_tokens }) => sum + Number(total_tokens), 0)).toBe(usage?.totalTokens);
    }
  },

  async "Which sessions cost most?"({ store, ask }) {
    const titles = new Map((await store.sessions.list()).map(({ sessionId, title }) => [sessionId, title]));
    const rows = (await ask()).map(({ session_id, title, cost, tokens }) => ({
      ...{ session_id, title, cost: rounded(cost), tokens: Number(tokens) },
    }));
    const numbers = await store.numbers({ by: "session" });
    expect(sorted(rows)).toEqual(
      sorted(
        numbers.map(({ session = "", cost, totalTokens }) => ({
          ...{ session_id: session, title: titles.get(session), cost: rounded(cost), tokens: totalTokens },
        })),
      ),
    );
    expect(rows.map(({ cost }) => cost)).toEqual(rows.map(({ cost }) => cost).sort((a, b) => b - a));
  },

  async "Where was this said?"({ store, ask }) {
    const found: Row[] = [];
    for await (const { session, stream, message } of store.search({ text: "refund" }))
      found.push({ session_id: session.sessionId, stream, role: message.role, content: textOf(message) });
    expect(await ask()).toEqual(found);
  },

  async "What was the input of a step?"({ store, ask }) {
    let inputs = 0;
    for (const { runId } of await store.runs.list({ subagents: true })) {
      for (let step = 1; ; step++) {
        const input = await store.runs.input(runId, step);
        if (input === undefined) break;
        inputs++;
        const [setup, rows] = [await ask({ run: runId, step }, 0), await ask({ run: runId, step }, 1)];
        const { modelId, provider, tools, settings } = input;
        expect(setup.map(({ content }) => JSON.parse(String(content)))).toEqual([
          { modelId, provider, tools, settings },
        ]);
        const messages = rows.map((row) => (row.role === null ? JSON.parse(String(row.content)) : row));
        expect(messages.map((message) => [message.role, textOf(message)])).toEqual(
          input.messages.map((message) => [message.role, textOf(message)]),
        );
      }
    }
    expect(inputs).toBeGreaterThan(10);
  },
};

async function checkAll(store: Store, ask: Ask): Promise<void> {
  for (const [name, check] of Object.entries(checks)) {
    const blocks = sections.get(name) ?? [];
    await check({
      store,
      ask: ({ session = "anna", run = "none", step = 2 } = {}, block = 0) =>
        ask(
          (blocks[block] ?? "")
            .replaceAll("'anna'", `'${session}'`)
            .replaceAll("'RUN'", `'${run}'`)
            .replaceAll(/step (=|<=|<) 2/g, `step $1 ${step}`),
        ),
    });
  }
}

// A branch has copies of messages, under numbers of its own.
async function branchAll(store: Store): Promise<void> {
  for (const { sessionId } of await store.sessions.list())
    await store.session(sessionId).branch(undefined, { id: `${sessionId}-branch` });
}

async function familyOf(store: Store, runId: string, depth = 0): Promise<{ depth: number; run: RunInfo }[]> {
  const run = await store.runs.get(runId);
  if (run === undefined) return [];
  const beneath = await Promise.all(run.children.map((child) => familyOf(store, child.runId, depth + 1)));
  return [{ depth, run }, ...beneath.flat()];
}

function sorted<T>(rows: readonly T[]): T[] {
  return rows.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

// The order of an addition changes its last digits.
function rounded(cost: unknown): number {
  return Math.round(Number(cost) * 1e9) / 1e9;
}

function dayOf(day: unknown): string {
  return day instanceof Date ? day.toLocaleDateString("sv-SE") : String(day);
}

test("the page has ten questions, and each is checked here", () => {
  expect([...sections.keys()]).toEqual(Object.keys(checks));
  expect(sections.size).toBe(10);
});

test("the page describes every table with all of its columns", () => {
  const described = Object.fromEntries(
    tablesPart
      .split(/^### /m)
      .slice(1)
      .map((section) => [section.split("\n")[0], [...section.matchAll(/`([a-z_]+)`/g)].map(([, name]) => name)]),
  );
  expect(Object.keys(described)).toEqual(Object.keys(tables));
  for (const [name, { columns }] of Object.entries(tables))
    expect(Object.keys(columns).filter((column) => !described[name]?.includes(column))).toEqual([]);
});

test("the page names the sealed columns, and no others", () => {
  const listed = [...sealedPart.matchAll(/^\| `([a-z_]+)` \| (.+) \|$/gm)].flatMap(([, table, columns = ""]) =>
    [...columns.matchAll(/`([a-z_]+)`/g)].map(([, column]) => `${table}.${column}`),
  );
  const sealed = Object.entries(tables).flatMap(([name, { columns }]) =>
    Object.keys(columns)
      .filter((column) => columns[column]?.isSealed && column !== "exact")
      .map((column) => `${name}.${column}`),
  );
  expect(listed.toSorted()).toEqual(sealed.toSorted());
});

const folder = mkdtempSync(join(tmpdir(), "offstage-record-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

test("ten questions in SQL on a SQLite file give what the API gives", async () => {
  await fc.assert(
    fc.asyncProperty(generatedTurns, async (turns) => {
      const path = join(folder, `${++files}.db`);
      await using store = sqliteStore({ path });
      await runTurns(store, turns);
      await branchAll(store);
      using database = new DatabaseSync(path, { readOnly: true });
      await checkAll(store, async (sql) => database.prepare(sql).all() as Row[]);
    }),
    { numRuns: 12 },
  );
});

let server: PostgresServer | undefined;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.stop());

test("ten questions in SQL on a Postgres database give what the API gives", async ({ skip }) => {
  if (server === undefined) return skip();
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    await client.query("set time zone 'UTC'");
    for (const [index, turns] of fc.sample(generatedTurns, 4).entries()) {
      const schema = `record_${process.pid}_${index}`;
      await using store = postgresStore({ url: server.url, schema });
      await runTurns(store, turns);
      await branchAll(store);
      await client.query(`set search_path to ${schema}`);
      await checkAll(store, async (sql) => (await client.query<Row>(sql)).rows);
      await client.query(`drop schema ${schema} cascade`);
    }
  } finally {
    await client.end();
  }
});
