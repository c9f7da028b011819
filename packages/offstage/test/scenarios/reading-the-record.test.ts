// What a developer asks of the record after the fact: what did the helper do, why did it fail, which session was that, what was said to the model.
import { expect, test } from "vitest";
import { Agent, memoryStore, type RunOptions, type Store, sqliteStore, tool, user } from "../../src/index.ts";
import { memoryDriver } from "../../src/sessions/drivers/memory/memory.ts";
import { createStore } from "../../src/sessions/store.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { type PlacedRow, putRows, rowsIn } from "../support/stored-rows.ts";

const broken = tool({ name: "fetch_page", execute: () => Promise.reject(new Error("no such page")) });
const usage = { inputTokens: 20, outputTokens: 10 };

/** An agent whose helper calls a tool that fails; then it answers, or its model fails. */
function desk({ isFailing = false } = {}): Agent {
  const helper = new Agent({
    name: "helper",
    instructions: "Fetch pages.",
    model: scriptedModel(
      [
        { toolCalls: [{ name: "fetch_page", input: { url: "x" } }], usage },
        { text: "No page.", usage },
      ],
      {
        modelId: "gpt-5-mini",
      },
    ),
    tools: [broken],
  });
  const last = isFailing ? new Error("The provider is down.") : { text: "There is none.", usage };
  const model = scriptedModel([{ toolCalls: [{ name: "helper", input: { prompt: "fetch x" } }], usage }, last], {
    modelId: "gpt-5-mini",
  });
  const instructions = "You are the desk of a library.";
  return new Agent({ name: "desk", instructions, model, tools: [helper.asTool()], retry: { maxRetries: 0 } });
}

async function failedRun(store: Store, session = "anna"): Promise<string> {
  const error = await desk({ isFailing: true })
    .run("Find x", { session: store.session(session) })
    .catch((failure) => failure);
  return error.result.runId;
}

test("a subagent's failing tool is in the session's tool summary, filter, stats and exports, marked by run and agent", async () => {
  const store = memoryStore();
  await desk().run("Find x", { session: store.session("anna") });
  const query = await store.session("anna").query();
  const page = query.toolSummary().find(({ toolName }) => toolName === "fetch_page");
  expect([page?.callCount, page?.errorCount]).toEqual([1, 1]);
  const [failed, ...others] = query.filter({ isError: true });
  expect(others).toEqual([]);
  const [child] = (await store.runs.list({ subagents: true })).filter(({ agent }) => agent === "helper");
  expect(failed?.metadata).toMatchObject({ agent: "helper", runId: child?.runId, parentRunId: child?.parentRunId });
  expect(query.stats().usage?.totalTokens).toBe(120);
  for (const format of ["json", "markdown", "csv", "jsonl"] as const)
    expect(query.export(format), format).toContain("no such page");
  expect(query.filter({ subagents: false }).some(({ metadata }) => metadata?.agent === "helper")).toBe(false);
});

test("the Markdown of a failed run is a bug report: error, run, agent, model, status, usage and instructions", async () => {
  const store = sqliteStore({ path: ":memory:" });
  const runId = await failedRun(store);
  const [child] = (await store.runs.list({ subagents: true })).filter(({ agent }) => agent === "helper");
  const markdown = (await store.session("anna").query()).export("markdown");
  const expected = ["The provider is down.", runId, "desk", "gpt-5-mini", "failed", "You are the desk of a library."];
  for (const text of [...expected, "helper", "Fetch pages.", child?.runId ?? "", "no such page", "90 tokens"])
    expect(markdown).toContain(text);
  const timeline = String((await store.session("anna").query()).timeline());
  expect(timeline).toContain("failed");
  expect(timeline).not.toContain("(open)");
  await store.close();
});

test("the instructions and tools of every step are recorded, also those of a subagent", async () => {
  const store = memoryStore();
  const { runId, children } = await desk().run("Find x", { session: store.session("anna") });
  const input = await store.runs.input(runId, 2);
  expect(input?.messages[0]).toEqual({ role: "system", content: "You are the desk of a library." });
  expect(input?.tools).toMatchObject([{ name: "helper" }]);
  const below = await store.runs.input(children[0]?.runId ?? "", 1);
  expect(below?.messages).toEqual([
    { role: "system", content: "Fetch pages." },
    { role: "user", content: "fetch x" },
  ]);
});

test("hits say their session, and listed runs have model, cost, steps and errors", async () => {
  const store = memoryStore();
  const failed = await failedRun(store, "bert");
  const { cost } = await desk().run("Find y", { session: store.session("anna") });
  const found = [];
  for await (const { session, run } of store.search({ text: "NO SUCH" })) found.push([session.sessionId, run?.agent]);
  expect(found).toEqual([
    ["anna", "helper"],
    ["bert", "helper"],
  ]);
  const [latest, first] = await store.runs.list({ status: ["completed", "failed"], since: Date.now() - 60_000 });
  expect(latest).toMatchObject({ model: "gpt-5-mini", stepCount: 2, errorCount: 0, cost });
  expect(first).toMatchObject({ runId: failed, stepCount: 1, usage: { totalTokens: 90 } });
  const [helper] = await store.runs.list({ subagents: true, agent: "helper", limit: 1 });
  expect(helper).toMatchObject({ stepCount: 2, errorCount: 1 });
  expect(await store.runs.list({ until: Date.now() - 60_000 })).toEqual([]);
});

