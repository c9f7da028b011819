import { crc32 } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { rowSum } from "./row-sum.ts";

test("the sum of a row is the CRC-32 of its list, key and value", () => {
  const ascii = fc.string({ unit: "grapheme-ascii" });
  const text = fc.string({ unit: "binary" });
  fc.assert(
    fc.property(ascii, ascii, text, (list, key, value) => {
      expect(rowSum(list, key, value)).toBe(crc32(`${list} ${key} ${value}`));
    }),
  );
});
