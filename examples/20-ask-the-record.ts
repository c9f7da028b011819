// Lesson 20: the record is readable without Offstage. A SQLite file has tables with plain names, for any database tool.
// Here node:sqlite asks it three questions. More of them, also for Postgres, are in docs/the-record.md.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Agent, sqliteStore, tool } from "offstage";
import { scriptedModel } from "offstage/testing";

const folder = await mkdtemp(join(tmpdir(), "offstage-"));
const path = join(folder, "box-office.db");

const seats = tool({ name: "free_seats", execute: () => ["A4", "C7"] });
const book = tool({ name: "book", execute: () => Promise.reject(new Error("The till is closed.")) });
const usage = { inputTokens: 900, outputTokens: 60 };
const model = scriptedModel(
  [
    { toolCalls: [{ name: "free_seats" }], usage },
    { toolCalls: [{ name: "book", input: { seat: "C7" } }], usage },
    { text: "C7 is free, but I cannot book it before the till opens.", usage },
  ],
  { modelId: "gpt-5-mini" },
);
const store = sqliteStore({ path });
const agent = new Agent({ name: "desk", model, tools: [seats, book] });
const { runId } = await agent.run("Book a seat for tonight, please.", { session: store.session("anna") });
await store.close();

// From here on, no Offstage: a file, and SQL.
const database = new DatabaseSync(path, { readOnly: true });

console.log("What was said:");
const said = "select role, content from messages where session_id = ? and stream = 'said' order by position";
for (const { role, content } of database.prepare(said).all("anna")) console.log(`  ${role}: ${content}`);

console.log("\nWhat was done to say it:");
const done = "select step, tool, status, arguments from tool_calls where run_id = ? order by step, position";
for (const call of database.prepare(done).all(runId)) console.log(" ", { ...call });

console.log("\nWhat it took:");
const took = "select agent, model, sum(total_tokens) as tokens, sum(cost_usd) as usd from steps group by agent, model";
for (const group of database.prepare(took).all()) console.log(" ", { ...group });

database.close();
await rm(folder, { recursive: true });
