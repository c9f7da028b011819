// The public face: every runtime export of every entry point, listed by hand. Reads the built package.
import { expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };

const api: Record<string, readonly string[]> = {
  ".": ["version"],
  "./testing": [],
};

test("the entry points are exactly these", () => {
  expect(Object.keys(manifest.exports)).toEqual([...Object.keys(api), "./package.json"]);
});

test.for(Object.entries(api))("%s exports exactly its listed names", async ([subpath, names]) => {
  const entry: object = await import(`offstage${subpath.slice(1)}`);
  expect(Object.keys(entry).sort()).toEqual([...names].sort());
});
