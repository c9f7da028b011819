// D2: the record of model input is exactly what the model received, for any tools, memory, compaction, repair, driver and resume.
import fc from "fast-check";
import { expect, test } from "vitest";
import { z } from "zod";
import {
  Agent,
  type AgentOptions,
  type Message,
  memoryStore,
  type RunResult,
  reactDriver,
  type Store,
  sqliteStore,
  tool,
} from "../../src/index.ts";
import { compactor } from "../../src/memory/compaction/compactor.ts";
import * as strategy from "../../src/memory/compaction/strategies/index.ts";
import * as memory from "../../src/memory/kinds/index.ts";
import { memoryDriver } from "../../src/sessions/drivers/memory/memory.ts";
import type { ListedRun } from "../../src/sessions/records/run-list.ts";
import { createStore } from "../../src/sessions/store.ts";
import {
  type ScriptedModel,
  type ScriptedReply,
  type ScriptedRequest,
  scriptedModel,
} from "../../src/testing/index.ts";
import { fullOrFifth } from "../support/full-or-fifth.ts";
import { rowsIn } from "../support/stored-rows.ts";

const summarize = () => "Earlier: this and that.";

const memories = {
  none: () => undefined,
  conversation: () => new memory.ConversationMemory(),
  window: () => new memory.SlidingWindowMemory({ turns: 2 }),
  summary: () => new memory.SummaryMemory({ summarize }),
  vector: () => new memory.VectorMemory(),
  hybrid: () => new memory.HybridMemory({ summarize }),
  persistent: (store: Store) => memory.PersistentMemory.on(store, "m", new memory.ConversationMemory()),
  text: () => ({ add: async () => {}, getContext: async () => "The user likes tea.", getAllMessages: async () => [] }),
} as const;

const strategies = {
  none: () => undefined,
  window: () => strategy.slidingWindow(),
  prune: () => strategy.pruneToolResults(),
  summary: () => strategy.summarizeOlder({ summarize }),
  importance: () => strategy.importance(),
  hybrid: () => strategy.hybrid({ summarize }),
} as const;

