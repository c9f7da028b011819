// Conversations of thousands of turns with a model that has a small context window: what is sent, and what is kept.
import { expect, test } from "vitest";
import { compactor, summarizeOlder } from "../../src/doors/memory.ts";
import {
  Agent,
  type AgentOptions,
  assistant,
  ConversationMemory,
  InMemorySession,
  SlidingWindowMemory,
  tokenCounter,
  tool,
  user,
} from "../../src/index.ts";
import { type ScriptedRequest, scriptedModel } from "../../src/testing/index.ts";
import { fullOrFifth } from "../support/full-or-fifth.ts";

const window = 16_000;
const counter = tokenCounter();
const lookUp = tool({ name: "look_up", execute: () => "an order with many details, ".repeat(40) });

/** A model that looks something up before each answer, and records how many tokens it was sent. */
function orderModel() {
  const sent: number[] = [];
  const reply = ({ messages }: ScriptedRequest) => {
    sent.push(counter.countMessages(messages));
    if (messages.at(-1)?.role === "tool") return `Your order is on its way. ${"It will take some days. ".repeat(10)}`;
    return messages.some((message) => message.role === "system" && String(message.content).includes("ummar"))
      ? "A summary of what was said."
      : { toolCalls: [{ name: "look_up" }] };
  };
  return { model: scriptedModel(reply, { record: false }), sent };
}

async function talk(turns: number, options: Partial<AgentOptions>) {
  const { model, sent } = orderModel();
  const agent = new Agent({ model, tools: [lookUp], separateToolTrace: true, keepMessages: 0, ...options });
  const session = new InMemorySession();
  for (let turn = 0; turn < turns; turn++) await agent.run(`Turn ${turn}: where is my order?`, { session });
  return { sent, session, agent };
}

const turns = fullOrFifth(2000);

test(`${turns} turns with tools stay within a window of 16,000 tokens, and the session keeps every message`, async () => {
  const { sent, session } = await talk(turns, { compaction: compactor({ threshold: window }) });
  expect(Math.max(...sent)).toBeLessThanOrEqual(window);
  expect(await session.getItemCount()).toBe(2 * turns);
});

test.for([2, 5, 20, 60])("a threshold of %i tokens still sends the question to the model", async (threshold) => {
  const model = scriptedModel(["Fine."]);
  const agent = new Agent({ model, compaction: compactor({ threshold }) });
  const history = [user("Hello. ".repeat(100)), assistant("Hello yourself. ".repeat(100))];
  await agent.run([...history, user(`Where is my order? ${"I have waited so long. ".repeat(50)}`)]);
  expect(String(model.requests[0]?.messages.at(-1)?.content)).toMatch(/^Where/);
});

test("older turns are summarised by the agent's own model, and the session keeps them", async () => {
  const compaction = compactor({ threshold: 3000, strategy: summarizeOlder() });
  const { session, agent } = await talk(60, { compaction });
  const reports: unknown[] = [];
  const hooks = { onCompactionEnd: ({ report }: { report: unknown }) => reports.push(report) };
  for (let turn = 0; turn < 30; turn++) await agent.run("And now?", { session, hooks });
  expect(reports.length).toBeGreaterThan(0);
  expect(reports[0]).toMatchObject({ strategy: "summarizeOlder", tokensAfter: expect.any(Number) });
  expect((await session.getAllItems())[0]?.content).toBe("Turn 0: where is my order?");
});

test("a long tool loop is compacted during its run, and every request stays valid", async () => {
  const sent: number[] = [];
  const model = scriptedModel(
    ({ messages, index }) => {
      sent.push(counter.countMessages(messages));
      return index < 200 ? { toolCalls: [{ name: "look_up" }] } : "Done.";
    },
    { record: false },
  );
  const agent = new Agent({
    model,
    tools: [lookUp],
    separateToolTrace: true,
    maxSteps: 300,
    compaction: compactor({ threshold: 8000 }),
  });
  const result = await agent.run("Look everything up.");
  expect(result.output).toBe("Done.");
  expect(Math.max(...sent)).toBeLessThanOrEqual(8000);
  expect(result.steps).toHaveLength(201);
});

test("a memory chooses what is sent to the model, and receives the answer", async () => {
  const memory = new SlidingWindowMemory();
  const model = scriptedModel(["One.", "Two.", "Three."]);
  const agent = new Agent({ model, memory, memoryTokens: 30 });
  const session = new InMemorySession();
  for (const text of ["First question?", "Second question?", "Third question?"]) await agent.run(text, { session });
  expect(model.requests[2]?.messages.at(-1)?.content).toBe("Third question?");
  expect(model.requests[2]?.messages.some((message) => message.content === "First question?")).toBe(false);
  expect((await memory.getAllMessages()).map((message) => message.content)).toEqual([
    "First question?",
    "One.",
    "Second question?",
    "Two.",
    "Third question?",
    "Three.",
  ]);
});

test("an abort does not wait for a memory", async () => {
  class Stuck extends ConversationMemory {
    override getMessages = () => new Promise<never>(() => undefined);
  }
  const agent = new Agent({ model: scriptedModel(["Never."]), memory: new Stuck() });
  await expect(agent.run("Hello", { signal: AbortSignal.timeout(20) })).rejects.toThrow("timeout");
});

test("a state continues from its last compaction, also after a round trip through JSON", async () => {
  const compaction = compactor({ threshold: 1000 });
  const model = scriptedModel(() => "A fairly long answer to think about. ".repeat(10), { record: true });
  const agent = new Agent({ model, compaction });
  const { AgentState } = await import("../../src/index.ts");
  let state = AgentState.empty();
  for (let turn = 0; turn < 40; turn++) {
    const next = await agent.execute(state.withUserMessage(`Question ${turn}?`));
    state = AgentState.fromJSON(JSON.parse(JSON.stringify(next)));
  }
  expect(state.messages).toHaveLength(80);
  expect(Math.max(...model.requests.map(({ messages }) => counter.countMessages(messages)))).toBeLessThanOrEqual(1000);
});

test("a summary is not used for another session with the same id, nor after its session was cleared", async () => {
  const secret = "the vault opens with 4711";
  const compaction = compactor({ threshold: 600, strategy: summarizeOlder({ summarize: () => secret }) });
  const model = scriptedModel(() => "An answer that takes up some room in the window. ".repeat(4));
  const agent = new Agent({ model, compaction });
  const mine = new InMemorySession("shared-id");
  for (let turn = 0; turn < 30; turn++) await agent.run(`Question ${turn}?`, { session: mine });
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain(secret);
  await agent.run("Hello?", { session: new InMemorySession("shared-id") });
  expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain(secret);
  await mine.clearSession();
  await agent.run("Hello again?", { session: mine });
  expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toContain(secret);
});
