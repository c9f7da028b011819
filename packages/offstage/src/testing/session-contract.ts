// The contract of a session, as cases. Runs on any object with the methods of `Session`.
import assert from "node:assert/strict";
import { isOffstageError } from "../errors.ts";
import type { Message } from "../messages/message.ts";
import type { Session } from "../sessions/ports/session.ts";
import { type Claim, type ContractCase, caseOn } from "./contract-case.ts";

const said = (content: string): Message => ({ role: "user", content });
const texts = (messages: readonly Message[]): unknown[] => messages.map(({ content }) => content);

/** Texts that some stores change or lose. */
const difficultTexts: Readonly<Record<string, string>> = {
  "the empty text": "",
  NUL: "a\0b\0",
  "a lone surrogate": "high \ud800 low \udc00 end",
  emoji: "👩‍👩‍👧‍👦 🇩🇪 é",
  "control characters": "\u0001\u001f\u007f\u0085\u2028\u2029\ufeff\uffff",
  "JSON and SQL": `{"a":"\\u0000"}'; DROP TABLE offstage; --\\`,
  "a megabyte": "0123456789abcdef".repeat(65_536),
};

/** The cases of every session. `open` returns a new, empty session. */
export function sessionContract(open: () => Session | Promise<Session>): ContractCase[] {
  const on = (name: string, claim: Claim<Session>["claim"]): ContractCase => caseOn(open, { name, claim });
  return [
    on("a new session is empty", async (session) => {
      assert.deepEqual(await session.getAllItems(), []);
      assert.equal(await session.getItemCount(), 0);
      assert.equal(await session.isEmpty(), true);
      assert.equal(await session.popItem(), undefined);
    }),
    on("items are returned in the order in which they were added", async (session) => {
      await session.addItem(said("1"));
      await session.addItems([said("2"), { role: "assistant", content: "3" }]);
      assert.deepEqual(texts(await session.getAllItems()), ["1", "2", "3"]);
      assert.equal(await session.getItemCount(), 3);
      assert.equal(await session.isEmpty(), false);
    }),
    on("a limit returns the latest items, oldest first", async (session) => {
      await session.addItems(["1", "2", "3"].map(said));
      assert.deepEqual(texts(await session.getItems(2)), ["2", "3"]);
      assert.deepEqual(texts(await session.getItems(9)), ["1", "2", "3"]);
      assert.deepEqual(await session.getItems(0), []);
      assert.deepEqual(texts(await session.getItems(undefined)), ["1", "2", "3"]);
    }),
    on("any other limit is refused with invalid-argument", async (session) => {
      for (const limit of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "2", null]) {
        await assert.rejects(async () => session.getItems(limit as number), { code: "invalid-argument" });
      }
    }),
    on("every field of a message is preserved", async (session) => {
      await session.addItems(everyKind);
      assert.deepEqual(await session.getAllItems(), everyKind);
    }),
    on("items are returned as fresh copies", async (session) => {
      const mine = { role: "user", content: "mine", metadata: { tags: ["a"] } } as const;
      await session.addItem(mine);
      const [first] = await session.getAllItems();
      (first as { content: string }).content = "changed";
      (mine.metadata.tags as unknown as string[]).push("b");
      assert.deepEqual(await session.getAllItems(), [{ role: "user", content: "mine", metadata: { tags: ["a"] } }]);
    }),
    on("popItem removes the newest", async (session) => {
      await session.addItems(["1", "2", "3"].map(said));
      assert.deepEqual(await session.popItem(), said("3"));
      assert.deepEqual(texts(await session.getAllItems()), ["1", "2"]);
      await session.addItem(said("4"));
      assert.deepEqual(texts(await session.getAllItems()), ["1", "2", "4"]);
      assert.equal(await session.getItemCount(), 3);
    }),
    on("clearSession removes all items, and the session can be used again", async (session) => {
      await session.addItems(["1", "2"].map(said));
      await session.clearSession();
      assert.deepEqual(await session.getAllItems(), []);
      assert.equal(await session.getItemCount(), 0);
      await session.addItem(said("3"));
      assert.deepEqual(texts(await session.getAllItems()), ["3"]);
    }),
    on("a list with one invalid item is refused as a whole", async (session) => {
      const bad: unknown[] = [{ role: "nobody", content: "x" }, { content: "x" }, null, "text", { role: "user" }];
      for (const item of bad) {
        const adding = session.addItems([said("good"), item as Message]);
        await assert.rejects(adding, (error) => isOffstageError(error, "invalid-message"));
      }
      assert.equal(await session.getItemCount(), 0);
    }),
    on("a value that is not JSON is refused", async (session) => {
      const circular: Record<string, unknown> = {};
      circular.self = circular;
      for (const value of [1n, () => {}, new Date(0), new Map(), Number.NaN, Symbol("s"), circular]) {
        const adding = session.addItem({ role: "user", content: "x", metadata: { value } });
        await assert.rejects(adding, (error) => isOffstageError(error, "invalid-message"));
      }
      assert.equal(await session.getItemCount(), 0);
    }),
    on("items added concurrently keep their order", async (session) => {
      const numbers = Array.from({ length: 100 }, (_, n) => String(n));
      await Promise.all(numbers.map((n) => session.addItem(said(n))));
      assert.deepEqual(texts(await session.getAllItems()), numbers);
    }),
    on("items popped concurrently are each popped once", async (session) => {
      const numbers = Array.from({ length: 20 }, (_, n) => String(n));
      await session.addItems(numbers.map(said));
      const popped = await Promise.all(numbers.map(() => session.popItem()));
      assert.deepEqual(popped.map((message) => message?.content).sort(), [...numbers].sort());
      assert.equal(await session.isEmpty(), true);
    }),
    on("a thousand messages are stored", async (session) => {
      await session.addItems(Array.from({ length: 1_000 }, (_, n) => said(`message ${n}`)));
      assert.equal(await session.getItemCount(), 1_000);
      assert.deepEqual(texts(await session.getItems(2)), ["message 998", "message 999"]);
      assert.equal((await session.getAllItems()).length, 1_000);
    }),
    ...Object.entries(difficultTexts).map(([name, text]) =>
      on(`${name} round-trips`, async (session) => {
        const message: Message = {
          role: "user",
          content: text,
          metadata: { text, list: [text], [text.slice(0, 9)]: 1 },
        };
        await session.addItem(message);
        assert.deepEqual(await session.getAllItems(), [message]);
      }),
    ),
    on("a field called __proto__ is preserved", async (session) => {
      const metadata = JSON.parse('{"__proto__":{"admin":true},"constructor":1}') as Record<string, unknown>;
      await session.addItem({ role: "user", content: "x", metadata });
      const [message] = await session.getAllItems();
      assert.equal(JSON.stringify(message?.metadata), JSON.stringify(metadata));
      assert.equal(({} as Record<string, unknown>).admin, undefined);
    }),
    on("close() is idempotent", async (session) => {
      await session.close();
      await session.close();
    }),
  ];
}

const everyKind: Message[] = [
  { role: "system", content: "be brief", name: "setup" },
  {
    role: "user",
    content: [
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: "data:," } },
    ],
  },
  {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } }],
  },
  { role: "tool", tool_call_id: "c1", name: "f", content: "done", metadata: { isError: false, step: 1 } },
  { role: "assistant", content: "yes", metadata: { id: "m", nested: { deep: [1, [2.5, null, true]] } } },
];
