// The page of error codes is complete: the union in errors.ts, the page, and the sources name the same codes.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readSourceFiles } from "./support/source-files.ts";

const sources = readSourceFiles().filter(({ path }) => !path.startsWith("testing/store-claims/"));
const union = /export type ErrorCode =([^;]*);/.exec(sources.find(({ path }) => path === "errors.ts")!.text)![1]!;
const codes = [...union.matchAll(/"([a-z-]+)"/g)].map(([, code = ""]) => code);
const page = readFileSync(new URL("../../../docs/errors.md", import.meta.url), "utf8");

test("docs/errors.md has one row for every code and no other", () => {
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| [^|]+ \| [^|]+ \|$/gm)].map(([, code]) => code);
  expect(rows.sort()).toEqual([...codes].sort());
});

test("every code is used outside the list of codes", () => {
  const others = sources.filter(({ path }) => path !== "errors.ts").map(({ text }) => text);
  expect(codes.filter((code) => !others.some((text) => text.includes(`"${code}"`)))).toEqual([]);
});
