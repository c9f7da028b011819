import fc from "fast-check";
import { expect, test } from "vitest";
import { bar, sparkline } from "./bars.ts";
import { columnsOf, fit, pad, wrap } from "./columns.ts";
import { shortIds } from "./short-ids.ts";
import { ageOf, ago, dollars, short } from "./words.ts";

const line = fc.string({ unit: "grapheme" }).map((text) => text.replace(/\s/g, " "));

test("a fitted line has at most as many columns as it may have, and a padded one exactly as many", () => {
  fc.assert(
    fc.property(line, fc.integer({ min: 1, max: 60 }), (text, width) => {
      expect(columnsOf(fit(text, width))).toBeLessThanOrEqual(width);
      expect(columnsOf(pad(text, width))).toBe(width);
    }),
  );
});

test("wrapped lines fit, and have every word of the text", () => {
  fc.assert(
    fc.property(fc.lorem({ maxCount: 60 }), fc.integer({ min: 8, max: 60 }), (text, width) => {
      const lines = wrap(text, width);
      for (const each of lines) expect(columnsOf(each)).toBeLessThanOrEqual(width);
      expect(lines.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
    }),
  );
});

test("a word that is longer than the line is broken", () => {
  expect(wrap("x".repeat(20), 8)).toEqual(["xxxxxxxx", "xxxxxxxx", "xxxx"]);
  expect(wrap("a\n\nb", 8)).toEqual(["a", "", "b"]);
  expect(wrap("江戸川区江戸川区", 8)).toEqual(["江戸川区", "江戸川区"]);
});

test("ids are cut to what tells them apart", () => {
  const ids = ["3f9a0c11-1111-4111-8111-111111111111", "3f9a0c11-2222-4111-8111-111111111111", "anna"];
  const nameOf = shortIds(ids);
  expect(ids.map(nameOf)).toEqual(["3f9a0c11-1", "3f9a0c11-2", "anna"]);
});

test("bars and spark lines grow with their values", () => {
  expect([bar(0, 10, 4), bar(0.01, 10, 4), bar(5, 10, 4), bar(10, 10, 4)]).toEqual(["", "▏", "██", "████"]);
  expect(sparkline([0, 1, 4, 8])).toBe(" ▁▄█");
});

test("times, counts and money are short", () => {
  const now = Date.parse("2026-11-18T12:00:00Z");
  const times = [
    "2026-11-18T11:59:50Z",
    "2026-11-18T11:30:00Z",
    "2026-11-18T02:00:00Z",
    "2026-11-10T12:00:00Z",
    "2026-01-01T00:00:00Z",
    "never",
  ];
  expect(times.map((time) => ago(time, now))).toEqual([
    "just now",
    "30 min ago",
    "10 h ago",
    "8 d ago",
    "2026-01-01",
    "",
  ]);
  expect([999, 1234, 34_400, 999_600, 5_600_000].map(short)).toEqual(["999", "1.2k", "34k", "1.0M", "5.6M"]);
  expect([0, 0.000012, 0.5, 12, undefined].map(dollars)).toEqual(["$0", "$0.00001", "$0.5000", "$12.00", ""]);
  expect(["30d", "2h", "30min", "soon"].map(ageOf)).toEqual([2_592_000_000, 7_200_000, 1_800_000, undefined]);
});
