// Decisions from the terminal: what waits, and how a run goes on.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type CliResult, offstage } from "./cli-world.ts";
import { openShop, type Shop } from "./shop-store.ts";

let shop: Shop;
const source = (path: string): string => fileURLToPath(new URL(`../../src/${path}`, import.meta.url));

beforeEach(async () => {
  shop = await openShop();
  const module = `
import { Agent, tool } from "${source("index.ts")}";
import { scriptedModel } from "${source("testing/index.ts")}";
const refund = tool({ name: "refund", input: { type: "object", properties: { euros: { type: "number" } } }, needsApproval: true, execute: ({ euros }) => "paid " + euros });
const model = scriptedModel(({ messages }) => "It says: " + messages.at(-1).content);
const instructions = (context) => "You pay for " + context.require("shop");
export default { payer: new Agent({ name: "payer", model, tools: [refund] }), other: new Agent({ name: "other", model }) };`;
  const strict = module.replace('name: "payer", model', 'name: "payer", instructions, model');
  writeFileSync(join(shop.folder, "strict.ts"), strict);
  writeFileSync(join(shop.folder, "agent.ts"), module);
  writeFileSync(join(shop.folder, "none.ts"), "export default 5;");
});
afterEach(() => rmSync(shop.folder, { recursive: true }));

const ask = (...words: string[]): Promise<CliResult> => offstage(words, { cwd: shop.folder });

test("the inbox shows what waits, and what to type", async () => {
  const { out } = await ask("inbox");
  expect(out).toContain('{"euros":80}');
  expect(out).toContain(`offstage approve ${shop.runs.waiting.slice(0, 8)}`);
});

test("an approved call runs, and its run goes on", async () => {
  const { code, out } = await ask("approve", "last", "--agent", "./agent.ts");
  expect(code).toBe(0);
  expect(out).toContain('✓ refund {"euros":80}');
  expect(out).toContain("It says: paid 80");
  expect((await ask("inbox")).code).toBe(1);
  expect((await ask("approve", "last", "--agent", "./agent.ts")).err).toContain("No call waits for a decision.");
  expect((await ask("approve", "money", "--agent", "./agent.ts")).err).toContain("is completed: nothing waits there");
});

test("a call is approved with another input", async () => {
  const { records } = await ask("approve", "money", "--agent", "agent.ts", "--input", '{"euros":8}', "--json");
  expect(records).toMatchObject([{ runId: shop.runs.waiting, status: "completed", waiting: 0 }]);
  expect(records[0]?.text).toContain("paid 8");
});

test("last is the latest run that waits, not the latest run", async () => {
  await offstage(["chat", "later", "--agent", "agent.ts", "--name", "other"], { cwd: shop.folder, input: "Hello" });
  expect((await ask("run", "last", "--json")).records[0]).toMatchObject({ sessionId: "later", status: "completed" });
  expect((await ask("answer", "last", "call_1", "yes", "--agent", "agent.ts")).err).toContain("No question waits");
  const { records } = await ask("approve", "last", "--agent", "agent.ts", "--json");
  expect(records).toMatchObject([{ runId: shop.runs.waiting, status: "completed" }]);
});

test("an agent that needs a context is given one with --context", async () => {
  const strict = ["--agent", "strict.ts"];
  const missing = await ask("approve", "last", ...strict);
  expect(missing).toMatchObject({ code: 2 });
  expect(missing.err).toContain(`Here: --context '{"shop": …}'.`);
  expect((await ask("approve", "last", ...strict, "--context", "[1]")).err).toContain("--context takes a JSON object");
  const { code, out } = await ask("approve", "money", ...strict, "--context", '{"shop":"desks"}');
  expect([code, out]).toEqual([0, expect.stringContaining("It says: paid 80")]);
  const chat = (...words: string[]) => offstage(["chat", ...words], { cwd: shop.folder, input: "Hello" });
  expect((await chat("new", ...strict)).err).toContain("--context");
  expect((await chat("new", ...strict, "--context", '{"shop":"desks"}')).out).toContain("It says: Hello");
  expect((await chat("--demo", "--context", "{}")).err).toContain("--context goes with --agent.");
});

test("a rejected call does not run, and the model reads why", async () => {
  const { code, out } = await ask("reject", "last", "--agent", "./agent.ts", "--reason", "Too much.");
  expect(code).toBe(0);
  expect(out).toContain("■ refund");
  expect(out).toMatch(/rejected by the user and not run\.\s+Reason: Too much\./);
});

test("a wrong call, module or agent is told, and decides nothing", async () => {
  expect((await ask("approve", "last")).err).toContain("--agent ./agent.ts");
  expect((await ask("approve", "last", "nothing", "--agent", "agent.ts")).err).toContain(
    "is none or several of the calls that wait",
  );
  expect((await ask("approve", "last", "--agent", "missing.ts")).err).toContain('There is no file "missing.ts"');
  expect((await ask("approve", "last", "--agent", "none.ts")).err).toContain("is no agent");
  expect((await ask("approve", "last", "--agent", "agent.ts", "--input", "{")).code).toBe(2);
  expect((await ask("inbox")).code).toBe(0);
});

test("stop ends a run that waits, and says so if it had ended before", async () => {
  expect((await ask("stop", "last", "--reason", "Enough.")).out).toBe(
    `Run ${shop.runs.waiting.slice(0, 8)} is asked to stop.\n`,
  );
  expect((await ask("run", "money", "--json")).records[0]).toMatchObject({
    status: "stopped",
    reason: "stop-requested",
    stopReason: "Enough.",
  });
  expect((await ask("runs", "money")).out).toContain("stopped: Enough.");
  expect((await ask("why", "money")).out).toContain("it was asked to: Enough.");
  expect(await ask("stop", "money", "--json")).toMatchObject({ code: 1, records: [{ stopped: false }] });
  expect(await ask("stop", "last")).toMatchObject({ code: 1, err: "offstage: No run is open.\n" });
});
