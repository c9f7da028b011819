import { describe, expect, test } from "vitest";
import { assistant, toolCall, toolResult, user } from "./makers.ts";
import type { Message } from "./message.ts";
import { isSendable, PairingCheck } from "./pairing.ts";

const calling = (...ids: readonly string[]): Message =>
  assistant(null, { toolCalls: ids.map((id) => toolCall(id, "search")) });

describe("a check of a growing list", () => {
  test("accepts it piece by piece, each message once", () => {
    const check = new PairingCheck();
    const pieces = [[user("hi")], [calling("c1"), toolResult("c1", "a")], [assistant("so")]];
    expect(pieces.map((piece) => check.accepts(piece))).toEqual([true, true, true]);
  });

  test("accepts no piece that leaves a call open", () => {
    expect(new PairingCheck().accepts([calling("c1", "c2"), toolResult("c2", "b")])).toBe(false);
  });

  test("accepts no piece that uses an id of an earlier one again", () => {
    const check = new PairingCheck();
    check.accepts([calling("c1"), toolResult("c1", "a")]);
    expect([check.seenIds.has("c1"), check.accepts([calling("c1"), toolResult("c1", "b")])]).toEqual([true, false]);
  });

  test("accepts no result of an earlier piece", () => {
    const check = new PairingCheck();
    check.accepts([calling("c1"), toolResult("c1", "a")]);
    expect(check.accepts([toolResult("c1", "again")])).toBe(false);
  });
});

test("10,000 calls in one reply are checked in linear time", () => {
  const ids = Array.from({ length: 10_000 }, (_, i) => `c${i}`);
  const start = performance.now();
  expect(new PairingCheck().accepts([calling(...ids), ...ids.toReversed().map((id) => toolResult(id, "a"))])).toBe(
    true,
  );
  expect(performance.now() - start).toBeLessThan(1000);
});

test("a message can be sent if it says something", () => {
  const [said, silent] = [
    [user(""), user("hi"), calling("c1"), assistant("so"), toolResult("c1", "")],
    [assistant(""), assistant(" "), assistant(null), { role: "user" }, { role: "alien", content: "x" }, null],
  ];
  expect(said.map(isSendable)).toEqual([true, true, true, true, true]);
  expect((silent as Message[]).map(isSendable)).toEqual([false, false, false, false, false, false]);
});
