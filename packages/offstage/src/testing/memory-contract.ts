// The contract of memories, as cases. Runs on any object with the methods of `AgentMemory`.
import assert from "node:assert/strict";
import { checkOptions, checkRequired, objectWith, someFunction } from "../base/options.ts";
import { isOffstageError } from "../errors.ts";
import type { AgentMemory } from "../memory/agent-memory.ts";
import { assistant, system, toolCall, toolResult, user } from "../messages/makers.ts";
import { type Message, textOf, toolCallsOf } from "../messages/message.ts";
import { type TokenCounter, tokenCounter } from "../tokens/token-counter.ts";
import type { ContractCase } from "./contract-case.ts";

export interface MemoryContractOptions {
  /** The counter that the memory uses. Default: the estimate, which is also the default of every memory. */
  readonly tokenCounter?: TokenCounter | undefined;
}

/** The cases for one memory. `open` returns a new, empty memory that keeps at least 20 turns. */
export function memoryContract(
  open: () => AgentMemory | Promise<AgentMemory>,
  options: MemoryContractOptions = {},
): ContractCase[] {
  checkRequired("open", open, someFunction);
  checkOptions(
    options,
    { tokenCounter: objectWith("a complete counter, such as tokenCounter()", "countMessages") },
    "memoryContract()",
  );
  const { tokenCounter: counter = tokenCounter() } = options;
  const on = (name: string, claim: (memory: AgentMemory) => Promise<void>): ContractCase => {
    return { name, run: async () => claim(await open()) };
  };
  return [...holding(on), ...showing(on, counter), ...limiting(on, counter)];
}

type On = (name: string, claim: (memory: AgentMemory) => Promise<void>) => ContractCase;

function holding(on: On): ContractCase[] {
  return [
    on("a new memory is empty", async (memory) => {
      assert.equal(await memory.count, 0);
      assert.deepEqual(await memory.getAllMessages(), []);
      assert.deepEqual(await memory.getMessages("anything", 100), []);
      assert.equal(await memory.getContext("anything", 100), "");
    }),
    on("messages come back in the order in which they were added, one by one or several at once", async (memory) => {
      const [first, ...others] = talk(3);
      await memory.add(first as Message);
      await memory.add(others);
      assert.deepEqual(await memory.getAllMessages(), talk(3));
      assert.equal(await memory.count, talk(3).length);
    }),
    on("adding nothing changes nothing", async (memory) => {
      await memory.add([]);
      assert.equal(await memory.count, 0);
    }),
    on("a list with one bad message is refused as a whole", async (memory) => {
      const adding = async () => memory.add([user("good"), { role: "nobody" } as unknown as Message]);
      await assert.rejects(adding, (error) => isOffstageError(error, "invalid-message"));
      assert.equal(await memory.count, 0);
    }),
    on("changing a returned list does not change the memory", async (memory) => {
      await memory.add(talk(2));
      (await memory.getAllMessages()).length = 0;
      (await memory.getMessages("x")).length = 0;
      assert.deepEqual(await memory.getAllMessages(), talk(2));
    }),
    on("clear removes everything, and the memory can be used again", async (memory) => {
      await memory.add(talk(12));
      await memory.getMessages("question 3", 200);
      await memory.clear();
      assert.equal(await memory.count, 0);
      assert.equal(await memory.getContext("question 3", 1_000), "");
      await memory.add(user("again"));
      assert.deepEqual(await memory.getMessages("", 100), [user("again")]);
    }),
    on("messages that are added concurrently keep their order", async (memory) => {
      const list = Array.from({ length: 20 }, (_, n) => user(`message ${n}`));
      await Promise.all(list.map((message) => memory.add(message)));
      assert.deepEqual(await memory.getAllMessages(), list);
    }),
  ];
}