const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"iVBO".repeat(400)}` } };
const link = { type: "image_url", image_url: { url: "https://example.com/a.png" } };
const questions: readonly Message[] = [
  { role: "user", content: "Hello there." },
  { role: "user", content: "Look at this, ünï 🎭: \u0000" },
  { role: "user", content: [{ type: "text", text: "What is it?" }, image] } as unknown as Message,
  { role: "user", content: [image, link, { type: "text", text: "And these?" }] } as unknown as Message,
];

const someCall = fc.record(
  {
    name: fc.constantFrom("look", "look", "fails", "long", "helper", "pay", "nobody", "bad name!"),
    arguments: fc.constantFrom('{"prompt":"go"}', '{"prompt":"go"}', "{}", "{", "", "null"),
    id: fc.constantFrom("", "a", "b"),
  },
  { requiredKeys: ["name", "arguments"] },
);
const words = fc.constantFrom("", " ", "Let me see.", "Thought: x", "Action: look\nAction Input: {}", '{"n":"wrong"}');
const reply: fc.Arbitrary<ScriptedReply> = fc.record(
  { text: words, reasoning: words, toolCalls: fc.array(someCall, { minLength: 1, maxLength: 3 }) },
  { requiredKeys: ["text"] },
);
const turn = fc.record({
  question: fc.nat(questions.length - 1),
  replies: fc.array(reply, { maxLength: 3 }),
  ending: fc.constantFrom("answer", "answer", "answer", "failure"),
});
const plays = fc.record({
  turns: fc.array(turn, { minLength: 1, maxLength: 4 }),
  memory: fc.oneof(
    fc.constant("none" as const),
    fc.constantFrom(...(Object.keys(memories) as (keyof typeof memories)[])),
  ),
  strategy: fc.oneof(
    fc.constant("none" as const),
    fc.constantFrom(...(Object.keys(strategies) as (keyof typeof strategies)[])),
  ),
  threshold: fc.constantFrom(60, 150, 400),
  toolHistory: fc.constantFrom("none", "digest", "full"),
  separateToolTrace: fc.boolean(),
  isReact: fc.boolean(),
  isStructured: fc.boolean(),
  isStreaming: fc.boolean(),
  persist: fc.constantFrom("conversation", "conversation", "everything"),
  isNewStore: fc.boolean(),
});

type Play = typeof plays extends fc.Arbitrary<infer T> ? T : never;

const tools = [
  tool({ name: "look", execute: () => ({ found: ["a", 1] }) }),
  tool({ name: "fails", execute: () => Promise.reject(new Error("the pipe burst")) }),
  tool({ name: "long", execute: () => "word ".repeat(3_000) }),
  tool({ name: "pay", needsApproval: true, execute: () => "paid" }),
];

/** A play under way: its agent, and the requests that each model has received. */
class Stage {
  readonly helper: ScriptedModel = scriptedModel((request) =>
    request.messages.at(-1)?.role === "tool" ? "helped" : { text: "I look.", toolCalls: [{ name: "look" }] },
  );
  readonly model: ScriptedModel;
  readonly agent: Agent<unknown>;
  replies: (ScriptedReply | Error)[] = [];

  constructor(play: Play, given: Pick<AgentOptions, "memory">) {
    const last = play.isReact ? "Final Answer: done" : play.isStructured ? '{"n":1}' : "Done.";
    this.model = scriptedModel(() => this.replies.shift() ?? last, { modelId: "big", provider: "here" });
    const helper = new Agent({ name: "helper", instructions: "Help.", model: this.helper, tools: tools.slice(0, 1) });
    const chosen = strategies[play.strategy]();
    const output: AgentOptions<unknown> = play.isStructured
      ? { model: this.model, output: z.object({ n: z.number() }) }
      : { model: this.model };
    this.agent = new Agent<unknown>({
      ...output,
      ...given,
      name: "desk",
      instructions: "Be brief.",
      tools: [...tools, helper.asTool()],
      modelSettings: { temperature: 0.5, headers: { authorization: "secret" } },
      separateToolTrace: play.separateToolTrace,
      toolHistory: play.toolHistory as "none",
      retry: { maxRetries: 0 },
      maxSteps: 6,
      outputRetries: 1,
      ...(play.isReact && { driver: reactDriver() }),
      ...(chosen && { compaction: compactor({ threshold: play.threshold, strategy: chosen }) }),
    });
  }
}

/** What a model received, in the form of the record. */
function received({ messages, options }: ScriptedRequest, { modelId, provider }: ScriptedModel): unknown {
  const { prompt: _, abortSignal: __, headers: ___, tools: given = [], ...settings } = options;
  return plain({ messages, tools: given, settings, modelId, provider });
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** Compares the record of a run with these requests, and returns how many inputs it has. */
async function compare(store: Store, { runId }: Ran, requests: readonly ScriptedRequest[], model: ScriptedModel) {
  for (const [index, request] of requests.entries()) {
    const input = await store.runs.input(runId, index + 1);
    expect(plain({ ...input }), `step ${index + 1}`).toEqual(received(request, model));
  }
  expect(await store.runs.input(runId, requests.length + 1)).toBeUndefined();
  return requests.length;
}

/** A run that has ended. */
interface Ran {
  readonly runId: string;
}

async function run(stage: Stage, play: Play, { question, store }: { question: Message; store: Store }): Promise<Ran> {
  const { agent } = stage;
  const options = { session: store.session("s"), persist: play.persist as "conversation" };
  const ran = play.isStreaming ? agent.stream(question, options).result : agent.run(question, options);
  const runId = await ran.then(idOf, (error) => idOf(error.result));
  for (;;) {
    const found = await store.runs.get(runId);
    if (found?.status !== "waiting") return { runId };
    await agent.resume(runId, { ...options, store, approve: [...found.approvals] }).catch(() => undefined);
  }
}

const idOf = ({ runId }: RunResult<unknown>): string => runId;

async function perform(play: Play, open: () => Store): Promise<number> {
  let store = open();
  const stage = new Stage(play, { memory: (await memories[play.memory](store)) as AgentOptions["memory"] });
  let count = 0;
  for (const { question, replies, ending } of play.turns) {
    stage.replies = [...replies, ...(ending === "failure" ? [new Error("The provider is down.")] : [])];
    const before = [stage.model.callCount, stage.helper.callCount] as const;
    const ran = await run(stage, play, { question: questions[question] as Message, store });
    if (play.isNewStore) store = open();
    count += await compare(store, ran, stage.model.requests.slice(before[0]), stage.model);
    count += await compareHelpers(store, ran.runId, stage.helper.requests.slice(before[1]), stage.helper);
  }
  expect(await store.verify()).toEqual([]);
  await store.close();
  return count;
}

// Helpers may run at the same time, so that their requests are mixed.
async function compareHelpers(
  store: Store,
  parentRunId: string,
  requests: readonly ScriptedRequest[],
  model: ScriptedModel,
) {
  const runs: ListedRun[] = (await store.runs.list({ subagents: true })).filter(
    (each) => each.parentRunId === parentRunId,
  );
  const inputs = await Promise.all(
    runs.flatMap(({ runId }) => [1, 2].map(async (step) => plain({ ...(await store.runs.input(runId, step)) }))),
  );
  const sorted = (list: readonly unknown[]) => list.map((each) => JSON.stringify(each)).sort();
  expect(sorted(inputs)).toEqual(sorted(requests.map((request) => received(request, model))));
  return inputs.length;
}

const stores: Record<string, () => () => Store> = {
  memory: () => {
    const driver = memoryDriver();
    return () => createStore(driver);
  },
  SQLite: () => {
    const store = sqliteStore({ path: ":memory:" });
    return () => store;
  },
};

for (const [name, opener] of Object.entries(stores))
  test(`the record of every model call is what the model received, on ${name}`, async () => {
    let count = 0;
    const property = fc.asyncProperty(plays, async (play) => {
      count += await perform(play, opener());
    });
    await fc.assert(property, { numRuns: fullOrFifth(150) });
    expect(count).toBeGreaterThan(fullOrFifth(100));
  }, 60_000);

test("1,000 ordinary steps add under 100 bytes each to the record of model input", async () => {
  const driver = memoryDriver();
  const store = createStore(driver);
  const session = store.session("s");
  const model = scriptedModel((request) => (request.index % 501 === 500 ? "Done." : { toolCalls: [{ name: "look" }] }));
  const agent = new Agent({ model, tools: tools.slice(0, 1), instructions: "Be brief. ".repeat(50), maxSteps: 600 });
  for (const question of ["one", "two"]) await agent.run(question, { session });
  const rows = await rowsIn(driver);
  const refs = rows.flatMap(({ table, row }) => (table === "steps" ? [String(row.input_ref)] : []));
  const contents = rows.flatMap(({ table, row }) => (table === "contents" ? [String(row.content)] : []));
  expect(refs).toHaveLength(1_002);
  const bytes = Buffer.byteLength(refs.join("")) + Buffer.byteLength(contents.join(""));
  expect(bytes / refs.length).toBeLessThan(100);
  const { runId } = (await store.runs.list())[0] as ListedRun;
  expect((await store.runs.input(runId, 501))?.messages).toEqual(model.requests.at(-1)?.messages);
}, 60_000);

test("the input of a model call that failed is recorded, and instructions with it", async () => {
  const store = memoryStore();
  const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, new Error("down")]);
  const agent = new Agent({ model, tools: tools.slice(0, 1), instructions: "Be brief.", retry: { maxRetries: 0 } });
  await expect(agent.run("hi", { session: store.session("s") })).rejects.toThrow("down");
  const [failed] = await store.runs.list({ status: "failed" });
  const input = await store.runs.input(failed?.runId ?? "", 2);
  expect(input?.messages).toEqual(model.requests[1]?.messages);
  expect(input?.messages[0]).toEqual({ role: "system", content: "Be brief." });
  expect(failed?.stepCount).toBe(1);
});
