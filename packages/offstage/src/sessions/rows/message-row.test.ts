import assert from "node:assert/strict";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../base/json.ts";
import { type Message, parseMessage } from "../../messages/message.ts";
import { checkRow, exactRow, isStorable, storableRow } from "../head/namespace-rows.ts";
import type { Row } from "../ports/store-driver.ts";
import type { MessageRow } from "../ports/tables.ts";
import { formatInput, hashOf, type MessagePlace, parseInput, readMessage, storeMessage } from "./message-row.ts";
import { plainCopy } from "./plain-json.ts";

const place: MessagePlace = { namespace: "", sessionId: "s", seq: 1, position: 1, hasher: hashOf };

/** The row as a back end would have it, and the message that is read from it. */
function throughRow(message: Message, at: MessagePlace = place): { stored: Row; read: Message } {
  const { put, contents } = storeMessage(message, at);
  const stored = storableRow(put.row);
  const row = checkRow("messages", exactRow(stored));
  const texts = new Map(contents.map(({ hash, content }) => [hash, content]));
  return { stored, read: readMessage(row, { contents: texts, withProviderParts: true }) };
}

function expectSame(message: unknown, at?: MessagePlace): Row {
  const given = plainCopy(parseMessage(message), "message");
  const { stored, read } = throughRow(given, at);
  // toStrictEqual() stumbles over a field called "constructor".
  assert.deepStrictEqual(JSON.parse(JSON.stringify(read)), JSON.parse(JSON.stringify(given)));
  for (const value of Object.values(stored)) if (typeof value === "string") expect(isStorable(value)).toBe(true);
  return stored;
}

// Text with what back ends cannot store: NUL and lone surrogates.
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.constantFrom("a", "\0", "\ud800", "\udfff", "\ufffd", "🙂", '"', "\\", "\n", "\u2028") }),
  fc.constantFrom("", "x".repeat(3_000), "$content", "__proto__"),
);
const keys = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toString", "$content", "content"));

function record(values: fc.Arbitrary<unknown>): fc.Arbitrary<JsonObject> {
  return fc.array(fc.tuple(keys, values), { maxLength: 4 }).map((entries) => {
    const object = {};
    // An assignment would set the prototype.
    for (const [key, value] of entries)
      Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
    return object as JsonObject;
  });
}

const json: fc.Arbitrary<JsonValue> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    text,
    fc.boolean(),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    record(tie("value")),
  ),
})).value as fc.Arbitrary<JsonValue>;

const metadata = fc.option(
  fc
    .tuple(
      record(json),
      fc.record(
        { id: text, runId: text, agent: text, step: json, createdAt: json, isError: json },
        { requiredKeys: [] },
      ),
    )
    .map(([others, known]) => ({ ...others, ...known })),
  { nil: undefined },
);
const parts = fc.array(
  fc.oneof(
    text.map((value) => ({ type: "text", text: value })),
    fc.record({ type: fc.constantFrom("file", "image_url", "input_audio"), data: json, mediaType: text }),
  ),
  { maxLength: 4 },
);
const call = fc.record({
  id: text,
  type: fc.constant("function"),
  function: fc.record({ name: text, arguments: text }),
});
const further = record(json).map((fields) => {
  const known = new Set(["role", "content", "metadata", "tool_calls", "tool_call_id", "name"]);
  return Object.entries(fields).filter(([key]) => !known.has(key));
});

