import fc from "fast-check";
import { expect, test } from "vitest";
import type { Message } from "../messages/message.ts";
import type { SpanData } from "../tracing/span-data.ts";
import { packMessage, unpackMessage } from "./packed-message.ts";
import { packSpans, unpackSpans } from "./packed-span.ts";

const known = { runId: "run", agent: "agent", traceId: "trace" };
const throughJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const text = fc.constantFrom("", "run", "run.1", "run.", "agent", "trace", ".1", "0", "x\u0001");
const json = fc.jsonValue({ maxDepth: 2 });
const usage = fc.record(
  {
    inputTokens: fc.nat(),
    outputTokens: fc.nat(),
    totalTokens: fc.nat(),
    cachedInputTokens: fc.nat(),
    reasoningTokens: fc.nat(),
  },
  { requiredKeys: ["inputTokens"] },
);
const metadata = fc.record(
  {
    id: fc.oneof(text, json),
    createdAt: fc.oneof(text, json),
    runId: fc.oneof(text, json),
    step: fc.oneof(fc.nat(3), json),
    agent: fc.oneof(text, json),
    traceId: fc.oneof(text, json),
    spanId: fc.oneof(text, json),
    usage: fc.oneof(usage, json),
    other: json,
    __proto__: json,
  },
  { requiredKeys: [] },
);
const call = fc.record(
  { id: text, type: fc.constant("function"), function: fc.record({ name: text, arguments: text }), extra: json },
  { requiredKeys: ["id", "type", "function"] },
);
const message = fc.record(
  {
    role: fc.constantFrom("system", "user", "assistant", "tool"),
    content: fc.oneof(text, fc.constant(null), json),
    name: fc.oneof(text, json),
    tool_call_id: text,
    tool_calls: fc.oneof(fc.array(call, { maxLength: 2 }), fc.constant(null)),
    metadata,
    refusal: json,
  },
  { requiredKeys: ["role"] },
);

test("any message is the same after packing and unpacking", { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(message, (given) => {
      const plain = throughJson(given) as unknown as Message;
      expect(unpackMessage(throughJson(packMessage(plain, known)), known)).toEqual(plain);
      expect(unpackMessage(throughJson(packMessage(plain)))).toEqual(plain);
    }),
    { numRuns: 1_000 },
  );
});

test("messages of an agent are packed to less than half, and keep the order of their fields", () => {
  const runId = crypto.randomUUID();
  const run = { runId, agent: "agent", traceId: "c31254b8d23539dc560dc23f3a0aaa2d" };
  const written: Message = {
    role: "assistant",
    content: "Hello.",
    metadata: {
      id: `${runId}.4`,
      createdAt: "2026-01-01T00:00:00.000Z",
      ...run,
      spanId: "0db89e75a52f86a1",
      usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    },
  };
  const packed = JSON.stringify(packMessage(written, run));
  expect(packed.length).toBeLessThan(JSON.stringify(written).length / 2);
  expect(unpackMessage(JSON.parse(packed), run)).toEqual(written);
});

const span = fc
  .record(
    {
      took: fc.nat(1e6),
      traceId: fc.constantFrom("trace", "other"),
      spanId: fc.constantFrom("a", "b", "c"),
      parentSpanId: fc.constantFrom("a", "b", "z"),
      traceName: fc.constantFrom("agent", "x"),
      groupId: fc.constantFrom("group", "y"),
      name: text,
      kind: text,
      startTime: fc.integer({ min: 1, max: 1e6 }).map((n) => 1.7e12 + n / 1000),
      status: fc.constantFrom("ok", "error", "active"),
      metadata: fc.dictionary(fc.constantFrom("usage", "messageId", "x", "__proto__"), fc.oneof(usage, text, json)),
      content: fc.dictionary(text, json),
    },
    { requiredKeys: ["traceId", "spanId", "name", "kind", "startTime", "status", "metadata"] },
  )
  .map(({ took, ...span }) => {
    // Only a parent outside of these spans can be in another process.
    const remote = span.parentSpanId === "z" ? { parentIsRemote: true } : undefined;
    if (took === undefined) return { ...span, ...remote };
    return { ...span, ...remote, endTime: Math.round(span.startTime * 1000 + took) / 1000, duration: took / 1000 };
  });

test("any spans are the same after packing and unpacking", { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(fc.array(span, { maxLength: 4 }), (given) => {
      const spans = throughJson(given) as unknown as SpanData[];
      const run = { ...known, traceName: "agent", groupId: "group" };
      expect(unpackSpans(throughJson(packSpans(spans, run)), run)).toEqual(spans);
      expect(unpackSpans(throughJson(packSpans(spans)))).toEqual(spans);
    }),
    { numRuns: 1_000 },
  );
});

test("a field called __proto__ is preserved", () => {
  const given = JSON.parse('{"role":"user","content":"hi","metadata":{"id":"1","__proto__":{"a":1}}}');
  expect(JSON.stringify(unpackMessage(throughJson(packMessage(given))))).toBe(JSON.stringify(given));
});
