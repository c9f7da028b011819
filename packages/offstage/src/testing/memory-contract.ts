// What every kind of memory promises, as cases. Runs on any object with the methods of `AgentMemory`.
import assert from "node:assert/strict";
import { isOffstageError } from "../errors.ts";
import type { AgentMemory } from "../memory/agent-memory.ts";
import { assistant, system, toolCall, toolResult, user } from "../messages/makers.ts";
import { type Message, textOf, toolCallsOf } from "../messages/message.ts";
import { type TokenCounter, tokenCounter } from "../tokens/token-counter.ts";
import type { ContractCase } from "./contract-case.ts";

export interface MemoryContractOptions {
  /** The counter the memory counts with. Default: the calibrated estimate, as every memory's default is. */
  readonly tokenCounter?: TokenCounter;
}

/** Cases that hold for every memory. `open` gives a new, empty one that holds 20 turns or more. */
export function memoryContract(
  open: () => AgentMemory | Promise<AgentMemory>,
  options: MemoryContractOptions = {},
): ContractCase[] {
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
    on("messages come back in the order they were added, one by one or several at once", async (memory) => {
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
    on("a list with one bad message is refused whole", async (memory) => {
      const adding = async () => memory.add([user("good"), { role: "nobody" } as unknown as Message]);
      await assert.rejects(adding, (error) => isOffstageError(error, "invalid-message"));
      assert.equal(await memory.count, 0);
    }),
    on("what a caller does with the list it got stays with the caller", async (memory) => {
      await memory.add(talk(2));
      (await memory.getAllMessages()).length = 0;
      (await memory.getMessages("x")).length = 0;
      assert.deepEqual(await memory.getAllMessages(), talk(2));
    }),
    on("clear forgets everything, and it can be used again", async (memory) => {
      await memory.add(talk(12));
      await memory.getMessages("question 3", 200);
      await memory.clear();
      assert.equal(await memory.count, 0);
      assert.equal(await memory.getContext("question 3", 1_000), "");
      await memory.add(user("again"));
      assert.deepEqual(await memory.getMessages("", 100), [user("again")]);
    }),
    on("messages added without waiting keep their order", async (memory) => {
      const list = Array.from({ length: 20 }, (_, n) => user(`message ${n}`));
      await Promise.all(list.map((message) => memory.add(message)));
      assert.deepEqual(await memory.getAllMessages(), list);
    }),
  ];
}

function showing(on: On, counter: TokenCounter): ContractCase[] {
  return [
    on("what fits is shown whole", async (memory) => {
      await memory.add(talk(4));
      assert.deepEqual(await memory.getMessages("x", counter.countMessages(talk(4))), talk(4));
      assert.deepEqual(await memory.getMessages("x"), talk(4));
    }),
    on("context is the same as text", async (memory) => {
      await memory.add(talk(2));
      const text = await memory.getContext("x", 1_000);
      for (const message of talk(2)) assert.ok(text.includes(textOf(message)));
    }),
    on("system messages in front stay in front", async (memory) => {
      await memory.add([system("be brief"), ...talk(15)]);
      const [first] = await memory.getMessages("x", 300);
      assert.deepEqual(first, system("be brief"));
    }),
    on("the same calls give the same answers", async (memory) => {
      await memory.add(talk(15));
      const first = await memory.getMessages("question 4", 400);
      assert.deepEqual(await memory.getMessages("question 4", 400), first);
      assert.equal(await memory.getContext("question 4", 400), await memory.getContext("question 4", 400));
    }),
    on("calls that overlap give what one after another would", async (memory) => {
      await memory.add(talk(15));
      const [first, second] = await Promise.all([memory.getMessages("x", 400), memory.getMessages("x", 400)]);
      assert.deepEqual(first, second);
    }),
  ];
}

function limiting(on: On, counter: TokenCounter): ContractCase[] {
  const limits = [0, 1, 5, 12, 20, 50, 100, 200, 400, 800];
  return [
    on("no limit is passed, as messages or as text", async (memory) => {
      await memory.add(talk(15));
      for (const limit of limits) {
        const tokens = counter.countMessages(await memory.getMessages("question 2", limit));
        assert.ok(tokens <= limit, `${tokens} tokens for a limit of ${limit}`);
        assert.ok(counter.count(await memory.getContext("question 2", limit)) <= limit, `text for a limit of ${limit}`);
      }
    }),
    on("any other limit is refused with invalid-argument", async (memory) => {
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
    on("a newest message that does not fit is clipped, and says so", async (memory) => {
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
    on("what is shown is what was added, in order, or marked as a summary", async (memory) => {
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

/** A conversation of so many turns, each with one tool call; every message has an id. */
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
