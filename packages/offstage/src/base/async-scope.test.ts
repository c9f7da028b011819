import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { asyncScope } from "./async-scope.ts";

const [color, size] = [asyncScope<string>("test.color.1"), asyncScope<number>("test.size.1")];

test("a value is undefined outside of any run", () => {
  expect(color.get()).toBeUndefined();
});

test("a value follows the async code that was started with it", async () => {
  const seen = await Promise.all(
    ["red", "blue"].map((value) =>
      color.run(value, async () => {
        await sleep(1);
        return color.get();
      }),
    ),
  );
  expect(seen).toEqual(["red", "blue"]);
});

test("setting one slot keeps the values of the others", () => {
  color.run("red", () =>
    size.run(1, () => {
      expect([color.get(), size.get()]).toEqual(["red", 1]);
      color.run(undefined, () => expect([color.get(), size.get()]).toEqual([undefined, 1]));
      expect(color.get()).toBe("red");
    }),
  );
});

test("slots of the same name are the same slot", () => {
  color.run("red", () => expect(asyncScope<string>("test.color.1").get()).toBe("red"));
});