/** Messages of every role, with fields of any other kind beside their own. */
const messages = fc
  .tuple(
    fc.oneof(
      fc.record({ role: fc.constantFrom("system", "user"), content: fc.oneof(text, parts) }),
      fc.record(
        {
          role: fc.constant("assistant"),
          content: fc.oneof(text, parts, fc.constant(null)),
          tool_calls: fc.oneof(fc.array(call, { maxLength: 3 }), fc.constant(null)),
        },
        { requiredKeys: ["role"] },
      ),
      fc.record(
        { role: fc.constant("tool"), tool_call_id: text, name: text, content: fc.oneof(text, parts) },
        { requiredKeys: ["role", "tool_call_id", "content"] },
      ),
    ),
    metadata,
    further,
    fc.option(text, { nil: undefined }),
  )
  .map(([message, data, fields, name]) => {
    const all: Record<string, unknown> = { ...message };
    if (data !== undefined) all.metadata = data;
    if (name !== undefined && message.role !== "tool") all.name = name;
    for (const [key, value] of fields)
      Object.defineProperty(all, key, { value, enumerable: true, configurable: true, writable: true });
    return all;
  })
  // `parseMessage` decides what a message is.
  .filter((message) => {
    try {
      parseMessage(message);
      return true;
    } catch {
      return false;
    }
  });

describe("any message round-trips through its row", () => {
  test("in the conversation", () => {
    fc.assert(
      fc.property(messages, (message) => void expectSame(message)),
      { numRuns: 2_000 },
    );
  });

  test("among what a run did, with the provider's parts", () => {
    const run = { runId: "r", agent: "a", step: 1 };
    fc.assert(
      fc.property(messages, json, (message, providerParts) => {
        const data = { ...(message.metadata as object), providerParts };
        expectSame({ ...message, metadata: data }, { ...place, position: undefined, run });
      }),
      { numRuns: 1_000 },
    );
  });
});

test.for<[string, unknown]>([
  ["without content", { role: "assistant", tool_calls: [] }],
  ["with null content", { role: "assistant", content: null }],
  ["with empty content", { role: "assistant", content: "" }],
  ["with no parts", { role: "user", content: [] }],
  ["with tool_calls: null", { role: "assistant", content: "x", tool_calls: null }],
  ["with no calls", { role: "assistant", content: "x", tool_calls: [] }],
  ["of a user with a name", { role: "user", content: "x", name: "Anna" }],
  ["of a tool without a name", { role: "tool", content: "x", tool_call_id: "c" }],
  ["with an empty call id", { role: "tool", content: "x", tool_call_id: "", name: "" }],
  ["with empty metadata", { role: "user", content: "x", metadata: {} }],
  ["with a field called content in its metadata", { role: "user", content: "x", metadata: { content: false } }],
  ["with fields of other providers", { role: "assistant", content: "x", refusal: null, audio: { id: "a" } }],
  ["with the text of a reference", { role: "user", content: [{ type: "text", text: '{"$content":"x"}' }] }],
  [
    "with a part that looks like a reference beside a long one",
    {
      role: "user",
      content: [
        { type: "file", data: { $content: "0".repeat(32) } },
        { type: "file", data: "x".repeat(2_000) },
      ],
    },
  ],
])("a message %s round-trips", ([, message]) => {
  expectSame(message);
});

test("a field called __proto__ is a field, wherever it stands", () => {
  const given = JSON.parse(
    '{"role":"user","content":[{"type":"file","__proto__":{"data":"x"}}],"metadata":{"__proto__":{"a":1}},"__proto__":{"b":2}}',
  );
  const { read } = throughRow(given);
  expect(JSON.parse(JSON.stringify(read))).toStrictEqual(JSON.parse(JSON.stringify(given)));
  expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  expect(({} as { a?: unknown }).a).toBeUndefined();
});

test("long values of parts become contents, and texts stay readable in the row", () => {
  const data = "x".repeat(5_000);
  const file = { type: "file", mediaType: "image/png", data };
  const content = [{ type: "text", text: "y".repeat(5_000) }, file, file] as never;
  const { put, contents } = storeMessage({ role: "user", content }, place);
  expect(contents.map((each) => each.content)).toEqual([data, data]);
  expect(new Set(contents.map(({ hash }) => hash)).size).toBe(1);
  expect(String(put.row.parts)).not.toContain("xxxx");
  expect(put.row.content).toBe("y".repeat(5_000));
  expectSame({ role: "user", content });
  const row = put.row as unknown as MessageRow;
  expect(() => readMessage(row)).toThrow(/content "[0-9a-f]{32}" of a part is missing/);
});

