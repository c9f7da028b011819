import { describe, expect, test } from "vitest";
import { collect, isAsyncIterable, jsonSafe } from "./json-safe.ts";

const mebibyte = 1024 * 1024;
const sizeOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function* endless<T>(give: (index: number) => T): Generator<T> {
  for (let i = 0; ; i++) yield give(i);
}

describe("however much there is, the result is bounded", () => {
  test("a text of 100 MB", () => {
    const safe = jsonSafe("x".repeat(100_000_000)) as string;
    expect(safe).toHaveLength(8 * mebibyte + "[clipped]".length);
    expect(safe.endsWith("[clipped]")).toBe(true);
  });

  test("a text is measured in bytes and cut between characters", () => {
    expect(jsonSafe("🙂".repeat(10), { maxBytes: 10 })).toBe("🙂🙂[clipped]");
  });

  test("an infinite iterator", () => {
    const safe = jsonSafe(endless((i) => i)) as unknown[];
    expect(safe).toHaveLength(10_001);
    expect(safe.slice(-2)).toEqual([9999, "[clipped]"]);
  });

  test("an infinite iterator is closed", () => {
    let isClosed = false;
    function* source() {
      try {
        yield* endless((i) => i);
      } finally {
        isClosed = true;
      }
    }
    jsonSafe(source());
    expect(isClosed).toBe(true);
  });

  test("an infinite iterator of infinite iterators", () => {
    const nested = (): Iterable<unknown> => endless(nested);
    expect(sizeOf(jsonSafe(nested(), { maxBytes: 100_000 }))).toBeLessThan(200_000);
  });

  test("a list of many empty lists", () => {
    const list = Array.from({ length: 500 }, () => new Array(9_000));
    expect(sizeOf(jsonSafe(list, { maxBytes: mebibyte }))).toBeLessThan(1.1 * mebibyte);
  });

  test("an object with too many keys says how many are left out", () => {
    const wide = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`key${i}`, i]));
    const safe = jsonSafe(wide, { maxBytes: 1000 }) as Record<string, unknown>;
    const kept = Object.keys(safe).length - 1;
    expect(safe["[clipped]"]).toBe(`${1000 - kept} more`);
    expect(sizeOf(safe)).toBeLessThan(1200);
  });

  test("a key of a megabyte", () => {
    expect(jsonSafe({ ["k".repeat(mebibyte)]: 1 }, { maxBytes: 1000 })).toEqual({ "[clipped]": "1 more" });
  });

  test("a getter whose error is a megabyte long", () => {
    const value = {
      get a(): never {
        throw new Error("e".repeat(mebibyte));
      },
    };
    expect(sizeOf(jsonSafe(value, { maxBytes: 1000 }))).toBeLessThan(1100);
  });

  test("bytes beyond the budget", () => {
    const safe = jsonSafe(Buffer.alloc(mebibyte), { maxBytes: 1000 }) as { bytes: number; base64: string };
    expect(safe.bytes).toBe(mebibyte);
    expect(safe.base64.length).toBeLessThanOrEqual(1010);
  });

  test("an object without a bottom", () => {
    const deep = (): object => ({
      get next() {
        return deep();
      },
    });
    expect(JSON.stringify(jsonSafe(deep()))).toMatch(/"next":"\[too deep\]"\}+$/);
  });

  test("an object without a bottom that branches", () => {
    const tree = (): object => ({
      get left() {
        return tree();
      },
      get right() {
        return tree();
      },
    });
    expect(sizeOf(jsonSafe(tree(), { maxBytes: 100_000 }))).toBeLessThan(300_000);
  });

  test("a very deep list", () => {
    let deep: unknown[] = [];
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(JSON.stringify(jsonSafe(deep))).toContain("[too deep]");
  });
});

async function* endlessly<T>(give: (index: number) => T): AsyncGenerator<T> {
  for (let i = 0; ; i++) yield give(i);
}

describe("collect", () => {
  test("gives the items of an async iterable as JSON", async () => {
    const source = async function* () {
      yield* [1n, undefined, { a: new Set([1]) }];
    };
    expect(await collect(source())).toEqual(["1", null, { a: [1] }]);
  });

  test("stops an infinite async iterator after 10,000 items", async () => {
    const items = await collect(endlessly((i) => i));
    expect(items).toHaveLength(10_001);
    expect(items.at(-1)).toBe("[clipped]");
  });

  test("stops an infinite async iterator of large items when the budget is spent", async () => {
    let given = 0;
    const items = await collect(
      endlessly(() => {
        given++;
        return "x".repeat(1000);
      }),
      { maxBytes: 10_000 },
    );
    expect(given).toBeLessThan(15);
    expect(items.at(-1)).toBe("[clipped]");
  });

  test("takes no more items after an abort", async () => {
    const controller = new AbortController();
    let given = 0;
    const items = await collect(
      endlessly(() => {
        if (++given === 3) controller.abort();
        return given;
      }),
      { signal: controller.signal },
    );
    expect(items).toEqual([1, 2, "[clipped]"]);
  });

  test("rejects with what the source throws", async () => {
    const source = async function* () {
      yield 1;
      throw new Error("cut");
    };
    await expect(collect(source())).rejects.toThrow("cut");
  });
});

test("an async iterable is known by its method", () => {
  const values = [endlessly(() => 1), new ReadableStream(), [], endless(() => 1), null, "text", {}];
  expect(values.map(isAsyncIterable)).toEqual([true, true, false, false, false, false, false]);
});
