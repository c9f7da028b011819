import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { user } from "./makers.ts";
import type { Message } from "./message.ts";
import { Messages } from "./messages.ts";

const some = (count: number): Message[] => Array.from({ length: count }, (_, i) => user(`${i}`));

/** A list and the plain array it must equal. */
interface Version {
  readonly list: Messages;
  readonly model: readonly Message[];
}

type Operation =
  | { readonly kind: "append" | "appendOne"; readonly count: number }
  | { readonly kind: "slice"; readonly start: number | undefined; readonly end: number | undefined }
  | { readonly kind: "filter"; readonly modulus: number }
  | { readonly kind: "reversed" };

let made = 0;
const fresh = (count: number): Message[] => Array.from({ length: count }, () => user(`m${made++}`));
const index = fc.option(fc.oneof(fc.integer({ min: -12, max: 12 }), fc.constantFrom(0.5, -1.5, Number.NaN)), {
  nil: undefined,
});
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.record({ kind: fc.constantFrom("append" as const, "appendOne" as const), count: fc.nat(3) }),
  fc.record({ kind: fc.constant("slice" as const), start: index, end: index }),
  fc.record({ kind: fc.constant("filter" as const), modulus: fc.integer({ min: 1, max: 3 }) }),
  fc.constant({ kind: "reversed" as const }),
);

function apply({ list, model }: Version, operation: Operation): Version {
  switch (operation.kind) {
    case "append": {
      const added = fresh(operation.count);
      return { list: list.append(added), model: [...model, ...added] };
    }
    case "appendOne": {
      const [added] = fresh(1) as [Message];
      return { list: list.append(added), model: [...model, added] };
    }
    case "slice":
      return { list: list.slice(operation.start, operation.end), model: model.slice(operation.start, operation.end) };
    case "filter": {
      const keep = (_: Message, i: number) => i % operation.modulus === 0;
      return { list: list.filter(keep), model: model.filter(keep) };
    }
    case "reversed":
      return { list: list.reversed(), model: model.toReversed() };
  }
}

function expectSame({ list, model }: Version): void {
  expect(list.toArray()).toEqual(model);
  expect([...list]).toEqual(model);
  expect(list).toHaveLength(model.length);
  for (const at of [0, 1, -1, model.length, -model.length - 1, 0.5, -0.5, Number.NaN]) {
    expect(list.at(at)).toBe(model.at(at));
  }
}

describe("beside a plain array", () => {
  test("every operation on any version returns the same, and no version ever changes", () => {
    const steps = fc.array(fc.record({ on: fc.nat(50), operation }), { maxLength: 25 });
    const property = fc.property(steps, (script) => {
      const versions: Version[] = [{ list: Messages.empty(), model: [] }];
      for (const { on, operation } of script) {
        versions.push(apply(versions[on % versions.length] as Version, operation));
      }
      for (const version of versions) expectSame(version);
    });
    fc.assert(property, { numRuns: 300 });
  });
});

describe("append", () => {
  test("leaves the list it is called on as it was", () => {
    const before = Messages.from(some(2));
    before.append(user("new"));
    expect(before.toArray()).toEqual(some(2));
  });

  test("two continuations of one list do not see each other", () => {
    const base = Messages.from(some(1));
    const [a, b] = [base.append(user("a")), base.append(user("b"))];
    expect([a.at(1), b.at(1)]).toEqual([user("a"), user("b")]);
  });

  test("of nothing returns the same list", () => {
    const list = Messages.from(some(1));
    expect(list.append([])).toBe(list);
  });

  test("takes any iterable, itself included", () => {
    const list = Messages.from(some(2));
    expect(list.append(list).length).toBe(4);
    expect(list.append(new Set([user("x")])).at(-1)).toEqual(user("x"));
  });

  test("10,000 times one by one copies no message twice", () => {
    let pushed = 0;
    const counted = new Proxy(user("x"), {});
    const push = Array.prototype.push;
    const slice = Array.prototype.slice;
    let copied = 0;
    // biome-ignore lint/suspicious/noExplicitAny: the built-in's own signature
    Array.prototype.push = function (this: any[], ...items) {
      if (items[0] === counted) pushed++;
      return push.apply(this, items);
    };
    // biome-ignore lint/suspicious/noExplicitAny: the built-in's own signature
    Array.prototype.slice = function (this: any[], ...range) {
      if (this[0] === counted) copied += this.length;
      return slice.apply(this, range);
    };
    try {
      let list = Messages.empty();
      for (let i = 0; i < 10_000; i++) list = list.append(counted);
      expect(list.length).toBe(10_000);
    } finally {
      Array.prototype.push = push;
      Array.prototype.slice = slice;
    }
    expect({ pushed, copied }).toEqual({ pushed: 10_000, copied: 0 });
  });
});

describe("identity", () => {
  test("from returns a Messages as it is", () => {
    const list = Messages.from(some(1));
    expect(Messages.from(list)).toBe(list);
  });

  test("every empty list is the same one", () => {
    expect(Messages.from([])).toBe(Messages.empty());
    expect(Messages.of()).toBe(Messages.empty());
  });

  test("a filter that keeps everything returns the same list", () => {
    const list = Messages.from(some(3));
    expect(list.filter(() => true)).toBe(list);
  });
});

describe("extends", () => {
  test("a list extends the ones it was appended to, itself and the empty one", () => {
    const base = Messages.from(some(1));
    const longer = base.append(some(2));
    expect([longer.extends(base), longer.extends(longer), longer.extends(Messages.empty())]).toEqual([
      true,
      true,
      true,
    ]);
  });

  test("a list extends neither its continuation nor another list of the same messages", () => {
    const messages = some(2);
    const base = Messages.from(messages);
    expect([base.extends(base.append(user("x"))), base.extends(Messages.from(messages))]).toEqual([false, false]);
  });

  test("two continuations of one list do not extend each other", () => {
    const base = Messages.from(some(1));
    const [a, b] = [base.append(user("a")), base.append(some(2))];
    expect([a.extends(b), b.extends(a)]).toEqual([false, false]);
  });
});

test("changing the array of toArray() changes no list", () => {
  const list = Messages.from(some(2));
  list.toArray().pop();
  expect(list.length).toBe(2);
});

test("changing the array that a list was made from changes no list", () => {
  const source = some(2);
  const list = Messages.from(source);
  source.pop();
  expect(list.length).toBe(2);
});

test("as JSON a list is an array of its messages", () => {
  expect(JSON.parse(JSON.stringify(Messages.from(some(2))))).toEqual(some(2));
});

test("map returns a plain array", () => {
  expect(Messages.from(some(2)).map((message, i) => `${i}${message.content}`)).toEqual(["00", "11"]);
});

test("a list made with new is refused, saying how it is made", () => {
  const Made = Messages as unknown as new (messages: unknown) => Messages;
  expect(() => new Made(some(2))).toThrow("Messages.from([…])");
});

test.for([5, null, undefined, "text", {}])("a list of messages is not made of %j", (value) => {
  expect(() => Messages.from(value as Iterable<Message>)).toThrow(/^"messages" must be a list of messages; found/);
});

test.for([5, null, undefined, "text"])("%j is not appended", (value) => {
  expect(() => Messages.empty().append(value as unknown as Message)).toThrow(
    /^append\(\) needs a message or a list of messages; found/,
  );
});

test("filter and map refuse anything but a function", () => {
  const list = Messages.from(some(1));
  expect(() => list.filter("user" as never)).toThrow('"keep" must be a function; found "user".');
  expect(() => list.map(undefined as never)).toThrow('"change" must be a function; found null.');
});
