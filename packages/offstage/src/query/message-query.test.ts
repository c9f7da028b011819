import { describe, expect, test } from "vitest";
import { assistant, system, user } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import { Messages } from "../messages/messages.ts";
import { MessageQuery } from "./message-query.ts";

const ten = Array.from({ length: 10 }, (_, i) => user(String(i)));
const query = new MessageQuery(ten);

describe("a query", () => {
  test("slices by start and end", () => {
    expect(query.slice(5, 10)).toEqual(ten.slice(5, 10));
    expect(query.slice(5)).toEqual(ten.slice(5));
    expect(query.slice(-2)).toEqual(ten.slice(8));
    expect(query.slice(8, 99)).toEqual(ten.slice(8));
    expect(query.slice(99)).toEqual([]);
    expect(query.slice()).toEqual(ten);
  });

  test("returns the first messages, by default one", () => {
    expect(query.first(5)).toEqual(ten.slice(0, 5));
    expect(query.first()).toEqual([ten[0]]);
    expect(query.first(99)).toEqual(ten);
    expect(query.first(Number.POSITIVE_INFINITY)).toEqual(ten);
  });

  test("returns the last messages, oldest first", () => {
    expect(query.last(5)).toEqual(ten.slice(5));
    expect(query.last()).toEqual([ten[9]]);
    expect(query.last(99)).toEqual(ten);
    expect(query.last(Number.POSITIVE_INFINITY)).toEqual(ten);
  });

  test.for([0, -1, -5, 0.5, Number.NaN, Number.NEGATIVE_INFINITY])("returns none for first(%s) and last(%s)", (n) => {
    expect(query.first(n)).toEqual([]);
    expect(query.last(n)).toEqual([]);
  });

  test("returns all messages in a new array", () => {
    query.all().pop();
    expect(query.all()).toEqual(ten);
    expect(query).toHaveLength(10);
    expect([...query]).toEqual(ten);
  });

  test("answers on an empty list without errors", () => {
    const empty = new MessageQuery();
    expect(empty.all()).toEqual([]);
    expect(empty.first(3)).toEqual([]);
    expect(empty.last(3)).toEqual([]);
    expect(empty.slice(0, 5)).toEqual([]);
    expect(empty.stats()).toEqual({
      totalMessages: 0,
      messagesByRole: {},
      totalTokens: 0,
      tokensByRole: {},
      avgTokensPerMessage: 0,
      estimated: true,
    });
    expect(empty.timeline()).toEqual([]);
    expect(empty.toolSummary()).toEqual([]);
  });

  test("reads its source again for every answer", () => {
    let current = Messages.of(user("one"));
    const live = new MessageQuery(() => current);
    expect(live).toHaveLength(1);
    current = current.append(assistant("two"));
    expect(live.last()).toEqual([assistant("two")]);
    expect(live.where({ role: "assistant" }).all()).toHaveLength(1);
  });

  test("follows a list that grows", () => {
    const list: Message[] = [user("one")];
    const live = new MessageQuery(list);
    list.push(assistant("two"));
    expect(live).toHaveLength(2);
  });

  test("takes Messages, sets and generators", () => {
    const make = function* () {
      yield user("a");
      yield user("b");
    };
    expect(new MessageQuery(Messages.from(ten)).all()).toEqual(ten);
    expect(new MessageQuery(new Set(ten)).all()).toEqual(ten);
    const once = new MessageQuery(make());
    expect(once.all()).toEqual([user("a"), user("b")]);
    expect(once.all()).toEqual([user("a"), user("b")]);
  });

  test.for([
    ["null", null],
    ["text", "[]"],
    ["a number", 5],
    ["an object", {}],
  ] as const)("over %s is refused with a way out", ([, value]) => {
    expect(() => new MessageQuery(value as never)).toThrow(/list of messages or a function.*MessageQuery\.from/);
  });

  test("of where() without criteria is over the same messages", () => {
    expect(new MessageQuery(ten).where().all()).toEqual(ten);
  });

  test("refuses unknown options, with the valid names", () => {
    const make = (options: object) => () => new MessageQuery(ten, options);
    expect(make({ filter: { role: "user" } })).toThrow(
      'Unknown MessageQuery option "filter". Valid options: tokenCounter, where, runs.',
    );
    expect(make({ where: { role: "user" } })).toThrow('"where" must be a list of criteria');
    expect(make({ tokenCounter: "gpt-4o" })).toThrow(
      '"tokenCounter" must be a token counter, with count(text); found "gpt-4o".',
    );
    expect(make({ where: [{ role: "user" }], tokenCounter: undefined })).not.toThrow();
  });

  test("changes no message and no list", () => {
    const list = [system("s"), user("u"), assistant("a")].map((message) => Object.freeze(message));
    const frozen = new MessageQuery(Object.freeze(list));
    for (const format of ["json", "jsonl", "markdown", "csv", "html", "dict"] as const) frozen.export(format as "json");
    frozen.stats();
    frozen.timeline();
    frozen.toolSummary();
    expect(frozen.all()).toEqual([system("s"), user("u"), assistant("a")]);
  });
});
