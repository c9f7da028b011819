// Lesson 21: a report of tools by failures over all sessions, in five lines. Subagents are counted too.
// `store.numbers` counts by day, agent, model, tool, session or status. `store.query` has the calls behind the counts.
import { Agent, memoryStore, tool } from "offstage";
import { scriptedModel } from "offstage/testing";
import * as z from "zod";

const store = memoryStore(); // or any other store, with the runs of months
await someRuns();

// The report.
const tools = await store.numbers({ by: "tool" });
const worst = tools.toSorted((a, b) => b.failures - a.failures);
for (const { tool: name, calls, failures } of worst) console.log(`${name}: ${failures} of ${calls} calls failed`);
const failed = (await store.query({ isError: true })).all();
for (const { content, metadata } of failed) console.log(`  ${metadata?.agent}: ${content}`);

// Numbers print themselves as a table, and take several dimensions.
console.log(`\n${await store.numbers({ by: ["agent", "tool"] })}`);

// The summary of one tool, with arguments and results.
console.log(`\n${(await store.query({ toolName: "fetch_page" })).toolSummary()}`);
await store.close();

async function someRuns(): Promise<void> {
  const fetchPage = tool({
    name: "fetch_page",
    input: z.object({ url: z.string() }),
    execute: ({ url }) => (url.includes("old") ? Promise.reject(new Error(`404 for ${url}`)) : "A page."),
  });
  const clock = tool({ name: "clock", execute: () => "noon" });
  const call = (url: string) => ({ name: "fetch_page", input: { url } });
  const researcher = new Agent({
    name: "researcher",
    model: scriptedModel([{ toolCalls: [call("/old"), call("/new")] }, "Only the new page exists."]),
    tools: [fetchPage],
  });
  const model = scriptedModel([
    { toolCalls: [{ name: "researcher", input: { prompt: "Find the pages." } }, { name: "clock" }] },
    "One page, at noon.",
    { toolCalls: [call("/older")] },
    "That page is gone.",
  ]);
  const desk = new Agent({ name: "desk", model, tools: [researcher.asTool(), fetchPage, clock] });
  await desk.run("Which pages are there?", { session: store.session("anna") });
  await desk.run("And the older one?", { session: store.session("bert") });
}
