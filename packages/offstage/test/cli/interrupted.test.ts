// What the command line says of a run whose process ended while a tool ran, before and after it was resumed.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Agent, sqliteStore, tool } from "../../src/index.ts";
import { crashingStore, scriptedModel } from "../../src/testing/index.ts";
import { type CliResult, offstage } from "./cli-world.ts";

const folder = mkdtempSync(join(tmpdir(), "offstage-interrupted-"));
const path = join(folder, "offstage.db");
const runs = { open: "", resumed: "" };

const usage = { inputTokens: 1000, outputTokens: 50 };
const call = (name: string) => ({ toolCalls: [{ name, input: { seat: "4A" } }], usage });
const seats = tool({ name: "seats", input: { type: "object" }, execute: () => "4A is free" });
const reserve = tool({ name: "reserve", input: { type: "object" }, execute: () => "reserved" });
const booker = () =>
  new Agent({
    name: "booker",
    model: scriptedModel([call("seats"), call("reserve"), { text: "It may be reserved.", usage }]),
    tools: [seats, reserve],
  });

beforeAll(async () => {
  for (const session of ["open", "resumed"] as const) {
    const crash = { when: "before", action: new Error("the process ended") } as const;
    await using file = sqliteStore({ path });
    const unended = crashingStore(file, { ...crash, at: "run.end" });
    const store = crashingStore(unended, { ...crash, at: "tool.result", nth: 2 });
    const agent = booker();
    await agent.run("Reserve 4A", { session: store.session(session) }).catch(() => undefined);
    runs[session] = (await store.runs.list({ sessionId: session }))[0]?.runId ?? "";
    if (session === "resumed") await agent.resume(runs.resumed, { store });
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

const ask = (line: string): Promise<CliResult> => offstage(line.split(" "), { cwd: folder });

describe("an interrupted call", () => {
  test("is not a failed one, in the tool summary as in the numbers of the store", async () => {
    await using store = sqliteStore({ path });
    const reserved = (await store.query()).toolSummary().find(({ toolName }) => toolName === "reserve");
    expect([reserved?.callCount, reserved?.errorCount]).toEqual([2, 0]);
    expect(reserved?.calls.map(({ status }) => status)).toEqual([undefined, "interrupted"]);
    expect(String(reserved)).toContain("Tool: reserve (called 2 times)");
    const numbers = await store.numbers({ by: "tool" });
    expect(numbers.find((group) => group.tool === "reserve")).toMatchObject({ calls: 2, failures: 0 });
    expect((await ask("tools resumed --json")).records).toContainEqual(
      expect.objectContaining({ tool: "reserve", failures: 0 }),
    );
  });

  test.for([
    "show open --trace",
    "timeline open",
    "run open",
    "show resumed --trace",
    "timeline resumed",
    "run resumed",
  ])("has one mark: offstage %s", async (line) => {
    const { out } = await ask(line);
    expect(out).toContain("✓ seats");
    expect(out).toContain("↯ reserve");
  });
});

describe("an interrupted run", () => {
  test("counts its finished steps and their tokens, wherever it is listed", async () => {
    const counted = { status: "interrupted", stepCount: 1, usage: { inputTokens: 1000, outputTokens: 50 } };
    expect((await ask("runs open --json")).records).toMatchObject([counted]);
    expect((await ask("run open --json")).records).toMatchObject([counted]);
    expect((await ask("sessions open --json")).records).toMatchObject([{ sessionId: "open", tokens: 1050 }]);
    expect((await ask("show open")).out).toContain("1 step · 1.1k tokens");
    await using store = sqliteStore({ path });
    const [group] = await store
      .numbers({ by: "session" })
      .then((all) => all.filter(({ session }) => session === "open"));
    expect(group?.totalTokens).toBe(1050);
  });
});

describe("a resumed run", () => {
  test("says why it was resumed, and which call was interrupted", async () => {
    const { out } = await ask("why resumed");
    expect(out).toContain("It answered after 3 steps. Its process had ended while 1 call ran, and it was");
    expect(out).toMatch(/step 2 +tool-calls, 1 tool\n {4}↯ reserve/);
    expect(out).not.toContain(", 0 µs");
    const [record] = (await ask("why resumed --json")).records;
    expect(record).toMatchObject({
      steps: [{ interrupted: [] }, { interrupted: [{ toolName: "reserve" }] }, { interrupted: [] }],
    });
  });
});

test("a run that is stopped after its process ended keeps its steps and tokens, in lists as in the numbers", async () => {
  await using store = sqliteStore({ path });
  expect(await store.runs.stop(runs.open)).toBe(true);
  const counted = { status: "stopped", stepCount: 1, usage: { totalTokens: 1050 } };
  expect(await store.runs.list({ sessionId: "open" })).toMatchObject([counted]);
  const groups = await store.numbers({ by: "session" });
  expect(groups.find((group) => group.session === "open")?.totalTokens).toBe(1050);
  expect(await store.verify()).toEqual([]);
});
