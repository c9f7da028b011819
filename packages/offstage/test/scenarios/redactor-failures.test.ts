// A redactor that fails: nothing is written unredacted, and the failure is reported.
import { describe, expect, test } from "vitest";
import { type Message, memoryStore } from "../../src/index.ts";
import { calls } from "../support/cast.ts";
import { canary, removing, saying } from "../support/redaction-cast.ts";

test.each<[string, unknown, string]>([
  ["throws", thrower, "The redactor of the store threw: no more. Nothing was written."],
  [
    "returns nothing",
    () => undefined,
    'must return a message of the role "user" synchronously; it returned undefined.',
  ],
  ["returns text", () => "x", 'it returned "x".'],
  ["returns a promise", async (message: Message) => message, "it returned a promise."],
  ["returns another role", () => ({ role: "system", content: "x" }), 'it returned one of the role "system".'],
  ["returns another role when serialised", () => ({ role: "user", content: "x", toJSON: evil }), 'the role "system"'],
  ["returns no content", () => ({ role: "user", content: null }), "must return a message that can be stored"],
  ["returns a number as content", () => ({ role: "user", content: 5 }), "must return a message that can be stored"],
  [
    "returns a value that JSON cannot represent",
    () => ({ role: "user", content: "x", metadata: { n: 5n } }),
    "can be stored",
  ],
])("a redactor that %s fails the run, and nothing is written", async (_, redact, sentence) => {
  const store = memoryStore({ redact: redact as () => Message });
  const failed = { code: "redactor-failed", message: expect.stringContaining(sentence) };
  await expect(saying(["Hello."]).run("Hi", { session: store.session("s") })).rejects.toMatchObject(failed);
  await expect(store.session("s").addItem({ role: "user", content: "Hi" })).rejects.toMatchObject(failed);
  expect(await store.session("s").getItems()).toEqual([]);
  expect(await store.verify()).toEqual([]);
});

const evil = () => ({ role: "system", content: "x" });

function thrower(): never {
  throw new Error("no more");
}

describe("the content of a span", () => {
  const span = (content: object) =>
    ({
      ...{ traceId: "c31254b8d23539dc560dc23f3a0aaa2d", spanId: "0db89e75a52f86a1", name: "work", kind: "custom" },
      ...{ startTime: 1_794_926_977_000, endTime: 1_794_926_977_001, duration: 1, status: "ok", metadata: { a: 1 } },
      content,
    }) as never;
  const traceId = "c31254b8d23539dc560dc23f3a0aaa2d";

  test("is converted to plain JSON before the redactor sees it", async () => {
    const store = memoryStore({ redact: removing });
    await store.spans.add([span({ big: 5n, said: canary })]);
    expect(await store.spans.list({ traceId })).toMatchObject([
      { name: "work", metadata: { a: 1 }, content: { big: "5", said: "[gone]" } },
    ]);
  });

  test("is left out if the redactor fails, and onError is called", async () => {
    const told: unknown[] = [];
    const redact = () => {
      throw new Error("broken");
    };
    const store = memoryStore({ redact, onError: (error) => told.push(error) });
    await store.spans.add([span({ said: canary })]);
    const [kept] = await store.spans.list({ traceId });
    expect(kept).toMatchObject({ name: "work", metadata: { a: 1 } });
    expect(kept).not.toHaveProperty("content");
    expect(told).toMatchObject([{ code: "redactor-failed" }]);
  });
});

test("a tool name that the model made up is never used as a span name", async () => {
  const store = memoryStore();
  const { traceId = "" } = await saying([calls({ name: `find_${canary}` }), "Done."]).run("Hi", {
    session: store.session("s"),
  });
  const names = (await store.spans.list({ traceId })).map(({ name }) => name);
  expect(names).toContain("unknown_tool");
  expect(names.join()).not.toContain(canary);
});
