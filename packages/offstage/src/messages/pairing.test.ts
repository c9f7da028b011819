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
    expect([check.hasSeen("c1"), check.accepts([calling("c1"), toolResult("c1", "b")])]).toEqual([true, false]);
  });

  test("accepts no result of an earlier piece", () => {
    const check = new PairingCheck();
    check.accepts([calling("c1"), toolResult("c1", "a")]);
    expect(check.accepts([toolResult("c1", "again")])).toBe(false);
  });
});

describe("a call whose form is taken on trust", () => {
  const call = toolCall("c1", "search", "{not looked at");
  const list = [assistant(null, { toolCalls: [call] }), toolResult("c1", "a")];

  test("is not looked at", () => {
    const check = new PairingCheck();
    check.trust(call);
    expect([check.accepts(list), new PairingCheck().accepts(list)]).toEqual([true, false]);
  });

  test("still needs an id of its own and a result", () => {
    const check = new PairingCheck();
    check.trust(call);
    expect(check.accepts(list.slice(0, 1))).toBe(false);
    const again = new PairingCheck();
    again.accepts([calling("c1"), toolResult("c1", "a")]);
    again.trust(call);
    expect(again.accepts(list)).toBe(false);
  });
});

test("a message is worth sending where it says something", () => {
  const [said, silent] = [
    [user(""), user("hi"), calling("c1"), assistant("so"), toolResult("c1", "")],
    [assistant(""), assistant(" "), assistant(null), { role: "user" }, { role: "alien", content: "x" }, null],
  ];
  expect(said.map(isSendable)).toEqual([true, true, true, true, true]);
  expect((silent as Message[]).map(isSendable)).toEqual([false, false, false, false, false, false]);
});