test("a session has a title and metadata, and an unknown option of run() or stream() is refused", async () => {
  const store = memoryStore();
  const session = store.session("anna");
  await desk().run("Find x\nplease", { session });
  expect((await store.sessions.get("anna"))?.title).toBe("Find x please");
  await session.describe({ metadata: { owner: "u1" } });
  expect(await store.sessions.list({ metadata: { owner: "u1" } })).toHaveLength(1);
  const options = { session, metadata: { owner: "u1" } } as RunOptions;
  await expect(async () => desk().run("hi", options)).rejects.toMatchObject({ code: "invalid-argument" });
  await expect(async () => desk().stream("hi", options).result).rejects.toThrow('"metadata"');
  expect(await session.getItemCount()).toBe(2);
});

test("a redactor that changes the ids of calls and messages leaves the inbox and every step readable", async () => {
  const redact = <T>(message: T): T =>
    JSON.parse(JSON.stringify(message).replaceAll(/call_\d+_\d+|[0-9a-f]{8}-[0-9a-f-]+/g, "***"));
  const store = memoryStore({ redact });
  const pay = tool({ name: "pay", needsApproval: true, execute: () => "paid" });
  const look = tool({ name: "look", execute: () => "seen call_9_9" });
  const toolCalls = [{ name: "look" }, { name: "pay", input: { note: "call_7_7" } }, { name: "look" }];
  const agent = new Agent({ model: scriptedModel([{ toolCalls }, "done"]), tools: [pay, look] });
  const { runId, approvals } = await agent.run("Pay for call_8_8", { session: store.session("s") });
  const [waiting] = await store.runs.list({ status: "waiting" });
  expect(waiting?.runId).toBe(runId);
  const found = await store.runs.get(runId);
  expect(found?.approvals.map(({ toolCallId }) => toolCallId)).toEqual(approvals.map(({ toolCallId }) => toolCallId));
  expect(found?.openStep?.results).toHaveLength(2);
  expect(await store.verify()).toEqual([]);
  await agent.resume(runId, { store, reject: [...(found?.approvals ?? [])] });
  expect(await store.verify()).toEqual([]);
  expect((await store.runs.get(runId))?.steps.map(({ messages }) => messages.length)).toEqual([4, 1]);
  const text = JSON.stringify(await store.session("s").transcript());
  expect(text).not.toMatch(/call_[789]_/);
  expect((await store.session("s").query()).toolSummary().map(({ callCount }) => callCount)).toEqual([2, 1]);
});

test("an unreadable row damages only itself: pages, search, numbers and queries go on", async () => {
  const driver = memoryDriver();
  const errors: unknown[] = [];
  const store = createStore(driver, { onError: (error) => errors.push(error) });
  for (let n = 0; n < 12; n++) {
    const agent = new Agent({ model: scriptedModel([`answer ${n}`]) });
    await agent.run(`question ${n}`, { session: store.session(`s${n % 4}`) });
  }
  const rows = await rowsIn(driver);
  const damaged = rows.flatMap(({ table, row }): PlacedRow[] => {
    if (table === "runs" && row.seq === rows.find((each) => each.table === "runs")?.row.seq)
      return [{ table, row: { ...row, status: "odd" } }];
    return table === "messages" && row.content === "question 5" ? [{ table, row: { ...row, metadata: "{" } }] : [];
  });
  expect(damaged).toHaveLength(2);
  await putRows(driver, ...damaged);
  const listed = [];
  for (let before: string | undefined; ; ) {
    const page = await store.runs.list({ limit: 2, before });
    listed.push(...page);
    before = page.at(-1)?.cursor;
    if (page.length < 2) break;
  }
  expect(listed).toHaveLength(11);
  const found = [];
  for await (const { message } of store.search({ text: "question" })) found.push(message.content);
  expect(found).toHaveLength(11);
  expect((await store.numbers())[0]?.runs).toBe(11);
  expect((await store.query({ text: "answer" })).length).toBe(12);
  expect(errors.length).toBeGreaterThan(0);
});

test("a message that a branch copied counts once in a query over all sessions", async () => {
  const store = memoryStore();
  const session = store.session("anna");
  const agent = new Agent({
    model: scriptedModel([
      { text: "First.", usage },
      { text: "Second.", usage },
    ]),
  });
  await session.addItem(user("Before any run."));
  await agent.run("One", { session });
  await agent.run("Two", { session: await session.branch(undefined, { id: "branch" }) });
  const query = await store.query();
  expect(query.stats().usage?.totalTokens).toBe(60);
  expect((await store.numbers())[0]?.totalTokens).toBe(60);
  expect(query.all().map(({ content }) => content)).toEqual([
    ...["Before any run.", "One", "First."],
    ...["Before any run.", "Two", "Second."],
  ]);
});