function showing(on: On, counter: TokenCounter): ContractCase[] {
  return [
    on("messages that fit are all shown", async (memory) => {
      await memory.add(talk(4));
      assert.deepEqual(await memory.getMessages("x", counter.countMessages(talk(4))), talk(4));
      assert.deepEqual(await memory.getMessages("x"), talk(4));
    }),
    on("the context as text has the same content", async (memory) => {
      await memory.add(talk(2));
      const text = await memory.getContext("x", 1_000);
      for (const message of talk(2)) assert.ok(text.includes(textOf(message)));
    }),
    on("system messages at the front stay at the front", async (memory) => {
      await memory.add([system("be brief"), ...talk(15)]);
      const [first] = await memory.getMessages("x", 300);
      assert.deepEqual(first, system("be brief"));
    }),
    on("the same calls give the same results", async (memory) => {
      await memory.add(talk(15));
      const first = await memory.getMessages("question 4", 400);
      assert.deepEqual(await memory.getMessages("question 4", 400), first);
      assert.equal(await memory.getContext("question 4", 400), await memory.getContext("question 4", 400));
    }),
    on("concurrent calls give the same results as sequential calls", async (memory) => {
      await memory.add(talk(15));
      const [first, second] = await Promise.all([memory.getMessages("x", 400), memory.getMessages("x", 400)]);
      assert.deepEqual(first, second);
    }),
  ];
}

function limiting(on: On, counter: TokenCounter): ContractCase[] {
  const limits = [0, 1, 5, 12, 20, 50, 100, 200, 400, 800];
  return [
    on("no limit is exceeded, as messages or as text", async (memory) => {
      await memory.add(talk(15));
      for (const limit of limits) {
        const tokens = counter.countMessages(await memory.getMessages("question 2", limit));
        assert.ok(tokens <= limit, `${tokens} tokens for a limit of ${limit}`);
        assert.ok(counter.count(await memory.getContext("question 2", limit)) <= limit, `text for a limit of ${limit}`);
      }
    }),
    on("a limit that is not a whole number of at least 0 is refused with invalid-argument", async (memory) => {
      for (const limit of [-1, 1.5, Number.NaN, "2", null]) {
        await assert.rejects(async () => memory.getMessages("x", limit as number), { code: "invalid-argument" });
        await assert.rejects(async () => memory.getContext("x", limit as number), { code: "invalid-argument" });
      }
    }),
    on("the newest turn is never lost", async (memory) => {
      const list = talk(15);
      await memory.add(list);
      for (const limit of [100, 200, 400, 800]) {
        const shown = await memory.getMessages("question 2", limit);
        assert.deepEqual(shown.slice(-4), list.slice(-4));
      }
    }),
    on("a newest message that does not fit is clipped and marked", async (memory) => {
      await memory.add([...talk(3), user("word ".repeat(2_000))]);
      const shown = await memory.getMessages("x", 60);
      assert.equal(shown.at(-1)?.role, "user");
      assert.match(textOf(shown.at(-1) as Message), /word[\s\S]*\[clipped, \d+ characters\]$/);
      assert.equal(shown.at(-1)?.metadata?.isClipped, true);
    }),
    on("a call and its result are shown together or not at all", async (memory) => {
      await memory.add(talk(15));
      for (const limit of limits) assertPaired(await memory.getMessages("question 2", limit));
    }),
    on("every shown message was added, in this order, or is marked as a summary", async (memory) => {
      const list = talk(15);
      await memory.add(list);
      for (const limit of [100, 200, 400, 800]) {
        const shown = (await memory.getMessages("question 2", limit)).filter(({ metadata }) => !metadata?.isSummary);
        const places = shown.map(({ metadata }) => list.findIndex((each) => each.metadata?.id === metadata?.id));
        assert.deepEqual(
          places,
          places.toSorted((a, b) => a - b),
        );
        assert.ok(!places.includes(-1));
      }
    }),
  ];
}

/** A conversation with this many turns, each with one tool call. Every message has an id. */
function talk(turns: number): Message[] {
  const of = (n: number, place: number) => ({ metadata: { id: `m${n}.${place}` } });
  return Array.from({ length: turns }, (_, n) => [
    user(`question ${n} about topic ${n % 5}`, of(n, 1)),
    assistant(null, { toolCalls: [toolCall(`c${n}`, "search", { n })], ...of(n, 2) }),
    toolResult(`c${n}`, `found ${n} things`, { name: "search", ...of(n, 3) }),
    assistant(`answer ${n}`, of(n, 4)),
  ]).flat();
}

function assertPaired(messages: readonly Message[]): void {
  const calls = messages.flatMap(toolCallsOf).map(({ id }) => id);
  const results = messages.flatMap((message) => (message.role === "tool" ? [message.tool_call_id] : []));
  assert.deepEqual(results, calls);
}
