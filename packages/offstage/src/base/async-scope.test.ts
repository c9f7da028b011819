import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { asyncScope } from "./async-scope.ts";

const [color, size] = [asyncScope<string>("test.color.1"), asyncScope<number>("test.size.1")];

test("a value is undefined outside of any run", () => {
  expect(color.getStore()).toBeUndefined();
});

test("a value follows the async code that was started with it", async () => {
  const seen = await Promise.all(
    ["red", "blue"].map((value) =>
      color.run(value, async () => {
        await sleep(1);
        return color.getStore();
      }),
    ),
  );
  expect(seen).toEqual(["red", "blue"]);
});

test("setting one value keeps the others", () => {
  color.run("red", () =>
    size.run(1, () => {
      expect([color.getStore(), size.getStore()]).toEqual(["red", 1]);
      color.run(undefined, () => expect([color.getStore(), size.getStore()]).toEqual([undefined, 1]));
      expect(color.getStore()).toBe("red");
    }),
  );
});

test("storages of the same name are the same storage", () => {
  color.run("red", () => expect(asyncScope<string>("test.color.1").getStore()).toBe("red"));
});
