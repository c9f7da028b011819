import { describe, expect, test } from "vitest";
import { bpeTokenCounter } from "./bpe.ts";
import { loadTokenizer } from "./tokenizer.ts";

describe("bpeTokenCounter", () => {
  test("counts what the tokenizer counts", () => {
    const counter = bpeTokenCounter();
    expect(counter.estimated).toBe(false);
    expect(counter.count("Hello, world!")).toBe(4);
    expect(counter.count("")).toBe(0);
    expect(counter.countMessage({ role: "user", content: "Hello, world!" })).toBe(8);
  });

  test("knows other encodings by name, and can be awaited", async () => {
    const counter = await bpeTokenCounter({ encoding: "cl100k_base" });
    expect(counter.count("Hello, world!")).toBe(4);
  });

  test("takes text that looks like a special token as text", () => {
    expect(bpeTokenCounter().count("<|endoftext|>")).toBeGreaterThan(1);
  });

  test("refuses an encoding it does not know and lists those it does", () => {
    expect(() => bpeTokenCounter({ encoding: "latin1" as "o200k_base" })).toThrow(/"latin1".*o200k_base.*cl100k_base/);
  });

  test("says what to install where the package is missing", () => {
    const missing = () => {
      throw new Error("Cannot find module");
    };
    expect(() => loadTokenizer("o200k_base", missing)).toThrow(
      expect.objectContaining({
        code: "missing-package",
        message: expect.stringContaining("npm install gpt-tokenizer"),
      }),
    );
  });
});
