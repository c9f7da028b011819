import { describe, expect, test } from "vitest";
import { bpeTokenCounter, loadTokenizer } from "./bpe.ts";

describe("bpeTokenCounter", () => {
  test("counts like the tokenizer", () => {
    const counter = bpeTokenCounter();
    expect(counter.estimated).toBe(false);
    expect(counter.count("Hello, world!")).toBe(4);
    expect(counter.count("")).toBe(0);
    expect(counter.countMessage({ role: "user", content: "Hello, world!" })).toBe(8);
  });

  test("accepts other encodings by name, and can be awaited", async () => {
    const counter = await bpeTokenCounter({ encoding: "cl100k_base" });
    expect(counter.count("Hello, world!")).toBe(4);
  });

  test("counts text that looks like a special token as text", () => {
    expect(bpeTokenCounter().count("<|endoftext|>")).toBeGreaterThan(1);
  });

  test("refuses unknown options and encodings, with the valid ones", () => {
    expect(() => bpeTokenCounter({ encoding: "latin1" as "o200k_base" })).toThrow(
      /^"encoding" must be "o200k_base", .*"cl100k_base".*; found "latin1"\.$/,
    );
    expect(() => bpeTokenCounter({ model: "gpt-5" } as object)).toThrow('Unknown bpeTokenCounter option "model".');
  });

  test("names the package to install if it is missing", () => {
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
