// The recall tool: its matches, its bounds and its sources.
import { expect, test } from "vitest";
import { buildTurns } from "../../test/support/long-conversation.ts";
import { assistant, toolCall, toolResult, user } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import { InMemorySession } from "../sessions/in-memory-session.ts";
import type { Tool, ToolRunOptions } from "../tools/tool.ts";
import { recallTool } from "./recall.ts";

const ask = async (tool: Tool, question: object): Promise<string> =>
  (await tool.execute(question, { runId: "r9" } as ToolRunOptions)) as string;

const long = `${"x ".repeat(5_000)}the needle${" y".repeat(5_000)}`;
const messages: Message[] = [
  user("which train?", { metadata: { id: "m1", runId: "r1" } }),
  assistant(null, {
    toolCalls: [toolCall("c1", "trains", { to: "Rome" })],
    metadata: { id: "m2", runId: "r1", step: 1 },
  }),
  toolResult("c1", "the 9:14 to Rome", { metadata: { id: "m3", runId: "r1", step: 1 } }),
  assistant("Take the 9:14.", { metadata: { id: "m4", runId: "r1" } }),
  user("and the hotel?", { metadata: { id: "m5", runId: "r2" } }),
  toolResult("c9", long, { name: "hotels", metadata: { id: "m6", runId: "r2", step: 1 } }),
];

test("all words must occur, in any order and case", async () => {
  const tool = recallTool(messages);
  expect(await ask(tool, { text: "rome 9:14" })).toContain("the 9:14 to Rome");
  expect(await ask(tool, { text: "rome hotel" })).toMatch(/^Nothing was found among 6 messages/);
});

test("a tool name finds its calls and results, and a result names its call", async () => {
  const found = await ask(recallTool(messages), { tool: "trains" });
  expect(found).toContain('Assistant calls trains {"to":"Rome"}');
  expect(found).toContain('[message m3, run r1, step 1, answers trains {"to":"Rome"}]');
  expect(found).not.toContain("which train?");
});

test("a run id finds all messages of that run", async () => {
  const found = await ask(recallTool(messages), { run: "r1" });
  expect(found.match(/run r1/g)).toHaveLength(4);
});

test("without a question the latest messages are shown", async () => {
  const found = await ask(recallTool(buildTurns(50), { maxMessages: 2 }), {});
  expect(found).toMatch(/^The latest 2 of 200 matches:/);
  expect(found).toContain("Assistant: answer 49");
});

test("a result is bounded, and a long message is shown around the first word", async () => {
  const found = await ask(recallTool(messages, { maxBytes: 1_000 }), { text: "needle" });
  expect(found).toContain("the needle");
  expect(found).toMatch(/\[\d+ characters before\]/);
  expect(Buffer.byteLength(found)).toBeLessThanOrEqual(1_000);
});

test("a long message can be read on to its end", async () => {
  const tool = recallTool(messages, { maxBytes: 2_000 });
  let text = "";
  for (let offset: number | undefined = 0; offset !== undefined; ) {
    const page: string = await ask(tool, { message: "m6", offset });
    const more: RegExpMatchArray | null = page.match(/\n\[\d+ more characters: read on with offset (\d+)\]$/);
    text += more === null ? page : page.slice(0, more.index);
    offset = more === null ? undefined : Number(more[1]);
  }
  expect(text).toBe(`Result of hotels: ${long}`);
  expect(await ask(tool, { message: "m99" })).toBe('There is no message "m99".');
});

test("its own calls and results are not found", async () => {
  const own = [
    assistant(null, { toolCalls: [toolCall("c5", "recall", { text: "Rome" })] }),
    toolResult("c5", "Rome, as recalled", { name: "recall" }),
  ];
  expect(await ask(recallTool([...messages, ...own]), { text: "recalled" })).toMatch(/^Nothing was found/);
});

test("a session is read at the time of the call", async () => {
  const session = new InMemorySession();
  const tool = recallTool(session);
  await session.addItem(user("my cat is called Miu"));
  expect(await ask(tool, { text: "cat" })).toContain("Miu");
});

test("a function is given the options of the call", async () => {
  const tool = recallTool(async ({ runId }) => [user(`asked by ${runId}`)]);
  expect(await ask(tool, { text: "asked" })).toContain("asked by r9");
});

test("the tool only reads: it is safe to run again, and later turns do not see its results", () => {
  expect(recallTool([])).toMatchObject({ name: "recall", idempotent: true, remember: "none", needsApproval: false });
});
