import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bpeTokenCounter } from "./bpe.ts";
import { estimateTokens } from "./estimate.ts";

const exact = bpeTokenCounter();
const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
const require = createRequire(import.meta.url);

const chinese =
  "你好，请帮我检查一下这段代码为什么会抛出异常，并给出修复建议。我们的系统每天处理大约三百万条消息，其中一部分来自移动设备。如果网络中断，客户端应当在本地保存数据，并在恢复连接之后自动重试。";
const japanese =
  "こんにちは。このログのエラーの原因を調べて、修正方法を教えてください。昨日から三回ほど同じ問題が発生しており、お客様からの問い合わせも増えています。";
const samples = {
  english: read("../../../../README.md") + read("../../../../CONTRIBUTING.md"),
  code: read("../messages/repair.ts") + read("../messages/messages.ts") + read("../messages/codec.ts"),
  json: read("../../package.json") + JSON.stringify(require("../../package.json")),
  cjk: chinese.repeat(8) + japanese.repeat(6),
};

describe("the estimate", () => {
  test("is within 5 % of the exact count over English, code, JSON and CJK text", () => {
    const total = (count: (text: string) => number) =>
      Object.values(samples).reduce((sum, text) => sum + count(text), 0);
    const ratio = total(estimateTokens) / total(exact.count);
    expect(Math.abs(ratio - 1)).toBeLessThan(0.05);
  });

  test.for(Object.entries(samples))("is near the exact count for %s alone", ([, text]) => {
    expect(Math.abs(estimateTokens(text) / exact.count(text) - 1)).toBeLessThan(0.15);
  });

  test("of nothing is nothing, of something at least one", () => {
    expect(estimateTokens("")).toBe(0);
    for (const text of ["a", ".", "é", "語", "😀", "\n\n\n", "0"])
      expect(estimateTokens(text)).toBeGreaterThanOrEqual(1);
  });

  test("is a whole number, the same each time, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 3000 }), (text) => {
        const count = estimateTokens(text);
        return Number.isSafeInteger(count) && count >= 0 && count === estimateTokens(text);
      }),
    );
  });

  test("of a long text is about that of its parts", () => {
    const text = samples.english.slice(0, 4000);
    const parts = [0, 1, 2, 3].reduce((sum, i) => sum + estimateTokens(text.slice(i * 1000, (i + 1) * 1000)), 0);
    expect(Math.abs(estimateTokens(text) / parts - 1)).toBeLessThan(0.1);
  });
});