test("text that not every back end can store is readable in its column, and exact in another", () => {
  const content = "a\0b\ud800c 🙂";
  const stored = expectSame({ role: "user", content, metadata: { id: "1\0", runId: "r\udfff" } });
  expect(stored).toMatchObject({ content: "a\ufffdb\ufffdc 🙂", message_id: "1\ufffd", run_id: "r\ufffd" });
  expect(JSON.parse(String(stored.exact))).toEqual({ content, message_id: "1\0", run_id: "r\udfff" });
});

test("provider parts of a run's message have a column of their own, and the conversation does without them", () => {
  const message = {
    role: "assistant",
    content: "x",
    metadata: { id: "1", providerParts: [{ signature: "s" }] },
  } as const;
  const run = { runId: "r", agent: "a", step: 2 };
  const row = storeMessage(message, { ...place, run }).put.row as unknown as MessageRow;
  expect(row).toMatchObject({ run_id: "r", agent: "a", step: 2, provider_parts: '[{"signature":"s"}]' });
  expect(readMessage(row)).toEqual({ role: "assistant", content: "x", metadata: { id: "1" } });
  expect(readMessage(row, { withProviderParts: true })).toEqual(message);
});

test("the columns of a message repeat its metadata", () => {
  const data = { id: "1", runId: "r", agent: "a", step: 3, isError: true, createdAt: "2026-01-02T03:04:05.678Z" };
  const { put } = storeMessage({ role: "tool", tool_call_id: "c", name: "f", content: "x", metadata: data }, place);
  expect(put.row).toMatchObject({
    ...{ message_id: "1", run_id: "r", agent: "a", step: 3, is_error: true, created_at: data.createdAt },
    ...{ stream: "said", position: 1, role: "tool", tool_call_id: "c", tool_name: "f", content: "x" },
  });
});

const whole = storeMessage(
  {
    ...{ role: "assistant", content: "x", metadata: { id: "1" }, refusal: null },
    tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
  } as Message,
  place,
).put.row;

test.for([
  { role: "nobody" },
  { role: "tool" },
  { role: "user", content: null },
  { parts: "{" },
  { parts: "{}" },
  { parts: "5" },
  { parts: '{"parts":[{"$content":"x"}],"contents":["x"]}' },
  { tool_calls: "no JSON" },
  { tool_calls: "5" },
  { tool_calls: "[5]" },
  { metadata: "[]" },
  { metadata: "{" },
  { fields: "[]" },
  { fields: "{" },
  { fields: '{"role":"user"}' },
  { exact: "{" },
  { exact: "[]" },
  { exact: '{"content":5}' },
  { created_at: "yesterday" },
  { is_error: 7 },
  { seq: "1" },
  { seq: 1.5 },
] as const)("a row with %j is no message", (change) => {
  expect(() => {
    const row = checkRow("messages", exactRow({ ...whole, ...change }));
    const message = readMessage(row, { contents: new Map() });
    if (message.role !== whole.role) throw new Error("it has another role");
  }).toThrow();
});

// References to the messages of a model input.

const said = (seq: number, position: number) => ({ seq, position });
const done = (seq: number) => ({ seq, position: null });

test("messages of the conversation that follow each other are one range of positions", () => {
  const messages = ["9c", said(1, 1), said(4, 2), said(5, 3), said(8, 4)];
  expect(formatInput("3f", messages)).toBe("3f #9c,p1-4");
});

test("whole turns with their tools are one range of rows", () => {
  const messages = ["9c", said(1, 1), done(2), done(3), said(4, 2), said(5, 3), done(6), "9c", done(8)];
  expect(formatInput("3f", messages)).toBe("3f #9c,m1-6,#9c,m8");
});

test("a reference is parsed to every row and content that it names", () => {
  expect(parseInput("3f #9c,p1-3,m7")).toEqual({ setup: "3f", messages: ["#9c", "p1", "p2", "p3", "m7"] });
  expect(parseInput(formatInput("3f", undefined))).toEqual({ setup: "3f" });
});
