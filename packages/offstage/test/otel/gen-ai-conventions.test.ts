// The checker itself: it accepts what follows the conventions, and names what does not.
import { expect, test } from "vitest";
import { metricViolations, spanViolations } from "./gen-ai-conventions.ts";
import type { ReceivedSpan } from "./otlp-receiver.ts";

const chat = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "openai",
  "gen_ai.request.model": "gpt-5",
};

const span = (changes: Partial<ReceivedSpan> = {}): ReceivedSpan => ({
  traceId: "t",
  spanId: "s",
  parentSpanId: undefined,
  name: "chat gpt-5",
  kind: 3,
  startTimeUnixNano: "1",
  endTimeUnixNano: "2",
  statusCode: 0,
  attributes: chat,
  ...changes,
});

const output = (message: object) => JSON.stringify([message]);

const faults: readonly [string, Partial<ReceivedSpan>, RegExp][] = [
  ["another name", { name: "gpt-5" }, /is not its name/],
  ["another kind", { kind: 1 }, /kind 1/],
  ["no provider", { attributes: { ...chat, "gen_ai.provider.name": undefined } }, /gen_ai.provider.name/],
  [
    "an unknown attribute",
    { attributes: { ...chat, "gen_ai.temperature": 1 } },
    /unknown attribute gen_ai.temperature/,
  ],
  ["a value of another type", { attributes: { ...chat, "gen_ai.request.seed": "7" } }, /gen_ai.request.seed/],
  ["an error without its type", { statusCode: 2 }, /error.type/],
  ["an error type without an error", { attributes: { ...chat, "error.type": "TypeError" } }, /error.type/],
  [
    "an output message without its finish reason",
    { attributes: { ...chat, "gen_ai.output.messages": output({ role: "assistant", parts: [] }) } },
    /gen_ai.output.messages/,
  ],
  [
    "a tool response under another name",
    {
      attributes: {
        ...chat,
        "gen_ai.input.messages": output({ role: "tool", parts: [{ type: "tool_call_response", result: "x" }] }),
      },
    },
    /gen_ai.input.messages/,
  ],
];

test("a span that follows the conventions is accepted", () => {
  expect(spanViolations([span()])).toEqual([]);
});

test.for(faults)("a span with %s is named", ([, changes, says]) => {
  expect(spanViolations([span(changes)]).join()).toMatch(says);
});

test("two conversations in one trace are named", () => {
  const of = (id: string) => span({ attributes: { ...chat, "gen_ai.conversation.id": id } });
  expect(spanViolations([of("a"), of("a")])).toEqual([]);
  expect(spanViolations([of("a"), of("b")])).toEqual(["trace t: conversations a, b"]);
});

test("a metric with another unit, other buckets or too few attributes is named", () => {
  const value = { count: 1, buckets: { boundaries: [1, 2] } };
  const descriptor = { name: "gen_ai.client.operation.duration", unit: "ms" };
  expect(
    metricViolations([{ descriptor, dataPoints: [{ attributes: { "gen_ai.operation.name": "chat" }, value }] }]),
  ).toEqual([
    "gen_ai.client.operation.duration: unit ms",
    "gen_ai.client.operation.duration: without gen_ai.provider.name",
    "gen_ai.client.operation.duration: without gen_ai.request.model",
    "gen_ai.client.operation.duration: other buckets",
  ]);
});
