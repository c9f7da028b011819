import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { textsByLanguage } from "../../test/support/texts-by-language.ts";
import { bpeTokenCounter } from "./bpe.ts";
import { estimateTokens } from "./estimate.ts";

const exact = bpeTokenCounter();
const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
const readAll = (folder: string, ending: string): string[] =>
  readdirSync(new URL(folder, import.meta.url), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => read(`${folder}/${name}`));
const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
const ratioOf = (texts: readonly string[]): number => sum(texts.map(estimateTokens)) / sum(texts.map(exact.count));

const orders = Array.from({ length: 200 }, (_, i) => ({
  id: `ord_${(i * 7919).toString(36)}`,
  status: ["open", "paid", "shipped"][i % 3],
  createdAt: new Date(1.7e12 + i * 86_400_123).toISOString(),
  total: (i * 1237) / 100,
  items: [{ sku: ["lamp", "desk", "kettle"][i % 3], quantity: i % 5, gift: i % 7 === 0, note: null }],
}));
const everyday = {
  English: [read("../../../../README.md"), read("../../../../CONTRIBUTING.md"), ...readAll("../../../../docs", ".md")],
  code: readAll("../messages", ".ts"),
  JSON: [read("../../package.json"), JSON.stringify(orders), JSON.stringify(orders, null, 2)],
};

const bytes = Buffer.concat(Array.from({ length: 200 }, (_, i) => createHash("sha256").update(String(i)).digest()));
const encoded = {
  base64: bytes.toString("base64"),
  "base64 in lines": bytes.toString("base64").replace(/.{76}/g, "$&\r\n"),
  base64url: bytes.toString("base64url"),
  hexadecimal: bytes.toString("hex"),
};

describe("the estimate", () => {
  test("is within 5 percent of the exact count over English, code and JSON together", () => {
    expect(Math.abs(ratioOf(Object.values(everyday).flat()) - 1)).toBeLessThan(0.05);
  });

  test.for(Object.entries(everyday))("is within 10 percent of the exact count for %s alone", ([, texts]) => {
    expect(Math.abs(ratioOf(texts) - 1)).toBeLessThan(0.1);
  });

  test.for(Object.entries(textsByLanguage))("is at most 10 percent low and 25 percent high for %s", ([, text]) => {
    expect(ratioOf([text])).toBeGreaterThan(0.9);
    expect(ratioOf([text])).toBeLessThan(1.25);
  });

  test("is at most 10 percent high over all languages together", () => {
    const ratio = ratioOf(Object.values(textsByLanguage));
    expect(ratio).toBeGreaterThan(1);
    expect(ratio).toBeLessThan(1.1);
  });

  test.for(Object.entries(encoded))("is within 10 percent of the exact count for %s", ([, text]) => {
    expect(Math.abs(ratioOf([text]) - 1)).toBeLessThan(0.1);
  });

  test("is high for scripts that nearly every tokenizer splits into bytes", () => {
    for (const text of ["ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "ⲙⲛⲧⲣⲙⲛⲕⲏⲙⲉ", "ꆈꌠꉙ", "ߒߞߏ", "ދިވެހިބަސް"])
      expect(estimateTokens(text) / exact.count(text)).toBeGreaterThan(0.9);
  });

  test("of empty text is 0, of any other text at least 1", () => {
    expect(estimateTokens("")).toBe(0);
    for (const text of ["a", ".", "é", "語", "😀", "\n\n\n", "0"])
      expect(estimateTokens(text)).toBeGreaterThanOrEqual(1);
  });

  test("is the same whole number each time, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 3000 }), (text) => {
        const count = estimateTokens(text);
        return Number.isSafeInteger(count) && count >= 0 && count === estimateTokens(text);
      }),
    );
  });

  test("reads at least 100 MB per second of processor time", () => {
    const text = everyday.English.join("").slice(0, 100_000);
    const size = Buffer.byteLength(text);
    const speeds = Array.from({ length: 20 }, () => {
      const start = process.cpuUsage();
      for (let i = 0; i < 20; i++) estimateTokens(text);
      const { user, system } = process.cpuUsage(start);
      return (20 * size) / Math.max(1, user + system);
    });
    expect(Math.max(...speeds)).toBeGreaterThan(100);
  });
});
